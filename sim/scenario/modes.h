// Which modes a kind of workload has, and what they are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/scenario/scenario.h"

namespace weft {

const char* name_of(Mode mode);
const char* name_of(WorkloadKind kind);

// All of them, in the order in which they are run.
std::span<const Mode> modes_of(WorkloadKind kind);

// Not run unless they are asked for.
bool is_extra(Mode mode);

// WG by WG: one kernel that communicates itself, whoever sends.
bool is_fused(Mode mode);
bool fuses(const Scenario& scenario);  // has such a mode, or mixed

// Whether run.clocks is, or means here, the clock that a power limit leaves.
bool asks_for_sustained_clocks(const Scenario& scenario);

// What decides which modes can overlap an operator and the collective next to it.
struct PairTraits {
  CollectiveOp op = CollectiveOp::all_to_all;
  Travels travels = Travels::result;
  bool in_a_node = true;  // all GPUs of a group
  bool scatters = false;  // its WGs have results for several peers, or input from several
};
// Why the mode cannot overlap such a pair in its way; empty if it can.
std::string_view why_not(const PairTraits& pair, Mode mode);

// Why the mode does not suit the scenario's operator and collective; empty if it does. A model has
// it for those of its pairs that it suits.
std::string why_not(const Scenario& scenario, Mode mode);

// What the others of this kind are compared with.
Mode baseline_of(WorkloadKind kind);

// One of the two halves of c3 by itself.
bool is_isolated(Mode mode);

// Strategies of c3 that leave the collective to copy engines, and the isolated run of that.
bool uses_copy_engines(Mode mode);

// Strategies of c3 in which the collective has CUs of its own: c3.partition_cus of them.
bool has_partition(Mode mode);

// Channels of a collective's kernel that nobody restricts; WGs of an engine's kernel that is named.
int channels_of(const CollectiveOptions& options, const GpuSpec& gpu);

// Whether copy engines could carry the collective of c3: they reach the GPUs of one node, and they
// add nothing up.
bool can_use_copy_engines(const Scenario& scenario);

}  // namespace weft
