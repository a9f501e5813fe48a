#include "sim/serve/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>
#include <utility>
#include <variant>

#include "sim/files/staged.h"
#include "sim/report/gzip.h"
#include "sim/report/result_files.h"
#include "sim/report/timeline.h"
#include "sim/run/replay_text.h"
#include "sim/scenario/modes.h"
#include "sim/serve/confined.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTimelineFile = "timeline.json.gz";
// A browser holds some times as much of it. Half of it is for kernels and counters: those of some
// hundred GPUs are wanted for a pipeline, and WGs are not then.
Bytes most_of_timeline(Detail detail) {
  return detail == Detail::kernels ? bytes(250'000'000) : bytes(60'000'000);
}

// Thrown by the run that is to stop.
struct StoppedRun {};

bool is_file_of_result(const std::string& name) {
  const std::vector<std::string> names = result_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

const char* name_of_state(int state) {
  constexpr std::array kNames = {"idle", "running", "done", "failed"};
  return kNames.at(static_cast<std::size_t>(state));
}

}  // namespace

bool Runner::start(const AskedRun& asked) {
  const std::lock_guard starting(start_);
  {
    const std::lock_guard lock(lock_);
    if (state_ == State::running) return false;
    state_ = State::running;
    ++number_;
    mode_ = why_ = result_ = "";
    progress_.reset();
    problems_ = {};
    left_out_ = {};
    stopped_ = false;
  }
  try {
    thread_ = std::jthread([this, asked] { run(asked); });
  } catch (const std::system_error& error) {
    fail(fmt::format("no thread for the run: {}", error.code().message()));
  }
  return true;
}

void Runner::run(const AskedRun& asked) {
  try {
    Loaded loaded = load_source(served_, asked.source, asked.sets);
    add_problems(loaded.problems);
    if (!loaded.scenario) return fail("");
    end_if_stopped();
    simulate(asked, loaded);
  } catch (const StoppedRun&) {
    fail("stopped");
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void Runner::simulate(const AskedRun& asked, Loaded& loaded) {
  loaded.scenario->run.cores = cores_;
  loaded.scenario->run.known = known_;
  ScenarioRun run(loaded);
  Diagnostics problems = confined(run.problems(), run.inputs(), readable(served_, asked.source));
  if (run.ready() && !problems.has_errors()) problems.append(run.check(asked.source.name));
  Bytes most = most_of_timeline(asked.timeline.value_or(Detail::kernels));
  if (asked.timeline && run.ready() && !problems.has_errors()) {
    const auto room = run.room_for_timeline(*asked.timeline, asked.source.name, problems);
    most = std::min(most, room.value_or(most));
  }
  add_problems(problems);
  if (!run.ready() || problems.has_errors()) return fail("");
  end_if_stopped();
  const TimelineOptions options{.detail = asked.timeline.value_or(Detail::intervals),
                                .limit = most};
  run.record(asked.timeline ? record_options(options, loaded.scenario->modes.size())
                            : RecordOptions{});
  const auto outcome = run.run(replay_text(asked.source.file, asked.sets),
                               [this](Mode mode) { return begin(mode); });
  if (const Failure* failure = std::get_if<Failure>(&outcome)) return fail(failure->why);
  write(asked, std::get<RunReport>(outcome), most);
}

void Runner::end_if_stopped() const {
  if (stopped_) throw StoppedRun{};
}

OnProgress Runner::begin(Mode mode) {
  const std::lock_guard lock(lock_);
  mode_ = name_of(mode);
  progress_.reset();
  return [this](const Progress& progress) {
    end_if_stopped();
    const std::lock_guard updating(lock_);
    progress_ = progress;
  };
}

// Into a folder that is new: create_directory says whether it is. All texts are made before it.
void Runner::write(const AskedRun& asked, const RunReport& report, Bytes most) {
  std::vector<OutputFile> files = result_files(report);
  Timeline shown;
  std::string packed;
  if (asked.timeline) {
    shown = timeline(report, {.detail = *asked.timeline, .limit = most});
    packed = gzipped(shown.json);
  }
  end_if_stopped();
  std::string name = asked.name.empty() ? free_name(served_.folder, asked.source) : asked.name;
  while (!fs::create_directory(served_.folder / name)) {
    if (!asked.name.empty()) return fail(fmt::format("{} is there already", name));
    name = free_name(served_.folder, asked.source);
  }
  const fs::path folder = served_.folder / name;
  try {
    Staged staged;
    for (const OutputFile& file : files) staged.add(folder / file.name, file.content);
    staged.add_manifest(folder / kFilesOfResult, is_file_of_result);
    if (asked.timeline) staged.add(folder / kTimelineFile, packed);
    staged.commit();
  } catch (...) {
    std::error_code ignored;
    fs::remove(folder, ignored);  // it is empty: nothing is written before all is
    throw;
  }
  const std::lock_guard lock(lock_);
  state_ = State::done;
  result_ = name;
  left_out_ = std::move(shown.left_out);
}

void Runner::add_problems(const Diagnostics& problems) {
  const std::lock_guard lock(lock_);
  problems_.append(problems);
}

void Runner::fail(const std::string& why) {
  const std::lock_guard lock(lock_);
  state_ = State::failed;
  why_ = why;
}

ServedJson Runner::status() const {
  const std::lock_guard lock(lock_);
  ServedJson json{{"state", name_of_state(static_cast<int>(state_))},
                  {"number", number_},
                  {"mode", mode_},
                  {"problems", to_json(problems_)},
                  {"why", why_},
                  {"result", result_},
                  {"left_out", left_out_}};
  if (state_ == State::running && progress_) {
    json["wgs"] = progress_->wgs;
    json["wgs_done"] = progress_->wgs_done;
    json["simulated_us"] = to_microseconds(progress_->now - SimTime{});
  }
  return json;
}

}  // namespace weft
