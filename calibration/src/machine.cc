#include "machine.h"

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <string>

#include "check.h"
#include "collectives.h"
#include "gemm_library.h"

namespace calibration {
namespace {

void enable_peers(int device, int count) {
  check(hipSetDevice(device));
  for (int peer = 0; peer < count; ++peer) {
    int can = 0;
    if (peer == device) {
      continue;
    }
    check(hipDeviceCanAccessPeer(&can, device, peer));
    if (can == 0) {
      throw std::runtime_error("GPU " + std::to_string(device) +
                               " cannot access the memory of GPU " + std::to_string(peer));
    }
    const hipError_t status = hipDeviceEnablePeerAccess(peer, 0);
    if (status == hipErrorPeerAccessAlreadyEnabled) {
      static_cast<void>(hipGetLastError());  // takes the error away
    } else {
      check(status);
    }
  }
}

Gpu open_gpu(int device, int count) {
  Gpu gpu;
  gpu.device = device;
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, device));
  gpu.units = properties.multiProcessorCount;
  gpu.shared_per_unit = properties.maxSharedMemoryPerMultiProcessor;
#if defined(__HIP_PLATFORM_NVIDIA__)
  gpu.shared_per_wg_own = properties.reservedSharedMemPerBlock;
#endif
  if (gpu.shared_per_unit == 0) {
    gpu.shared_per_unit = properties.sharedMemPerBlock;  // some AMD runtimes leave it out
  }
  enable_peers(device, count);
  int lowest = 0;
  int highest = 0;
  check(hipDeviceGetStreamPriorityRange(&lowest, &highest));
  check(hipStreamCreateWithPriority(&gpu.main, hipStreamNonBlocking, lowest));
  check(hipStreamCreateWithPriority(&gpu.beside, hipStreamNonBlocking, lowest));
  check(hipStreamCreateWithPriority(&gpu.urgent, hipStreamNonBlocking, highest));
  gpu.copies.resize(Machine::copy_streams);
  for (hipStream_t& stream : gpu.copies) {
    check(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, lowest));
  }
  check(hipEventCreate(&gpu.start));
  check(hipEventCreate(&gpu.stop));
  gpu.joins.resize(Machine::copy_streams);
  for (hipEvent_t& event : gpu.joins) {
    check(hipEventCreate(&event));
  }
  return gpu;
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

void Gpu::use() const { check(hipSetDevice(device)); }

Machine::Machine(int gpus) {
  int count = 0;
  check(hipGetDeviceCount(&count));
  if (gpus > count || gpus > gpus_max || count == 0) {
    throw std::runtime_error("asked for " + std::to_string(gpus) + " GPUs, there are " +
                             std::to_string(count) + ", and at most " + std::to_string(gpus_max) +
                             " can be used");
  }
  const int used = gpus == 0 ? std::min(count, gpus_max) : gpus;
  for (int device = 0; device < used; ++device) {
    gpus_.push_back(open_gpu(device, used));
  }
}

std::vector<hipStream_t> Machine::streams(hipStream_t Gpu::*which) const {
  std::vector<hipStream_t> result;
  for (const Gpu& gpu : gpus_) {
    result.push_back(gpu.*which);
  }
  return result;
}

void Machine::synchronize() const {
  for (const Gpu& gpu : gpus_) {
    gpu.use();
    check(hipDeviceSynchronize());
  }
}

void Machine::fork(int index, hipStream_t stream) const {
  const Gpu& from = gpu(index);
  from.use();
  check(hipStreamWaitEvent(stream, from.start, 0));  // recorded as the timer opens the run
}

void Machine::join(int index, hipStream_t stream, int which) const {
  const Gpu& to = gpu(index);
  to.use();
  const hipEvent_t done = to.joins[static_cast<std::size_t>(which)];
  check(hipEventRecord(done, stream));
  check(hipStreamWaitEvent(to.main, done, 0));
}

JsonLine Machine::describe() const {
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, 0));
  int driver = 0;
  int runtime = 0;
  int clock_khz = 0;
  check(hipDriverGetVersion(&driver));
  check(hipRuntimeGetVersion(&runtime));
  check(hipDeviceGetAttribute(&clock_khz, hipDeviceAttributeClockRate, 0));
  JsonLine line("meta");
  line.set("date", utc_date())
      .set("gpus", size())
      .set("device", std::string(properties.name))
      .set("units", gpu(0).units)
      .set("wave", properties.warpSize)
      .set("clock_mhz", clock_khz / 1000)
      .set("shared_per_unit", static_cast<std::int64_t>(gpu(0).shared_per_unit))
      .set("l2_bytes", static_cast<std::int64_t>(properties.l2CacheSize))
      .set("memory_bytes", static_cast<std::int64_t>(properties.totalGlobalMem))
      .set("driver", driver)
      .set("runtime", runtime)
      .set("collectives_library", collectives_library())
      .set("gemm_library", gemm_library());
  return line;
}

}  // namespace calibration
