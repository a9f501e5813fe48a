#include "sim/traces/pytorch/kernel_grids.h"

#include <algorithm>

#include "sim/core/round_up.h"

namespace weft {
namespace {

constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostGroups = std::int64_t{1} << 40U;

std::optional<std::array<std::int64_t, 3>> sizes_of(const Json* sizes, std::int64_t most) {
  const auto numbers = wholes_of(sizes);
  std::array<std::int64_t, 3> found = {};
  if (!numbers || numbers->size() != found.size()) return std::nullopt;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = (*numbers)[i];
    if (found[i] < 1 || found[i] > most / product) return std::nullopt;
    product *= found[i];
  }
  return found;
}

}  // namespace

std::optional<KernelGrids::Grid> KernelGrids::grid_in(const Json& arguments, const char* grid,
                                                      const char* block) {
  const auto groups = sizes_of(member(arguments, grid), kMostGroups);
  const auto threads = sizes_of(member(arguments, block), kMostThreads);
  if (!groups || !threads) return std::nullopt;
  return Grid{.groups = *groups, .threads = *threads};
}

void KernelGrids::of_call(std::string_view call, std::int64_t correlation, const Json& arguments) {
  if (call.starts_with("hipExtModuleLaunchKernel") ||
      call.starts_with("hipHccModuleLaunchKernel")) {
    counts_items_.insert(correlation);
  }
  auto grid = grid_in(arguments, "grid", "block");
  if (!grid) grid = grid_in(arguments, "grid dim", "block dim");  // until 2023
  if (grid) launched_[correlation] = *grid;
}

bool KernelGrids::of_kernel(std::size_t index, const Json& arguments) {
  if (member(arguments, "grid") == nullptr && member(arguments, "block") == nullptr) return true;
  const auto grid = grid_in(arguments, "grid", "block");
  if (grid) own_[index] = *grid;
  return grid.has_value();
}

void KernelGrids::set(std::vector<GpuEvent>& gpu) const {
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    GpuEvent& event = gpu[i];
    if (event.kind != GpuEvent::Kind::kernel) continue;
    const auto own = own_.find(i);
    const auto launched = launched_.find(event.correlation);
    if (own == own_.end() && launched == launched_.end()) {
      event.without_grid = true;
      continue;
    }
    const Grid& grid = own != own_.end() ? own->second : launched->second;
    const bool items = counts_items_.contains(event.correlation);
    event.wgs = 1;
    event.threads = 1;
    for (std::size_t k = 0; k < grid.groups.size(); ++k) {
      event.wgs *= items ? round_up(grid.groups[k], grid.threads[k]) : grid.groups[k];
      event.threads *= static_cast<int>(grid.threads[k]);
    }
  }
}

}  // namespace weft
