#include "sim/traces/nodes/node_profiles.h"

#include <algorithm>
#include <utility>

#include "sim/traces/pytorch/by_device.h"
#include "sim/traces/pytorch/kernel_work.h"

namespace weft {
namespace {

std::int64_t device_of(const KinetoFile& profile) { return profile.gpu.front().device; }

}  // namespace

std::vector<NodeProfile> profiles_of(NodeProcesses&& processes, TraceProblems& problems) {
  std::vector<NodeProfile> profiles;
  for (auto& [process, of] : processes) {
    if (of.events.gpu.empty()) continue;
    add_nccl_calls(of.events, std::move(of.nccl), problems);
    add_work(of.events);
    join_counters(of.events);
    std::vector<KinetoFile> devices = by_device(of.events);
    if (devices.empty()) {
      find_beside(of.events);
      devices.push_back(std::move(of.events));
    }
    for (KinetoFile& one : devices) {
      NodeProfile made{.profile = std::move(one), .members = of.members};
      if (devices.size() > 1) {
        std::erase_if(made.members, [&made](const NcclMember& member) {
          return member.device != device_of(made.profile);
        });
      }
      profiles.push_back(std::move(made));
    }
  }
  std::stable_sort(profiles.begin(), profiles.end(),
                   [](const NodeProfile& a, const NodeProfile& b) {
                     return device_of(a.profile) < device_of(b.profile);
                   });
  return profiles;
}

}  // namespace weft
