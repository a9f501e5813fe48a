// Modes: a row each, for reading, writing, explaining and drawing them.
#pragma once

#include <array>

#include "sim/scenario/scenario.h"

namespace weft {

struct ModeRow {
  const char* name;
  Mode mode;
  const char* meaning;
  const char* colour;  // wherever it is drawn, whichever others are
};

// Okabe and Ito's colours come first, which colour-blind readers tell apart. The strategies of kind
// c3 are never drawn beside the first four modes, so some have the same ones.
inline constexpr auto kModeRows = std::to_array<ModeRow>({
    {"bulk", Mode::bulk, "the kernel, a kernel boundary, the collective", "#0072B2"},
    {"kernel", Mode::kernel,
     "in chunks: the collective of one runs concurrently with the kernel of the next", "#E69F00"},
    {"pipelined", Mode::pipelined,
     "peer by peer, by copy engines beside kernels of each peer's part (PyTorch's async tensor "
     "parallelism)",
     "#CC79A7"},
    {"fused", Mode::fused, "one kernel whose WGs send and wait by themselves", "#009E73"},
    {"role_split", Mode::role_split,
     "fused, with CUs of their own for the WGs that send (ParallelKittens, Comet, TileLink)",
     "#56B4E9"},
    {"copy_fed", Mode::copy_fed,
     "fused, with input brought by copy engines, or sums in a kernel afterwards (Flux, "
     "Triton-distributed)",
     "#D55E00"},
    {"mixed", Mode::mixed,
     "each pair of a model in its own way: as workload.pairs says, else as is fastest by itself",
     "#882255"},
    {"compute_alone", Mode::compute_alone, "c3: the GEMM alone", "#8C8C8C"},
    {"comm_alone", Mode::comm_alone, "the collective's kernel alone", "#B8B8B8"},
    {"comm_alone_dma", Mode::comm_alone_dma, "the same, on copy engines", "#D8C9A8"},
    {"serial", Mode::serial, "the collective after the GEMM", "#0072B2"},
    {"base", Mode::base, "GEMM launched first, then the collective; no further control", "#E69F00"},
    {"comm_first", Mode::comm_first, "collective launched first, with the higher priority",
     "#009E73"},
    {"priority", Mode::priority, "GEMM launched first, collective with the higher priority",
     "#D55E00"},
    {"launch_order", Mode::launch_order, "the kernel that starts fewer WGs is launched first",
     "#CC79A7"},
    {"partition", Mode::partition, "the collective has c3.partition_cus CUs, the GEMM the rest",
     "#56B4E9"},
    {"priority+partition", Mode::priority_partition, "comm_first and partition", "#332288"},
    {"lookup", Mode::lookup, "partition, with a size from a table of both run alone", "#882255"},
    {"best", Mode::best, "partition, with a size from trial runs of both together", "#117733"},
    {"dma", Mode::dma, "copy engines run the collective, the GEMM has all CUs", "#F0E442"},
    {"dma+partition", Mode::dma_partition,
     "the same, but the GEMM leaves c3.dma_reserve_cus CUs free", "#999933"},
});

}  // namespace weft
