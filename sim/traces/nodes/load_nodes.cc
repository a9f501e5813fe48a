#include "sim/traces/nodes/load_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/traces/nodes/collective_sizes.h"
#include "sim/traces/nodes/exchanges.h"
#include "sim/traces/pytorch/chosen_steps.h"
#include "sim/traces/pytorch/graph_of_profiles.h"
#include "sim/traces/text_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// "rank2" before "rank10".
bool numbers_in_order(const fs::path& a, const fs::path& b) {
  const std::string left = a.filename().string();
  const std::string right = b.filename().string();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](const std::string& text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return std::string_view(text).substr(first, at - first);
  };
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < left.size() && k < right.size()) {
    if (is_digit(left[i]) && is_digit(right[k])) {
      const std::string_view x = number_at(left, i);
      const std::string_view y = number_at(right, k);
      if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
    } else if (left[i] != right[k]) {
      return left[i] < right[k];
    } else {
      ++i;
      ++k;
    }
  }
  return std::pair(left.size() - i, left) < std::pair(right.size() - k, right);
}

class NodesLoader {
 public:
  NodesLoader(const TraceWork& work, int gpus, Bytes memory, const NodeRecorder& recorder)
      : work_(work), gpus_(gpus), recorder_(recorder), problems_(work.path, memory) {}

  LoadedTrace load() {
    if (work_.one_for_all) problems_.add(work_.path, "one_for_all", "only for kind: chakra");
    if (!work_.execution_traces.empty()) {
      problems_.add(work_.path, "execution_traces", "only for kind: pytorch");
    }
    read_files();
    if (!problems_.any()) number_ranks();
    if (!problems_.any()) expect_launches();
    if (!problems_.any()) find_groups();
    if (!problems_.any()) complete_sizes();
    if (!problems_.any()) {
      note_element_size();
      for (const std::string& note : assumed_) loaded_.summary.choices.push_back(note);
      ranks_.writer = recorder_.name;
      ranks_.names_are_shared = true;  // they are NCCL's ids of communicators
      graph_of_profiles(work_, gpus_, ranks_, problems_, loaded_);
    }
    loaded_.problems = problems_.all();
    return std::move(loaded_);
  }

 private:
  // The file itself, or the folder's, ordered by name. Of two formats one: files of the other are
  // of the same processes.
  std::vector<fs::path> files() {
    std::error_code error;
    if (!fs::is_directory(work_.path, error)) return {work_.path};
    std::vector<fs::path> found = files_ending_in(recorder_.ending);
    if (recorder_.other_ending != nullptr) {
      std::vector<fs::path> others = files_ending_in(recorder_.other_ending);
      if (!found.empty() && !others.empty()) {
        assumed_.insert(fmt::format("files *{} are left out, as there are files *{} beside them",
                                    recorder_.other_ending, recorder_.ending));
      }
      if (found.empty()) found = std::move(others);
    }
    if (found.empty() && !problems_.any()) {
      problems_.add(work_.path, "",
                    fmt::format("contains no files *{} ({})", recorder_.ending, recorder_.writes));
    }
    return found;
  }

