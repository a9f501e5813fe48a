#include "sim/sweep/slurm_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "sim/files/read_text.h"
#include "sim/files/staged.h"
#include "sim/run/replay_text.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/slurm.h"
#include "sim/sweep/store.h"
#include "sim/sweep/sweep_rows.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kNote = "slurm.json";  // what --status needs to know
constexpr int kMostSubmissions = 5;          // of one task

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t number = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++number;
  return number;
}

SweepOptions with_absolute_folder(SweepOptions options) {
  options.folder = fs::absolute(options.folder);
  return options;
}

}  // namespace

SlurmSweep::SlurmSweep(const SweepPlan& plan, const SweepOptions& options, SlurmOptions slurm,
                       SweepMessages messages)
    : plan_(plan),
      options_(with_absolute_folder(options)),
      slurm_(std::move(slurm)),
      messages_(std::move(messages)),
      info_(info_of(plan, options_)),
      name_("weft_" + fnv1a_64_hex(folder().lexically_normal().string())) {
  make_shares();
}

void SlurmSweep::launch() {
  write_note();
  submit(lost(queue()));
}

SlurmSweep::State SlurmSweep::state() {
  const Queue in_queue = queue();
  look(in_queue);
  State state{.counts = counts(in_queue), .finished = all_finished(), .tasks = std::nullopt};
  if (!in_queue) return state;
  const auto waiting = static_cast<std::size_t>(
      std::count_if(in_queue->begin(), in_queue->end(),
                    [](const auto& task) { return task.second == "PENDING"; }));
  state.tasks = Tasks{
      .waiting = waiting, .running = in_queue->size() - waiting, .lost = lost(in_queue).size()};
  return state;
}

void SlurmSweep::make_shares() {
  const std::size_t points = plan_.points.size();
  const std::size_t most = static_cast<std::size_t>(slurm_.max_jobs);
  const auto asked = static_cast<std::size_t>(slurm_.points_per_job);
  const std::size_t per_task = asked > 0 ? asked : (points + most - 1) / most;
  const std::size_t tasks = (points + per_task - 1) / per_task;
  const std::vector<SweepRow> rows = sweep_rows(plan_, {}, {});
  shares_.resize(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    shares_[i].folder =
        folder() / default_folder(plan_, {.index = i + 1, .count = tasks}).filename();
    if (tasks == 1) shares_[i].folder = folder() / "shard_1_of_1";
  }
  for (const SweepRow& row : rows) {
    Share& share = shares_[row.row.row % tasks];
    share.points.insert(row.row.point);
    ++share.rows;
  }
}

void SlurmSweep::write_note() const {
  fs::create_directories(folder() / "slurm");
  const Json note = {{"file", fs::absolute(plan_.file).string()},
                     {"sets", options_.sets},
                     {"max_jobs", slurm_.max_jobs},
                     {"points_per_job", slurm_.points_per_job},
                     {"only", slurm_.only}};
  replace_file(folder() / kNote, note.dump(2) + "\n");
  replace_file(folder() / "sweep.json", to_json(info_));
  replace_file(script(), script_text());
}

fs::path SlurmSweep::script() const { return folder() / "slurm" / "task.sh"; }

std::string SlurmSweep::script_text() const {
  std::string sets;
  for (const std::string& set : options_.sets) sets += " --set " + shell_quoted(set);
  for (const std::string& known : slurm_.known) sets += ' ' + shell_quoted(known);
  for (const std::size_t point : slurm_.only) {
    sets += fmt::format("{}{}", point == slurm_.only.front() ? " --only " : ",", point);
  }
  const std::string number = std::to_string(shares_.size());
  return fmt::format(
      "#!/bin/sh\n# Written by weft sweep: one share of the points.\n"
      "exec {} sweep {}{} --shard \"$SLURM_ARRAY_TASK_ID/{}\" -j {} -o {}/shard_"
      "\"$SLURM_ARRAY_TASK_ID\"_of_{}\n",
      shell_quoted(fs::read_symlink("/proc/self/exe").string()),
      shell_quoted(fs::absolute(plan_.file).string()), sets, number, options_.jobs,
      shell_quoted(folder().string()), number);
}

SlurmSweep::Queue SlurmSweep::queue() const { return slurm::tasks_in_queue(name_); }

