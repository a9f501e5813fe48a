// Which GPU a trace was recorded on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/recorded_step.h"

namespace weft {

// Whether the recorder's GPU may be this one, by the model in its name ("A100" of "NVIDIA
// A100-SXM4-80GB") and by its number of CUs. True if the recorder says neither.
bool may_be(const RecordedDevice& device, const GpuSpec& gpu);

constexpr std::size_t kMostOfDeviceName = 100;
// As a recorder writes it: its name is cut, and made printable.
RecordedDevice recorded_device(std::string_view name, std::int64_t cus);

// "'Tesla V100-SXM2-32GB', 80 SMs".
std::string text_of(const RecordedDevice& device);

}  // namespace weft
