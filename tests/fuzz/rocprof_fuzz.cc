// Any bytes as a file of rocprofv3, of up to four GPUs.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "sim/models/join_ranks.h"
#include "sim/traces/nodes/collective_sizes.h"
#include "sim/traces/pytorch/graph_of_profiles.h"
#include "sim/traces/rocprof/rocprof_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostGpus = 4;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  weft::TraceProblems problems("fuzz", weft::mebibytes(64));
  auto found = weft::profiles_of(weft::read_rocprof(bytes, "results.json", 2, problems), problems);
  if (problems.any() || found.empty() || found.size() > kMostGpus) return 0;
  std::vector<std::uint32_t> all(found.size());
  std::iota(all.begin(), all.end(), 0U);
  weft::RankProfiles ranks{.writer = "rocprofv3", .profiles = {}, .et = {}};
  for (weft::NodeProfile& one : found) {
    const auto rank = static_cast<std::int64_t>(ranks.profiles.size());
    one.profile.rank = rank;
    one.profile.groups["all"] = all;
    weft::add_sizes(one.profile, {{.op = weft::CollectiveOp::all_reduce, .bytes = 4096}},
                    static_cast<std::int64_t>(all.size()), "sizes", problems);
    ranks.profiles.emplace(rank, std::move(one.profile));
  }
  if (problems.any()) return 0;
  weft::TraceWork work;
  work.host = weft::HostTime::recorded;
  weft::LoadedTrace loaded;
  weft::graph_of_profiles(work, static_cast<int>(ranks.profiles.size()), ranks, problems, loaded);
  if (loaded.graph) weft::join_ranks(*loaded.graph).verify();
  return 0;
}
