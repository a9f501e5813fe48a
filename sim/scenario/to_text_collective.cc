// The library's collectives, as to_text.cc writes the rest.
#include <algorithm>

#include "sim/scenario/load.h"
#include "sim/scenario/names.h"
#include "sim/scenario/writer.h"

namespace weft {
namespace {

void write_protocol(Writer& out, std::string_view key, const ProtocolSpec& protocol) {
  out.open(key);
  out.line("startup", to_text(protocol.startup));
  out.line("step", to_text(protocol.step));
  if (protocol.rate.count() > 0) out.line("rate", to_text(protocol.rate));
  if (protocol.relay_rate.count() > 0) out.line("relay_rate", to_text(protocol.relay_rate));
  if (protocol.of_bytes < 1) out.line("of_bytes", number_text(protocol.of_bytes));
  out.close();
}

void write_costs(Writer& out, const CostTable& costs) {
  out.open("costs");
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::in_switch}) {
    const auto& of = costs.at(static_cast<std::size_t>(algorithm));
    const bool has = std::any_of(of.begin(), of.end(),
                                 [](const CostSpec& cost) { return cost.bus.count() > 0; });
    if (!has) continue;
    out.open(names::word(names::kAlgorithms, algorithm));
    for (const auto& [name, protocol, meaning] : names::kProtocolWords) {
      const CostSpec& cost = of.at(static_cast<std::size_t>(protocol));
      if (cost.bus.count() == 0) continue;
      out.open(name);
      out.line("startup", to_text(cost.startup));
      out.line("step", to_text(cost.step));
      out.line("bus", to_text(cost.bus));
      out.close();
    }
    out.close();
  }
  out.close();
}

void write_peer_parts(Writer& out, const PeerPartSpec& parts) {
  out.open("peer_parts");
  out.line("least", to_text(parts.least));
  out.line("least_ll", to_text(parts.least_ll));
  out.line("most", to_text(parts.most));
  out.line("chunk", to_text(parts.chunk));
  out.line("ll_up_to", to_text(parts.ll_up_to));
  out.line("total", to_text(parts.total));
  out.line("startup", to_text(parts.startup));
  out.close();
}

}  // namespace

void write_collective(Writer& out, const CollectiveSpec& collective) {
  out.open("collective");
  for (const auto& [name, protocol, meaning] : names::kProtocolWords) {
    write_protocol(out, name, collective.protocols.at(static_cast<std::size_t>(protocol)));
  }
  std::string algorithms;
  for (const Algorithm algorithm : collective.algorithms) {
    algorithms += algorithms.empty() ? "" : ", ";
    algorithms += names::word(names::kAlgorithms, algorithm);
  }
  out.line("algorithms", '[' + algorithms + ']');
  out.line("channels", collective.channels);
  out.open("channel");
  out.line("threads", collective.channel.threads);
  out.line("registers_per_thread", collective.channel.registers_per_thread);
  out.line("lds", to_text(collective.channel.lds));
  out.close();
  out.line("channel_rate", to_text(collective.channel_rate));
  out.line("exchange_rate", to_text(collective.exchange_rate));
  out.line("chunk", to_text(collective.chunk));
  if (collective.slices > 1) out.line("slices", collective.slices);
  if (collective.costs) write_costs(out, *collective.costs);
  if (collective.peer_parts) write_peer_parts(out, *collective.peer_parts);
  out.close();
}

}  // namespace weft
