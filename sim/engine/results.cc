#include "sim/engine/results.h"

#include "sim/core/assert.h"

namespace weft {
namespace {

template <class Member>
Duration mean(const std::vector<GpuUse>& gpus, Member member) {
  if (gpus.empty()) return {};
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const GpuUse& gpu : gpus) sum += member(gpu).count();
  return picoseconds(static_cast<std::int64_t>(sum / static_cast<Wide>(gpus.size())));
}

}  // namespace

const char* name_of(Wait wait) {
  switch (wait) {
    case Wait::post:
      return "post";
    case Wait::nic_queue:
      return "nic_queue";
    case Wait::store:
      return "store";
    case Wait::flag:
      return "flag";
  }
  SIM_ASSERT(false);
}

std::vector<LinkRow> rows_of(const Transport& transport, SimTime until) {
  std::vector<LinkRow> rows;
  rows.reserve(transport.links());
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    const LinkId link(i);
    rows.push_back({.name = transport.name(link),
                    .link_class = transport.link_class(link),
                    .bandwidth = transport.bandwidth(link),
                    .use = transport.use(link)});
    rows.back().use.busy = transport.busy_until(link, until);
  }
  return rows;
}

bool Ledger::balanced() const {
  for (const Entry& entry : {wgs, flops, hbm_bytes, messages, message_bytes, sent_bytes}) {
    if (entry.asked != entry.done) return false;
  }
  return overdrawn.empty();
}

Duration RunResult::exposed_mean() const {
  return mean(gpus, [this](const GpuUse& gpu) { return exposed(gpu); });
}

Duration RunResult::computing_mean() const {
  return mean(gpus, [](const GpuUse& gpu) { return gpu.computing; });
}

}  // namespace weft
