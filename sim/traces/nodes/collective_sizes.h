// Sizes of collectives that a profile lacks, from a file that the user wrote:
//
//   all_reduce 64 MiB        # one line a collective, in the order in which each rank starts them
//   all_gather 16 MiB        # bytes of a GPU's buffer, as in kind: collective
//
// The list repeats until a rank has no more collectives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collectives/collective.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

struct CollectiveSize {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::int64_t bytes = 0;
};

// Every line that is none is a problem.
std::vector<CollectiveSize> read_collective_sizes(std::string_view text, const std::string& file,
                                                  TraceProblems& problems);

// It is a problem if a kernel of the library has no launch of its own: a CUDA graph launched it, or
// calls were not recorded, so that nothing says who waits for what.
void expect_launches(const KinetoFile& profile, TraceProblems& problems);

bool lacks_sizes(const KinetoFile& profile);

// The collectives of a rank's library kernels without a call, in order of their starts. It is a
// problem if there are not a multiple of as many, or if a kernel is named after another kind.
void add_sizes(KinetoFile& profile, const std::vector<CollectiveSize>& sizes, std::int64_t ranks,
               const std::string& file, TraceProblems& problems);

// What is said where there is no such file: kernels without a size, by name, and the remedy.
void report_missing_sizes(const KinetoFile& profile, const char* remedy, TraceProblems& problems);

}  // namespace weft
