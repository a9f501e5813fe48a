#include "sim/traces/nsys/nsys_file.h"

#include <algorithm>
#include <utility>

#include "sim/traces/nsys/nsys_tables.h"
#include "sim/traces/pytorch/by_device.h"
#include "sim/traces/pytorch/kernel_work.h"

namespace weft {
namespace {

std::int64_t device_of(const KinetoFile& profile) { return profile.gpu.front().device; }

}  // namespace

std::vector<NsysProfile> read_nsys(std::string& bytes, const std::string& name,
                                   std::int64_t element_bytes, TraceProblems& problems) {
  SqliteFile file(bytes);
  std::vector<NsysProfile> profiles;
  for (auto& [process, of] : read_tables(file, name, element_bytes, problems)) {
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
      NsysProfile made{.profile = std::move(one), .members = of.members};
      if (devices.size() > 1) {
        std::erase_if(made.members, [&made](const NcclMember& member) {
          return member.device != device_of(made.profile);
        });
      }
      profiles.push_back(std::move(made));
    }
  }
  std::stable_sort(profiles.begin(), profiles.end(),
                   [](const NsysProfile& a, const NsysProfile& b) {
                     return device_of(a.profile) < device_of(b.profile);
                   });
  return profiles;
}

}  // namespace weft
