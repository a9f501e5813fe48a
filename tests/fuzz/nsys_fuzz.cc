// Any bytes as a report of Nsight Systems, of up to four GPUs.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "sim/models/join_ranks.h"
#include "sim/traces/nodes/collective_sizes.h"
#include "sim/traces/nsys/nsys_tables.h"
#include "sim/traces/pytorch/graph_of_profiles.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostGpus = 4;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  weft::TraceProblems problems("fuzz", weft::mebibytes(64));
  weft::SqliteFile file(bytes, "nsys export");
  std::vector<weft::NodeProfile> found =
      weft::profiles_of(weft::read_tables(file, "report.sqlite", 2, problems), problems);
  if (problems.any() || found.empty() || found.size() > kMostGpus) return 0;
  weft::RankProfiles ranks{.writer = "Nsight Systems", .profiles = {}, .et = {}};
  std::vector<std::uint32_t> all(found.size());
  std::iota(all.begin(), all.end(), 0U);
  for (weft::NodeProfile& one : found) {
    const auto rank = static_cast<std::int64_t>(ranks.profiles.size());
    for (const weft::GpuEvent& event : one.profile.gpu) {
      if (event.call) one.profile.groups[event.call->group] = all;
    }
    weft::report_missing_sizes(one.profile, "", problems);
    one.profile.rank = rank;
    ranks.profiles.emplace(rank, std::move(one.profile));
  }
  if (problems.any()) return 0;
  weft::TraceWork work;
  work.host = weft::HostTime::recorded;
  weft::LoadedTrace loaded;
  weft::graph_of_profiles(work, static_cast<int>(all.size()), ranks, problems, loaded);
  if (loaded.graph) weft::join_ranks(*loaded.graph).verify();
  return 0;
}
