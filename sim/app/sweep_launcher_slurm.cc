#include "sim/app/sweep_launcher_slurm.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/interrupt.h"
#include "sim/app/slurm.h"
#include "sim/app/sweep_outcome.h"
#include "sim/app/sweep_progress.h"
#include "sim/app/sweep_rows.h"
#include "sim/files/read_text.h"
#include "sim/files/staged.h"
#include "sim/run/exit_code.h"
#include "sim/run/replay_text.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/store.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kNote = "slurm.json";  // what --status needs to know
constexpr int kMostSubmissions = 5;          // of one task

// A part of the points, which one task runs.
struct Share {
  fs::path folder;
  std::set<std::string> points;  // hashes
  std::size_t rows = 0;
  bool finished = false;
  int submissions = 0;
  // Of results.jsonl, when it was last looked at:
  std::uintmax_t size = 0;
  std::size_t done = 0;
  std::size_t failed = 0;
};

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t number = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++number;
  return number;
}

class SlurmSweep {
 public:
  SlurmSweep(const SweepPlan& plan, const SweepCommand& command)
      : plan_(plan),
        command_(command),
        info_(info_of(plan, command)),
        folder_(fs::absolute(command.output.value_or(default_folder(plan, {})))),
        name_("weft_" + fnv1a_64_hex(folder_.lexically_normal().string())) {
    make_shares();
  }

  int launch() {
    write_note();
    submit(lost(queue()));
    if (command_.slurm.detach) {
      spdlog::info("{} tasks, job name {}; weft sweep --status {} shows their progress",
                   shares_.size(), name_, shell_quoted(folder_.string()));
      return exit_code::ok;
    }
    catch_interrupts();
    if (!wait()) {
      spdlog::warn(
          "the tasks continue; the same command waits for them again, scancel --name={} ends "
          "them",
          name_);
      return exit_code::interrupted;
    }
    return merge();
  }

  int status() {
    const Queue in_queue = queue();
    look(in_queue);
    fmt::print("{}\n", progress_text(counts(in_queue), 0));
    if (all_finished()) return merge();
    if (!in_queue) {
      fmt::print("Slurm does not respond\n");
      return exit_code::machine;
    }
    const auto waiting = std::count_if(in_queue->begin(), in_queue->end(),
                                       [](const auto& task) { return task.second == "PENDING"; });
    fmt::print("{} tasks: {} waiting, {} running, {} ended without all their results\n",
               shares_.size(), waiting, in_queue->size() - static_cast<std::size_t>(waiting),
               lost(in_queue).size());
    return exit_code::ok;
  }

 private:
  using Queue = std::optional<std::map<std::size_t, std::string>>;

  void make_shares() {
    const std::size_t points = plan_.points.size();
    const std::size_t most = static_cast<std::size_t>(command_.slurm.max_jobs);
    const auto asked = static_cast<std::size_t>(command_.slurm.points_per_job);
    const std::size_t per_task = asked > 0 ? asked : (points + most - 1) / most;
    const std::size_t tasks = (points + per_task - 1) / per_task;
    const std::vector<SweepRow> rows = sweep_rows(plan_, {}, {});
    shares_.resize(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      shares_[i].folder =
          folder_ / default_folder(plan_, {.index = i + 1, .count = tasks}).filename();
      if (tasks == 1) shares_[i].folder = folder_ / "shard_1_of_1";
    }
    for (const SweepRow& row : rows) {
      Share& share = shares_[row.row.row % tasks];
      share.points.insert(row.row.point);
      ++share.rows;
    }
  }

  void write_note() const {
    fs::create_directories(folder_ / "slurm");
    const Json note = {{"file", fs::absolute(command_.file).string()},
                       {"sets", command_.sets},
                       {"max_jobs", command_.slurm.max_jobs},
                       {"points_per_job", command_.slurm.points_per_job}};
    replace_file(folder_ / kNote, note.dump(2) + "\n");
    replace_file(folder_ / "sweep.json", to_json(info_));
    replace_file(script(), script_text());
  }

  [[nodiscard]] fs::path script() const { return folder_ / "slurm" / "task.sh"; }

  [[nodiscard]] std::string script_text() const {
    std::string sets;
    for (const std::string& set : command_.sets) sets += " --set " + shell_quoted(set);
    const std::string number = std::to_string(shares_.size());
    return fmt::format(
        "#!/bin/sh\n# Written by weft sweep: one share of the points.\n"
        "exec {} sweep {}{} --shard \"$SLURM_ARRAY_TASK_ID/{}\" -j {} -o {}/shard_"
        "\"$SLURM_ARRAY_TASK_ID\"_of_{}\n",
        shell_quoted(fs::read_symlink("/proc/self/exe").string()),
        shell_quoted(fs::absolute(command_.file).string()), sets, number,
        std::max(command_.jobs, 1), shell_quoted(folder_.string()), number);
  }

  [[nodiscard]] Queue queue() const { return slurm::tasks_in_queue(name_); }

