#include "sim/traces/pytorch/graph_of_profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/traces/chakra/process_groups.h"
#include "sim/traces/found_blocks.h"
#include "sim/traces/pytorch/pytorch_rank.h"
#include "sim/traces/totals.h"

namespace weft {
namespace {

class GraphOfProfiles {
 public:
  GraphOfProfiles(const TraceWork& work, int gpus, const RankProfiles& ranks,
                  TraceProblems& problems, LoadedTrace& loaded)
      : work_(work),
        gpus_(gpus),
        ranks_(ranks),
        problems_(problems),
        loaded_(loaded),
        sums_{.summary = loaded_.summary, .host = work.host, .counts = {}, .collectives = {}} {}

  void build() {
    TraceGroups all = groups_of_all(gpus_);
    std::vector<RankTrace> ranks;
    for (const auto& [rank, profile] : ranks_.profiles) {
      const auto found = ranks_.et.find(rank);
      const PytorchEt* et = found == ranks_.et.end() ? nullptr : &found->second;
      const TraceGroups own = groups_of_rank(profile, et);
      std::map<std::string, std::uint32_t> names =
          ranks_.names_are_shared ? by_names(all, own) : by_ranks(all, own);
      TraceGroups known = all;
      known.by_name = std::move(names);
      ranks.push_back(read_pytorch_rank(profile, et, known, sums_, problems_));
    }
    if (problems_.any()) return;
    MergedRanks merged = merge_ranks(std::move(ranks), all, gpus_, problems_, kept_for(work_));
    if (problems_.any()) return;
    merged.graph.verify();
    if (work_.find_blocks) find_blocks(merged, loaded_.summary);
    summarize(merged);
    loaded_.graph = std::move(merged.graph);
  }

  void summarize(const MergedRanks& merged) {
    TraceSummary& summary = loaded_.summary;
    summary.trace = work_.path;
    summary.writer = ranks_.writer;
    summary.ranks = ranks_.profiles.size();
    add_simulated(merged.graph, summary);
    summary.step = sums_.step;
    summary.step->with_host = work_.host != HostTime::drop;
    summary.device = ranks_.profiles.begin()->second.device;
    summary.notes.push_back(to_text(*summary.step));
    summary.notes.push_back(fmt::format(
        "{:.3f} ms of the library's collective kernels, over all ranks, are not used, because they "
        "include waiting for late ranks",
        to_microseconds(sums_.collectives) / 1000));
    note_steps();
    if (ranks_.left_out > 0) {
      summary.notes.push_back(fmt::format(
          "{} kernels and copies that were launched before the recording began are left out",
          ranks_.left_out));
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

 private:
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

  // Several communicators of the same ranks each have their own order.
  static std::map<std::string, std::uint32_t> by_names(TraceGroups& all, const TraceGroups& own) {
    std::map<std::string, std::uint32_t> names;
    for (const auto& [name, index] : own.by_name) {
      const auto known = all.by_name.find(name);
      names[name] =
          known != all.by_name.end() ? known->second : add_group(all, name, own.ranks[index]);
    }
    return names;
  }

  // Names may be valid in one process only. So a group is the k-th of its ranks' groups, in the
  // order of their names, which PyTorch numbers as they are made.
  std::map<std::string, std::uint32_t> by_ranks(TraceGroups& all, const TraceGroups& own) {
    std::vector<std::string> in_order;
    in_order.reserve(own.by_name.size());
    for (const auto& [name, index] : own.by_name) in_order.push_back(name);
    std::stable_sort(
        in_order.begin(), in_order.end(),
        [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
    std::map<std::vector<std::uint32_t>, std::size_t> before;
    std::map<std::string, std::uint32_t> names;
    for (const std::string& name : in_order) {
      const std::vector<std::uint32_t>& ranks = own.ranks[own.by_name.at(name)];
      const std::size_t number = before[ranks]++;
      const auto next = static_cast<std::uint32_t>(all.ranks.size());
      const bool is_all = number == 0 && ranks == all.ranks[0];
      const auto [known, made] = groups_.try_emplace({ranks, number}, is_all ? 0 : next);
      if (made && !is_all) add_group(all, name_of(ranks, number), ranks);
      names[name] = known->second;
    }
    return names;
  }

  static std::string name_of(const std::vector<std::uint32_t>& ranks, std::size_t number) {
    const std::string name = fmt::format("{}", fmt::join(ranks, " "));
    return number == 0 ? name : fmt::format("{}, number {}", name, number + 1);
  }

  void note_steps() {
    const std::vector<ProfilerStep>& steps = ranks_.profiles.begin()->second.steps;
    if (steps.size() < 2) return;
    loaded_.summary.notes.push_back(fmt::format(
        "{} steps, #{} to #{}, are {}", steps.size(), steps.front().number, steps.back().number,
        work_.steps == StepsAs::mean
            ? "replayed as one, with the mean of their kernels' times; what the host did, and so "
              "what waits for what, is the first one's"
            : "replayed one after another; 'step' takes one, 'step' and 'last_step' take some, "
              "'steps: mean' their mean"));
  }

  const TraceWork& work_;
  int gpus_;
  const RankProfiles& ranks_;
  TraceProblems& problems_;
  LoadedTrace& loaded_;
  PytorchSums sums_;
  std::map<std::pair<std::vector<std::uint32_t>, std::size_t>, std::uint32_t> groups_;
};

}  // namespace

void graph_of_profiles(const TraceWork& work, int gpus, const RankProfiles& ranks,
                       TraceProblems& problems, LoadedTrace& loaded) {
  GraphOfProfiles(work, gpus, ranks, problems, loaded).build();
}

}  // namespace weft