// Reads what has changed.
void SlurmSweep::look(const Queue& in_queue) {
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

bool SlurmSweep::is_finished(const Share& share) const {
  std::set<std::string> missing = share.points;
  for (const Row& row : read_rows(share.folder / "results.jsonl", info_).rows) {
    if (row.version == info_.version) missing.erase(row.point);
  }
  return missing.empty();
}

bool SlurmSweep::all_finished() const {
  return std::all_of(shares_.begin(), shares_.end(),
                     [](const Share& share) { return share.finished; });
}

SweepCounts SlurmSweep::counts(const Queue& in_queue) const {
  SweepCounts counts{.all = plan_.points.size()};
  for (const Share& share : shares_) {
    counts.done += share.done;
    counts.failed += share.failed;
  }
  if (!in_queue) return counts;
  for (const auto& [task, state] : *in_queue) {
    if (state == "RUNNING") counts.running += static_cast<std::size_t>(options_.jobs);
  }
  return counts;
}

// Tasks that are neither finished nor in the queue. Numbers from 1.
std::vector<std::size_t> SlurmSweep::lost(const Queue& in_queue) {
  look(in_queue);
  std::vector<std::size_t> tasks;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (in_queue && !shares_[i].finished && !in_queue->contains(i + 1)) tasks.push_back(i + 1);
  }
  if (!in_queue) throw std::runtime_error("Slurm does not respond to squeue");
  return tasks;
}

void SlurmSweep::submit(const std::vector<std::size_t>& tasks) {
  if (tasks.empty()) return;
  for (const std::size_t task : tasks) ++shares_[task - 1].submissions;
  slurm::submit({.name = name_,
                 .script = script(),
                 .log = folder() / "slurm",
                 .at_once = static_cast<std::size_t>(slurm_.max_jobs),
                 .cores = options_.jobs,
                 .partition = slurm_.partition,
                 .options = slurm_.options},
                tasks);
}

bool SlurmSweep::wait(const OnCounts& on_counts) {
  using namespace std::chrono_literals;
  SweepCounts now = counts(std::nullopt);
  const std::size_t before = now.before = now.done;
  on_counts(now);
  bool told = false;
  while (!interrupted()) {
    const Queue in_queue = queue();
    look(in_queue);
    now = counts(in_queue);
    now.before = before;
    on_counts(now);
    if (!in_queue && !std::exchange(told, true)) {
      messages_.warning("Slurm does not respond to squeue; still waiting");
    }
    if (all_finished() || (in_queue && !submit_lost(in_queue) && in_queue->empty())) return true;
    for (int tenths = 0; tenths < 20 && !interrupted(); ++tenths) {
      std::this_thread::sleep_for(100ms);
    }
  }
  return false;
}

// Whether anything is to be waited for because of it.
bool SlurmSweep::submit_lost(const Queue& in_queue) {
  std::vector<std::size_t> again;
  for (const std::size_t task : lost(in_queue)) {
    if (shares_[task - 1].submissions < kMostSubmissions) again.push_back(task);
  }
  if (again.empty()) return false;
  messages_.warning(fmt::format("tasks {} ended without all their results and are resubmitted",
                                slurm::ranges_text(again)));
  submit(again);
  return true;
}

std::optional<Merged> SlurmSweep::merge() {
  std::vector<fs::path> folders;
  for (const Share& share : shares_) {
    if (share.finished) {
      folders.push_back(share.folder);
    } else {
      messages_.error(fmt::format("{} has ended {} times without all its results; it printed {}",
                                  share.folder.filename().string(), share.submissions,
                                  (folder() / "slurm").string()));
    }
  }
  if (folders.empty()) return std::nullopt;
  Merged merged = merge_rows(folders);
  for (const std::string& problem : merged.problems) messages_.error(problem);
  write_merged(folder(), merged);
  return merged;
}

std::variant<SlurmNote, std::string> read_note(const fs::path& folder) {
  const std::string text = read_own(folder / kNote);
  if (text.empty()) {
    return fmt::format("{}: no sweep was started there with --launcher slurm", folder.string());
  }
  try {
    const Json note = Json::parse(text);
    return SlurmNote{.file = note.at("file").get<std::string>(),
                     .sets = note.at("sets").get<std::vector<std::string>>(),
                     .max_jobs = note.at("max_jobs").get<int>(),
                     .points_per_job = note.at("points_per_job").get<int>(),
                     .only = note.value("only", std::vector<std::size_t>{})};
  } catch (const Json::exception&) {
    return fmt::format("{}: damaged; start the sweep again, with --launcher slurm as before",
                       (folder / kNote).string());
  }
}

}  // namespace weft