  // Reads what has changed.
  void look(const Queue& in_queue) {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[i];
      if (share.finished) continue;
      const fs::path file = share.folder / "results.jsonl";
      std::error_code ignored;
      const std::uintmax_t size = fs::file_size(file, ignored);
      if (!ignored && size != share.size) {
        const std::string text = read_own(file);
        share.size = size;
        share.done = std::min(count(text, "\n"), share.rows);
        share.failed = std::min(count(text, "\"status\":\"failed\""), share.done);
      }
      // While its task runs the file is being written; then every row has to be there.
      if (in_queue && !in_queue->contains(i + 1)) share.finished = is_finished(share);
    }
  }

  [[nodiscard]] bool is_finished(const Share& share) const {
    std::set<std::string> missing = share.points;
    for (const Row& row : read_rows(share.folder / "results.jsonl", info_).rows) {
      if (row.version == info_.version) missing.erase(row.point);
    }
    return missing.empty();
  }

  [[nodiscard]] bool all_finished() const {
    return std::all_of(shares_.begin(), shares_.end(),
                       [](const Share& share) { return share.finished; });
  }

  [[nodiscard]] SweepCounts counts(const Queue& in_queue) const {
    SweepCounts counts{.all = plan_.points.size()};
    for (const Share& share : shares_) {
      counts.done += share.done;
      counts.failed += share.failed;
    }
    if (!in_queue) return counts;
    for (const auto& [task, state] : *in_queue) {
      if (state == "RUNNING")
        counts.running += static_cast<std::size_t>(std::max(command_.jobs, 1));
    }
    return counts;
  }

  // Tasks that are neither finished nor in the queue. Numbers from 1.
  std::vector<std::size_t> lost(const Queue& in_queue) {
    look(in_queue);
    std::vector<std::size_t> tasks;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (in_queue && !shares_[i].finished && !in_queue->contains(i + 1)) tasks.push_back(i + 1);
    }
    if (!in_queue) throw std::runtime_error("Slurm does not respond to squeue");
    return tasks;
  }

  void submit(const std::vector<std::size_t>& tasks) {
    if (tasks.empty()) return;
    for (const std::size_t task : tasks) ++shares_[task - 1].submissions;
    slurm::submit({.name = name_,
                   .script = script(),
                   .log = folder_ / "slurm",
                   .at_once = static_cast<std::size_t>(command_.slurm.max_jobs),
                   .cores = std::max(command_.jobs, 1),
                   .partition = command_.slurm.partition,
                   .options = command_.slurm.options},
                  tasks);
  }

  // Until all is finished, or given up; false: interrupted.
  bool wait() {
    using namespace std::chrono_literals;
    const SweepCounts before = counts(std::nullopt);
    SweepProgress progress(
        {.all = before.all, .before = before.done, .done = before.done, .failed = before.failed},
        command_.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
    bool told = false;
    while (!interrupted()) {
      const Queue in_queue = queue();
      look(in_queue);
      SweepCounts now = counts(in_queue);
      now.before = before.done;
      progress.put(now);
      if (!in_queue && !std::exchange(told, true)) {
        spdlog::warn("Slurm does not respond to squeue; still waiting");
      }
      if (all_finished() || (in_queue && !submit_lost(in_queue) && in_queue->empty())) return true;
      for (int tenths = 0; tenths < 20 && !interrupted(); ++tenths) {
        std::this_thread::sleep_for(100ms);
      }
    }
    return false;
  }

  // Whether anything is to be waited for because of it.
  bool submit_lost(const Queue& in_queue) {
    std::vector<std::size_t> again;
    for (const std::size_t task : lost(in_queue)) {
      if (shares_[task - 1].submissions < kMostSubmissions) again.push_back(task);
    }
    if (again.empty()) return false;
    spdlog::warn("tasks {} ended without all their results and are resubmitted",
                 slurm::ranges_text(again));
    submit(again);
    return true;
  }

  int merge() {
    std::vector<fs::path> folders;
    for (const Share& share : shares_) {
      if (share.finished) {
        folders.push_back(share.folder);
      } else {
        spdlog::error("{} has ended {} times without all its results; it printed {}",
                      share.folder.filename().string(), share.submissions,
                      (folder_ / "slurm").string());
      }
    }
    if (folders.empty()) return exit_code::user;
    const Merged merged = merge_rows(folders);
    for (const std::string& problem : merged.problems) spdlog::error("{}", problem);
    write_merged(folder_, merged);
    const int code = tell_outcome(merged.rows, info_, folder_);
    return merged.problems.empty() ? code : std::max(code, exit_code::user);
  }

  const SweepPlan& plan_;
  const SweepCommand& command_;
  SweepInfo info_;
  fs::path folder_;
  std::string name_;  // of the jobs: found again by it, also by another weft
  std::vector<Share> shares_;
};

}  // namespace

int launch_on_slurm(const SweepPlan& plan, const SweepCommand& command) {
  return SlurmSweep(plan, command).launch();
}

int slurm_status(const SweepCommand& command) {
  const fs::path folder = *command.status;
  const std::string text = read_own(folder / kNote);
  if (text.empty()) {
    spdlog::error("{}: no sweep was started there with --launcher slurm", folder.string());
    return exit_code::user;
  }
  SweepCommand started = command;
  started.output = folder;
  try {
    const Json note = Json::parse(text);
    started.file = note.at("file").get<std::string>();
    started.sets = note.at("sets").get<std::vector<std::string>>();
    started.slurm.max_jobs = note.at("max_jobs").get<int>();
    started.slurm.points_per_job = note.at("points_per_job").get<int>();
  } catch (const Json::exception&) {
    spdlog::error("{}: damaged; start the sweep again, with --launcher slurm as before",
                  (folder / kNote).string());
    return exit_code::user;
  }
  const LoadedPlan loaded =
      load_plan(started.file, {.sets = started.sets, .config_dirs = config_dirs});
  print_problems(loaded.problems);
  if (!loaded.plan) return exit_code::user;
  return SlurmSweep(*loaded.plan, started).status();
}

}  // namespace weft
