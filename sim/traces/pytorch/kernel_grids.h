// Grids of the kernels of a profile. CUDA's have their own. On ROCm, PyTorch's profiler copies them
// from the arguments of the call that launched them, and hipExtModuleLaunchKernel, with which
// hipBLASLt launches its GEMMs, counts work-items instead of work-groups; kernels of a graph have
// none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "sim/traces/json_values.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

class KernelGrids {
 public:
  // Of a call of CUDA or HIP, with its arguments in the profile.
  void of_call(std::string_view call, std::int64_t correlation, const Json& arguments);
  // Of the kernel that becomes `gpu[index]`. False: it has one that no kernel can have.
  bool of_kernel(std::size_t index, const Json& arguments);
  // Sets work-groups and threads of all kernels; one without a grid keeps one work-group.
  void set(std::vector<GpuEvent>& gpu) const;

 private:
  struct Grid {
    std::array<std::int64_t, 3> groups = {};
    std::array<std::int64_t, 3> threads = {};
  };
  static std::optional<Grid> grid_in(const Json& arguments, const char* grid, const char* block);

  std::map<std::size_t, Grid> own_;        // by index
  std::map<std::int64_t, Grid> launched_;  // by correlation
  std::set<std::int64_t> counts_items_;    // same
};

}  // namespace weft
