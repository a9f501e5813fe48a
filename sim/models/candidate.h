// A pair of operator and collective as a model's pairs are ranked: what it takes by itself in each
// mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

// A pair that could be fused, how often the model has it, and its times by itself in each mode.
// Recorded pairs that differ only in their times count as one, with the mean times.
struct Candidate {
  std::string name;       // "attn_out + attn_out_reduce"
  std::string computing;  // of these the operator that computes
  WorkloadKind pattern = WorkloadKind::gemm_all_reduce;
  bool is_uneven = false;  // its collective moves other sizes between each two GPUs
  std::string obstacle;    // why it cannot be fused; then of its times only `exposed` is known
  std::int64_t times = 0;  // how often the model has it, on the GPU that does it most often
  Duration exposed;        // what the collective adds in bulk: overlapped, no more could be hidden
  Duration bulk;
  Duration chunked;    // 0: its WGs have results for several peers
  Duration pipelined;  // 0: no mode of the scenario asks for it, or it does not suit the pair
  Duration fused;
  Duration role_split;      // as pipelined
  Duration copy_fed;        // same
  int wgs_per_cu_bulk = 0;  // resident
  int wgs_per_cu_fused = 0;
  [[nodiscard]] Duration gain() const { return bulk - fused; }
  // By itself, as the mode overlaps it; 0 as above.
  [[nodiscard]] Duration time_in(Mode mode) const;
};

// Uneven ones of one name and pattern, each layer's of other sizes, as one with their mean times;
// others as they are. In the order of the first of each.
std::vector<Candidate> by_kind(const std::vector<Candidate>& all);

}  // namespace weft
