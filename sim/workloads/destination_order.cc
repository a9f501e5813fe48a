#include "sim/workloads/destination_order.h"

#include "sim/workloads/rank_orders.h"

namespace weft {

std::vector<Logical> slice_order(std::uint32_t gpus, DestinationOrder order, std::uint32_t gpu,
                                 std::uint32_t slices) {
  const auto cyclic = [&](std::uint32_t step) { return (gpu + step) % gpus; };
  std::vector<Logical> result;
  result.reserve(std::size_t{gpus} * slices);
  const auto all_of = [&](std::uint32_t peer) {
    for (std::uint32_t s = 0; s < slices; ++s) result.push_back({peer, s});
  };
  switch (order) {
    case DestinationOrder::remote_first:
      for (std::uint32_t step = 1; step <= gpus; ++step) all_of(cyclic(step));
      break;
    case DestinationOrder::local_first:
      for (std::uint32_t step = 0; step < gpus; ++step) all_of(cyclic(step));
      break;
    case DestinationOrder::staggered: {
      const std::uint64_t stride = spreading_stride(gpus);
      for (std::uint32_t s = 0; s < slices; ++s) {
        for (std::uint32_t step = 1; step < gpus; ++step) {
          result.push_back({cyclic(static_cast<std::uint32_t>(step * stride % gpus)), s});
        }
      }
      all_of(gpu);
      break;
    }
    case DestinationOrder::given:
      for (std::uint32_t peer = 0; peer < gpus; ++peer) all_of(peer);
      break;
  }
  return result;
}

}  // namespace weft
