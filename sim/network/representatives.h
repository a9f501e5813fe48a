// Which nodes of a cluster stand for others that do the same at the same time: of every `all`
// consecutive ones, those of a pipeline's stage, the first `kept`. The nodes kept are numbered
// anew, without gaps. models/alike_copies.h says when this is so.
#pragma once

#include <cstdint>

namespace weft {

struct Representatives {
  std::uint32_t all = 1;
  std::uint32_t kept = 1;
  std::uint32_t gpus_per_node = 1;

  // For how many each stands, itself included.
  [[nodiscard]] std::uint32_t turns() const { return all / kept; }

  // Of a node of the whole cluster: which of those that its representative stands for, where the
  // 0th is the representative itself; and the representative's new number.
  [[nodiscard]] std::uint32_t turn_of(std::uint32_t node) const { return node % all / kept; }
  [[nodiscard]] std::uint32_t of_node(std::uint32_t node) const {
    return node / all * kept + node % all % kept;
  }
  [[nodiscard]] std::uint32_t of_gpu(std::uint32_t gpu) const {
    return of_node(gpu / gpus_per_node) * gpus_per_node + gpu % gpus_per_node;
  }
  // The other way round, from the new number of a GPU.
  [[nodiscard]] std::uint32_t stood_for(std::uint32_t gpu, std::uint32_t turn) const {
    const std::uint32_t node = gpu / gpus_per_node;
    return (node / kept * all + turn * kept + node % kept) * gpus_per_node + gpu % gpus_per_node;
  }
};

}  // namespace weft
