// What the lowerings of the embedding share: the bag's numbers, and what each of its WGs does.
#pragma once

#include "sim/workloads/embedding.h"

namespace weft {

// The numbers that all three lowerings share.
struct Bag {
  const EmbeddingWork& work;
  std::uint32_t gpus;
  std::uint32_t blocks;       // of rows_per_wg samples, per destination and table
  std::int64_t result_bytes;  // of one WG

  Bag(const EmbeddingWork& embedding, std::uint32_t gpu_count)
      : work(embedding),
        gpus(gpu_count),
        blocks(static_cast<std::uint32_t>(embedding.batch / gpu_count / embedding.rows_per_wg)),
        result_bytes(std::int64_t{embedding.rows_per_wg} * embedding.dim *
                     size_of(embedding.dtype).count()) {}

  [[nodiscard]] std::uint32_t per_destination() const {
    return blocks * static_cast<std::uint32_t>(work.tables_per_gpu);
  }
};

// One logical WG: which destination, and which of that destination's.
struct Logical {
  std::uint32_t destination;
  std::uint32_t index;  // table x blocks + block
};

// The WG's share of work, in units of 2^-20: the same in every mode, for it belongs to the WG and
// not to its turn.
std::uint32_t scale_of(const Bag& bag, std::uint64_t seed, std::uint32_t gpu, Logical wg);

// WGs of this shape that a CU holds.
int resident(const GpuSpec& gpu, const WgShape& wg, int extra_registers);

TaskGraph lower_fused_embedding(const Scenario& scenario, const Cluster& cluster);

}  // namespace weft
