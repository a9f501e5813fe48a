// Published measurements as they are collected: a line says of which set it is and on what system
// it was taken, and the first line tells about all.
//
//   {"meta": "NCCL collectives, nccl-tests ..."}
//   {"set": "nccl", "system": "a100_sxm", "op": "all_gather", "gpus": 2, "bytes": 512, "us": 8.98}
//   {"set": "multi", "system": "h100_ib", "nodes": 4, "gpus": 32, "op": "all_reduce", ...}
#pragma once

#include <string>
#include <string_view>

#include "sim/measured/lines.h"

namespace weft {

// Gives a line of a set the kind and the numbers of the case that it is: of `nccl` and `multi` a
// library's collective. One of another set, or of an op that weft does not know, has the set's name
// for its kind.
void name_by_set(MeasuredLine& line);

// Whether a line is of GPUs of this name: what stands before the first _ of its `system`, as
// "a100_sxm" of A100, in whatever letters. A line that names no system is of any.
bool is_of_gpu(const MeasuredLine& line, std::string_view name);

}  // namespace weft
