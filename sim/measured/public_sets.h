// Published measurements as collected in one file: each line names its set and the system that it
// was measured on; the first line describes them all.
//
//   {"meta": "NCCL collectives, nccl-tests ..."}
//   {"set": "nccl", "system": "a100_sxm", "op": "all_gather", "gpus": 2, "bytes": 512, "us": 8.98}
//   {"set": "multi", "system": "h100_ib", "nodes": 4, "gpus": 32, "op": "all_reduce", ...}
#pragma once

#include <string>
#include <string_view>

#include "sim/measured/lines.h"

namespace weft {

// Gives a line of a set the kind and the numbers of its case: for `nccl` and `multi`, a library's
// collective; for `engine`, an inference engine's all-reduce. A line of another set, or with an op
// that weft does not know, gets the set's name as its kind.
void name_by_set(MeasuredLine& line);

// Whether a line is from GPUs of this name: the part of its `system` before the first _, such as
// "a100_sxm" for A100, in upper or lower case. A line without a system is from any.
bool is_of_gpu(const MeasuredLine& line, std::string_view name);

}  // namespace weft
