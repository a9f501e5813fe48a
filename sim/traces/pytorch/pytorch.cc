// PyTorch: Kineto profiles of all ranks, and execution traces if the profiles lack the sizes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "sim/traces/chakra/process_groups.h"
#include "sim/traces/gunzip.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/pytorch/mean_step.h"
#include "sim/traces/pytorch/pytorch_rank.h"
#include "sim/traces/text_file.h"
#include "sim/traces/totals.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

enum class Which : std::uint8_t { first, last };

// A number in a file's name: "worker3_step_12" has 3 first, "dlrm_eg_3.json" has 3 last.
std::int64_t number_in(const std::string& name, Which which) {
  std::int64_t found = -1;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) continue;
    std::size_t end = i;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    std::int64_t number = -1;
    std::from_chars(name.data() + i, name.data() + end, number);
    found = number;
    if (which == Which::first) return found;
    i = end;
  }
  return found;
}

class PyTorchLoader {
 public:
  PyTorchLoader(const TraceWork& work, int gpus, Bytes memory)
      : work_(work),
        gpus_(gpus),
        problems_(work.path, memory),
        sums_{.summary = loaded_.summary, .host = work.host, .counts = {}, .collectives = {}} {}

  LoadedTrace load() {
    if (work_.one_for_all) {
      problems_.add(work_.path, "one_for_all", "only for kind: chakra");
    } else {
      read_profiles();
      if (!work_.execution_traces.empty()) read_execution_traces();
    }
    if (!problems_.any()) build();
    loaded_.problems = problems_.all();
    return std::move(loaded_);
  }

