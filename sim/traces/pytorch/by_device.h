// A process that uses several GPUs.
#pragma once

#include <vector>

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// One profile for each GPU with kernels, ordered by its number, with the launches of what ran on
// it. What else a thread did, such as waiting, it did for each GPU that it launched on.
// Nothing if only one GPU has kernels.
std::vector<KinetoFile> by_device(const KinetoFile& file);

// Whether no two GPUs have kernels of one number, as merged profiles of several processes have.
bool is_of_one_process(const KinetoFile& file);

}  // namespace weft
