#include "sim/engine/packed_run.h"

#include <concepts>

#include "sim/core/packing.h"

namespace weft {

template <class Value, class Struct>
concept Is = std::same_as<std::remove_const_t<Value>, Struct>;

// Structured bindings do not compile where a member is missing. Not in a namespace without a name:
// the packer would not find them.
template <class Visit>
void each_member(Visit& visit, Is<GpuUse> auto& use) {
  auto& [end, computing, active, cu_busy, hbm, flops, sent, received, proxy, waits] = use;
  visit(end, computing, active, cu_busy, hbm, flops, sent, received, proxy, waits);
}

template <class Visit>
void each_member(Visit& visit, Is<OperatorUse> auto& use) {
  auto& [name, part, role, law, first_start, first_place, last_end, longest, sum, critical, kernels,
         cus, wgs, messages, sent, hbm, wg_time, cu_time, exposed] = use;
  visit(name, part, role, law, first_start, first_place, last_end, longest, sum, critical, kernels,
        cus, wgs, messages, sent, hbm, wg_time, cu_time, exposed);
}

template <class Visit>
void each_member(Visit& visit, Is<ExitUse> auto& use) {
  auto& [end, critical, path_gaps, path_from] = use;
  visit(end, critical, path_gaps, path_from);
}

template <class Visit>
void each_member(Visit& visit, Is<PartUse> auto& use) {
  auto& [name, computing, exposed] = use;
  visit(name, computing, exposed);
}

template <class Visit>
void each_member(Visit& visit, Is<LinkUse> auto& use) {
  auto& [carried, messages, busy, queued, queued_max] = use;
  visit(carried, messages, busy, queued, queued_max);
}

template <class Visit>
void each_member(Visit& visit, Is<LinkRow> auto& row) {
  auto& [name, link_class, bandwidth, use] = row;
  visit(name, link_class, bandwidth, use);
}

template <class Visit>
void each_member(Visit& visit, Is<Ledger::Entry> auto& entry) {
  auto& [asked, done] = entry;
  visit(asked, done);
}

template <class Visit>
void each_member(Visit& visit, Is<Ledger> auto& ledger) {
  auto& [wgs, flops, hbm_bytes, messages, message_bytes, sent_bytes, overdrawn] = ledger;
  visit(wgs, flops, hbm_bytes, messages, message_bytes, sent_bytes, overdrawn);
}

template <class Visit>
void each_member(Visit& visit, Is<RunResult> auto& result) {
  auto& [mode, ending, stopped_because, time, clock, gpus, operators, parts, idle, path_gaps,
         path_from, exits, links, ledger, events, fingerprint] = result;
  visit(mode, ending, stopped_because, time, clock, gpus, operators, parts, idle, path_gaps,
        path_from, exits, links, ledger, events, fingerprint);
}

std::string packed(const RunResult& result) {
  Packer packer;
  packer(result);
  return packer.take();
}

std::optional<RunResult> unpacked_run(std::string_view bytes) {
  RunResult result;
  Unpacker unpacker(bytes);
  unpacker(result);
  if (!unpacker.is_done()) return std::nullopt;
  return result;
}

}  // namespace weft