 private:
  static bool is_profile(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".json") || name.ends_with(".json.gz");
  }

  // The folder's JSON files, ordered by name; if it has none, those of its subfolders, one per
  // rank.
  std::vector<fs::path> files_of(const std::string& folder) {
    std::vector<fs::path> files;
    std::vector<fs::path> folders;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (is_profile(entry.path())) files.push_back(entry.path());
      if (entry.is_directory(error)) folders.push_back(entry.path());
    }
    if (error) {
      problems_.add(
          folder, "",
          error == std::errc::no_such_file_or_directory ? "no such folder" : error.message());
      return {};
    }
    for (const fs::path& inner : files.empty() ? folders : std::vector<fs::path>()) {
      for (const auto& entry : fs::directory_iterator(inner, error)) {
        if (is_profile(entry.path())) files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) problems_.add(folder, "", "contains no .json or .json.gz files");
    return files;
  }

  // Empty after a problem.
  std::optional<std::string> text_of(const fs::path& path) {
    ReadText read = text_of_file(path, loaded_.inputs);
    if (!read.text) {
      problems_.add(path.string(), "", read.problem);
      return std::nullopt;
    }
    if (path.extension() != ".gz") return std::move(read.text);
    Unpacked unpacked = gunzipped(*read.text, problems_.room());
    if (unpacked.problem.empty()) return std::move(unpacked.text);
    problems_.add(path.string(), "", unpacked.problem);
    return std::nullopt;
  }

  // "rank3/trace.json": the folder's number, if the file's name has none.
  static std::int64_t rank_in_name(const fs::path& path) {
    const std::int64_t rank = number_in(path.filename().string(), Which::first);
    return rank >= 0 ? rank : number_in(path.parent_path().filename().string(), Which::last);
  }

  // Keeps only the requested step of this profile, or the mean of all.
  void choose_step(KinetoFile& file) {
    if (work_.steps == StepsAs::mean) return keep_mean_of_steps(file, problems_);
    if (work_.step < 0) return;
    std::string known;
    for (const ProfilerStep& step : file.steps) {
      if (step.number == work_.step) return keep_step(file, ProfilerStep(step));
      known += fmt::format(" #{}", step.number);
    }
    problems_.add(
        file.name, "step",
        fmt::format("no ProfilerStep#{}; it has{}", work_.step, known.empty() ? " none" : known));
  }

  void read_profiles() {
    for (const fs::path& path : files_of(work_.path)) {
      const std::optional<std::string> text = text_of(path);
      if (!text) continue;
      KinetoFile file = read_kineto(*text, path.string(), problems_);
      choose_step(file);
      if (file.rank < 0) file.rank = rank_in_name(path);
      if (file.ranks >= 0 && file.ranks != gpus_) {
        problems_.add(file.name, "distributedInfo: world_size",
                      fmt::format("{}, but the cluster has {} GPUs: what each computes and sends "
                                  "on another number of them was not recorded",
                                  file.ranks, gpus_));
      }
      const std::int64_t rank = file.rank;
      keep(rank, std::move(file), profiles_);
    }
    expect_all(profiles_, work_.path);
  }

  void read_execution_traces() {
    for (const fs::path& path : files_of(work_.execution_traces)) {
      const std::optional<std::string> text = text_of(path);
      if (!text) continue;
      keep(number_in(path.stem().string(), Which::last),
           read_pytorch_et(*text, path.string(), problems_), traces_);
    }
    expect_all(traces_, work_.execution_traces);
  }

  template <class File>
  void keep(std::int64_t rank, File file, std::map<std::int64_t, File>& files) {
    const std::string name = file.name;
    if (rank < 0 || rank >= gpus_) {
      return problems_.add(
          name, "rank",
          fmt::format("{}; must be 0 to {}, from the file or its name", rank, gpus_ - 1));
    }
    const auto [known, first] = files.try_emplace(rank, std::move(file));
    if (!first) {
      problems_.add(name, "rank", fmt::format("{}, like {}", rank, known->second.name));
    }
  }

  template <class File>
  void expect_all(const std::map<std::int64_t, File>& files, const std::string& folder) {
    if (problems_.any()) return;
    for (int rank = 0; rank < gpus_; ++rank) {
      if (files.contains(rank)) continue;
      problems_.add(
          folder, fmt::format("rank {}", rank),
          fmt::format("has no file; on {} GPUs ranks 0 to {} are needed", gpus_, gpus_ - 1));
    }
  }

  // If groups are not listed and only one is used, it has all ranks.
  TraceGroups groups_of_rank(const KinetoFile& profile, const PytorchEt* et) {
    TraceGroups groups = groups_of_all(gpus_);
    for (const auto& [name, ranks] : profile.groups) add_listed(groups, name, ranks);
    if (et != nullptr && !et->groups.empty()) take_listed_groups(et->groups, gpus_, groups);
    std::set<std::string> used;
    if (et != nullptr) {
      for (const CommCall& call : et->calls) {
        if (call.name != "wait") used.insert(call.group);
      }
    }
    for (const GpuEvent& event : profile.gpu) {
      if (event.call) used.insert(event.call->group);
    }
    if (used.size() == 1 && groups.by_name.empty()) groups.by_name[*used.begin()] = 0;
    return groups;
  }

  void add_listed(TraceGroups& groups, const std::string& name,
                  const std::vector<std::uint32_t>& ranks) {
    std::set<std::uint32_t> different(ranks.begin(), ranks.end());
    if (different.size() != ranks.size() || *different.rbegin() >= static_cast<unsigned>(gpus_)) {
      return;  // its collectives are then reported as problems
    }
    if (ranks == groups.ranks[0]) {
      groups.by_name[name] = 0;
    } else {
      add_group(groups, name, ranks);
    }
  }

  static std::uint32_t index_in(TraceGroups& all, const std::vector<std::uint32_t>& ranks) {
    const auto known = std::find(all.ranks.begin(), all.ranks.end(), ranks);
    if (known != all.ranks.end()) return static_cast<std::uint32_t>(known - all.ranks.begin());
    return add_group(all, fmt::format("{}", fmt::join(ranks, " ")), ranks);
  }

  void build() {
    // A group is identified by its ranks: its name may be valid in one process only.
    TraceGroups all = groups_of_all(gpus_);
    std::vector<RankTrace> ranks;
    for (const auto& [rank, profile] : profiles_) {
      const auto found = traces_.find(rank);
      const PytorchEt* et = found == traces_.end() ? nullptr : &found->second;
      const TraceGroups own = groups_of_rank(profile, et);
      std::map<std::string, std::uint32_t> names;
      for (const auto& [name, index] : own.by_name) names[name] = index_in(all, own.ranks[index]);
      TraceGroups known = all;
      known.by_name = std::move(names);
      ranks.push_back(read_pytorch_rank(profile, et, known, sums_, problems_));
    }
    if (problems_.any()) return;
    MergedRanks merged = merge_ranks(std::move(ranks), all, gpus_, problems_);
    if (problems_.any()) return;
    merged.graph.verify();
    summarize(merged);
    loaded_.graph = std::move(merged.graph);
  }

  [[nodiscard]] std::string step_text() const {
    const RecordedStep& step = sums_.step;
    const double us = std::max(to_microseconds(step.time), 1e-3);
    return fmt::format(
        "{:.3f} ms from the first to the last kernel on the rank that waited least for others; for "
        "{:.0f} % of "
        "them its GPU had no kernel, for {:.0f} % because the host had not launched any: the "
        "host's own "
        "time is {} (host: {})",
        us / 1000, 100 * to_microseconds(step.idle) / us,
        100 * to_microseconds(step.unlaunched) / us,
        work_.host == HostTime::drop ? "not simulated" : "kept",
        work_.host == HostTime::drop ? "drop" : "recorded");
  }

  void summarize(const MergedRanks& merged) {
    TraceSummary& summary = loaded_.summary;
    summary.trace = work_.path;
    summary.writer = traces_.empty()
                         ? "Kineto profiles"
                         : fmt::format("Kineto profiles and execution traces, schema {}",
                                       traces_.begin()->second.schema);
    summary.ranks = profiles_.size();
    add_simulated(merged.graph, summary);
    summary.step = sums_.step;
    summary.device = profiles_.begin()->second.device;
    summary.notes.push_back(step_text());
    summary.notes.push_back(fmt::format(
        "{:.3f} ms of the library's collective kernels, over all ranks, are not used, because they "
        "include waiting for late ranks",
        to_microseconds(sums_.collectives) / 1000));
    const std::vector<ProfilerStep>& steps = profiles_.begin()->second.steps;
    if (work_.step < 0 && steps.size() > 1) {
      summary.notes.push_back(fmt::format(
          "{} steps, ProfilerStep#{} to #{}, are {}", steps.size(), steps.front().number,
          steps.back().number,
          work_.steps == StepsAs::mean
              ? "replayed as one, with the mean of their kernels' times; what the host did, and so "
                "what waits for what, is the first one's"
              : "replayed one after another; 'step' takes one, 'steps: mean' their mean"));
    }
    if (sums_.beside > 0) {
      summary.notes.push_back(fmt::format(
          "{} kernels, {:.3f} ms over all ranks, shared their GPU with kernels of other streams "
          "when "
          "they were recorded; what that cost them is in their times, so they are replayed as "
          "recorded: nothing slows them a second time",
          sums_.beside, to_microseconds(sums_.beside_time) / 1000));
    }
    if (merged.out_of_order > 0) {
      summary.notes.push_back(
          fmt::format("{} operators that overtake others on their stream, because the trace would "
                      "deadlock otherwise",
                      merged.out_of_order));
    }
    for (const auto& [what, number] : sums_.counts) {
      summary.notes.push_back(fmt::format("{} {}", number, what));
    }
  }

  const TraceWork& work_;
  int gpus_;
  TraceProblems problems_;
  LoadedTrace loaded_;
  PytorchSums sums_;
  std::map<std::int64_t, KinetoFile> profiles_;  // by rank
  std::map<std::int64_t, PytorchEt> traces_;
};

}  // namespace

namespace readers {

LoadedTrace pytorch(const TraceWork& work, int gpus, Bytes memory) {
  return PyTorchLoader(work, gpus, memory).load();
}

}  // namespace readers

}  // namespace weft
