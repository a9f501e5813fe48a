// Any bytes as the profile of both of two ranks; behind a zero byte, as their execution trace.
// Before that, as a packed file. Of several steps the last is kept.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/models/join_ranks.h"
#include "sim/traces/chakra/process_groups.h"
#include "sim/traces/gunzip.h"
#include "sim/traces/pytorch/pytorch_rank.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  const weft::Unpacked unpacked = weft::gunzipped(given, 1 << 20);
  const std::string_view text = unpacked.problem.empty() ? unpacked.text : given;
  const std::size_t end = text.find('\0');
  weft::TraceProblems problems("fuzz");
  weft::KinetoFile profile = weft::read_kineto(text.substr(0, end), "profile.json", problems);
  if (profile.steps.size() > 1) weft::keep_step(profile, weft::ProfilerStep(profile.steps.back()));
  weft::PytorchEt et;
  if (end != std::string_view::npos) {
    et = weft::read_pytorch_et(text.substr(end + 1), "et.json", problems);
  }
  if (problems.any()) return 0;
  weft::TraceSummary summary;
  weft::PytorchSums sums{
      .summary = summary, .host = weft::HostTime::recorded, .counts = {}, .collectives = {}};
  weft::TraceGroups groups = weft::groups_of_all(2);
  if (!et.groups.empty()) weft::take_listed_groups(et.groups, 2, groups);
  for (const weft::CommCall& call : et.calls) groups.by_name.try_emplace(call.group, 0U);
  for (const weft::GpuEvent& event : profile.gpu) {
    if (event.call) groups.by_name.try_emplace(event.call->group, 0U);
  }
  std::vector<weft::RankTrace> ranks;
  for (profile.rank = 0; profile.rank < 2; ++profile.rank) {
    ranks.push_back(weft::read_pytorch_rank(profile, end == std::string_view::npos ? nullptr : &et,
                                            groups, sums, problems));
  }
  if (problems.any()) return 0;
  const weft::MergedRanks merged = weft::merge_ranks(ranks, groups, 2, problems);
  if (problems.any()) return 0;
  merged.graph.verify();
  weft::join_ranks(merged.graph).verify();
  return 0;
}
