#include "sim/traces/pytorch/by_device.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/traces/pytorch/kernel_work.h"

namespace weft {
namespace {

std::set<std::int64_t> devices_of(const KinetoFile& file) {
  std::set<std::int64_t> devices;
  for (const GpuEvent& event : file.gpu) {
    if (event.kind == GpuEvent::Kind::kernel) devices.insert(event.device);
  }
  return devices;
}

bool launches(const HostEvent& event) {
  return event.kind == HostEvent::Kind::runtime || event.kind == HostEvent::Kind::communicates;
}

// By thread, the GPUs that it launched something on.
std::map<std::int64_t, std::set<std::int64_t>> devices_of_threads(
    const KinetoFile& file, const std::map<std::int64_t, std::int64_t>& device_of) {
  std::map<std::int64_t, std::set<std::int64_t>> devices;
  for (const HostEvent& event : file.host) {
    const auto found = device_of.find(event.correlation);
    if (event.kind == HostEvent::Kind::runtime && found != device_of.end()) {
      devices[event.thread].insert(found->second);
    }
  }
  return devices;
}

}  // namespace

std::vector<KinetoFile> by_device(const KinetoFile& file) {
  const std::set<std::int64_t> devices = devices_of(file);
  if (devices.size() < 2) return {};
  std::map<std::int64_t, std::int64_t> device_of;  // by correlation
  for (const GpuEvent& event : file.gpu) device_of[event.correlation] = event.device;
  const auto of_threads = devices_of_threads(file, device_of);
  std::vector<KinetoFile> files;
  for (const std::int64_t device : devices) {
    KinetoFile one = file;
    std::erase_if(one.gpu, [device](const GpuEvent& event) { return event.device != device; });
    std::erase_if(one.host, [&](const HostEvent& event) {
      const auto launched = device_of.find(event.correlation);
      if (launches(event) && launched != device_of.end()) return launched->second != device;
      const auto thread = of_threads.find(event.thread);
      return thread == of_threads.end() || !thread->second.contains(device);
    });
    find_beside(one);  // on a GPU of its own
    files.push_back(std::move(one));
  }
  return files;
}

bool is_of_one_process(const KinetoFile& file) {
  std::map<std::int64_t, std::int64_t> device_of;
  return std::all_of(file.gpu.begin(), file.gpu.end(), [&](const GpuEvent& event) {
    if (event.correlation <= 0) return true;
    return device_of.emplace(event.correlation, event.device).first->second == event.device;
  });
}

}  // namespace weft