  std::vector<fs::path> files_ending_in(std::string_view ending) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(work_.path, error)) {
      const std::string name = entry.path().string();
      const bool packed = name.ends_with(std::string(ending) + ".gz");
      if (packed || name.ends_with(ending)) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end(), numbers_in_order);
    if (error) problems_.add(work_.path, "", error.message());
    return found;
  }

  void read_files() {
    for (const fs::path& path : files()) {
      std::error_code unknown;
      const auto size = static_cast<std::int64_t>(fs::file_size(path, unknown));
      if (!unknown && !problems_.fits(path.string(), size)) return;
      ReadText read = unpacked_text_of_file(path, loaded_.inputs, problems_.room());
      if (!read.text) {
        problems_.add(path.string(), "", read.problem);
        continue;
      }
      NodeProcesses processes =
          recorder_.read(*read.text, path.string(), work_.element_bytes, problems_);
      for (const auto& [process, of] : processes) {
        if (!of.note.empty()) assumed_.insert(of.note);
      }
      for (NodeProfile& one : profiles_of(std::move(processes), problems_)) {
        ranks_.left_out += choose_steps(work_, one.profile, problems_);
        found_.push_back(std::move(one));
      }
    }
  }

  // The communicator of all GPUs, if somebody saw it being made, says who is which rank.
  [[nodiscard]] std::int64_t rank_said(const NodeProfile& profile) const {
    for (const NcclMember& member : profile.members) {
      if (member.ranks == gpus_) return member.rank;
    }
    return -1;
  }

  void number_ranks() {
    if (static_cast<int>(found_.size()) != gpus_) {
      return problems_.add(work_.path, "",
                           fmt::format("kernels of {} GPUs, but the cluster has {}: what each "
                                       "computes and sends on another number was not recorded",
                                       found_.size(), gpus_));
    }
    const bool said = std::all_of(found_.begin(), found_.end(),
                                  [this](const NodeProfile& one) { return rank_said(one) >= 0; });
    if (!said) {
      loaded_.summary.choices.emplace_back(
          "ranks are in the order of files, then of GPUs: the profiles do not say which is which");
    }
    for (NodeProfile& one : found_) {
      const auto next = static_cast<std::int64_t>(ranks_.profiles.size());
      one.profile.rank = said ? rank_said(one) : next;
      const std::int64_t rank = one.profile.rank;
      for (const NcclMember& member : one.members) sizes_[member.communicator] = member.ranks;
      const bool first =
          rank < gpus_ && ranks_.profiles.try_emplace(rank, std::move(one.profile)).second;
      if (!first) {
        problems_.add(work_.path, "ncclCommInitRank",
                      fmt::format("rank {} of {} twice, or out of range", rank, gpus_));
      }
    }
  }

  void expect_launches() {
    for (const auto& [rank, profile] : ranks_.profiles) weft::expect_launches(profile, problems_);
  }

  // A communicator's ranks are those that call it.
  void find_groups() {
    Communicators groups;
    for (const auto& [rank, profile] : ranks_.profiles) {
      std::set<std::string> used;
      for (const GpuEvent& event : profile.gpu) {
        if (event.call) used.insert(event.call->group);
      }
      for (const std::string& name : used) groups[name].push_back(static_cast<std::uint32_t>(rank));
    }
    for (const auto& [name, members] : groups) {
      const auto size = sizes_.find(name);
      if (size == sizes_.end() || size->second == static_cast<std::int64_t>(members.size())) {
        continue;
      }
      problems_.add(work_.path, fmt::format("communicator {}", name),
                    fmt::format("has {} ranks, of which {} use it here; profiles of all are needed",
                                size->second, members.size()));
    }
    find_exchanges(groups);
    for (auto& [rank, profile] : ranks_.profiles) {
      profile.groups = groups;
      for (GpuEvent& event : profile.gpu) {
        if (event.call) scale(*event.call, groups.at(event.call->group).size());
      }
    }
  }

  void find_exchanges(Communicators& groups) {
    const AllToAlls all_to_alls = find_all_to_alls(ranks_.profiles, groups);
    if (all_to_alls.found > 0) {
      loaded_.summary.choices.push_back(fmt::format(
          "{} exchanges of messages are all-to-alls, because a rank of each sends to itself",
          all_to_alls.found));
    }
    if (all_to_alls.empty > 0) {
      loaded_.summary.choices.push_back(
          fmt::format("{} messages of 0 B beside others are left out", all_to_alls.empty));
    }
  }

  // NCCL says what a rank gets of a reduce-scatter, and what it sends to each of an even
  // all-to-all.
  static void scale(CommCall& call, std::size_t ranks) {
    const bool of_a_part = call.name == "reducescatter" || call.name == "alltoall";
    if (call.splits.empty() && of_a_part &&
        __builtin_mul_overflow(call.elements, static_cast<std::int64_t>(ranks), &call.elements)) {
      call.elements = INT64_MAX;
    }
  }

  void complete_sizes() {
    if (work_.collective_sizes.empty()) {
      for (const auto& [rank, profile] : ranks_.profiles)
        report_missing_sizes(profile, recorder_.sizes, problems_);
      return;
    }
    const ReadText read = text_of_file(work_.collective_sizes, loaded_.inputs);
    if (!read.text) return problems_.add(work_.collective_sizes, "", read.problem);
    const auto sizes = read_collective_sizes(*read.text, work_.collective_sizes, problems_);
    if (problems_.any()) return;
    if (std::none_of(ranks_.profiles.begin(), ranks_.profiles.end(),
                     [](const auto& one) { return lacks_sizes(one.second); })) {
      return problems_.add(work_.collective_sizes, "", "no effect: the profiles say all sizes");
    }
    for (auto& [rank, profile] : ranks_.profiles) {
      add_sizes(profile, sizes, gpus_, work_.collective_sizes, problems_);
      std::vector<std::uint32_t>& all = profile.groups["all"];
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(gpus_); ++i) all.push_back(i);
    }
    loaded_.summary.choices.push_back(
        fmt::format("collectives of {} are of all GPUs: the profiles do not say whose they are",
                    work_.collective_sizes));
  }

  void note_element_size() {
    for (const auto& [rank, profile] : ranks_.profiles) {
      const bool any = std::any_of(profile.operators.begin(), profile.operators.end(),
                                   [](const CpuOperator& one) { return one.work.has_value(); });
      if (!any) continue;
      loaded_.summary.choices.push_back(fmt::format(
          "tensors in NVTX or ROCTx ranges, which do not say their type, have elements of {} B "
          "(tensor_element_bytes)",
          work_.element_bytes));
      return;
    }
  }

  const TraceWork& work_;
  int gpus_;
  const NodeRecorder& recorder_;
  TraceProblems problems_;
  LoadedTrace loaded_;
  std::vector<NodeProfile> found_;
  RankProfiles ranks_;
  std::set<std::string> assumed_;
  std::map<std::string, std::int64_t> sizes_;  // ranks of communicators that were seen being made
};

}  // namespace

LoadedTrace load_nodes(const TraceWork& work, int gpus, Bytes memory,
                       const NodeRecorder& recorder) {
  return NodesLoader(work, gpus, memory, recorder).load();
}

}  // namespace weft
