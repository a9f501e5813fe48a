#include "sim/app/tune_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/app/time_limit.h"
#include "sim/app/tuned_sweep.h"
#include "sim/files/staged.h"
#include "sim/report/aligned.h"
#include "sim/report/numbers.h"
#include "sim/scenario/file_kind.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/workload_kinds.h"
#include "sim/sweep/interrupt.h"
#include "sim/tune/pairs_space.h"
#include "sim/tune/suggested.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The searches of a scenario: of each mode at its best, or one of all modes together.
struct Searched {
  std::optional<Mode> mode;  // none: all
  TunedSweep outcome;
};

const Searched* best_of(const std::vector<Searched>& all) {
  const Searched* best = nullptr;
  for (const Searched& one : all) {
    if (one.outcome.best.empty()) continue;
    if (best == nullptr || one.outcome.cost < best->outcome.cost) best = &one;
  }
  return best;
}

std::string modes_text(const std::vector<Searched>& all, const Searched& best) {
  std::vector<TableRow> table{{"mode", "best", "of the best", "as it is", "knobs"}};
  for (const Searched& one : all) {
    const TunedSweep& found = one.outcome;
    if (found.best.empty()) {
      table.push_back({name_of(*one.mode), "-", "-", "-",
                       one.outcome.code == exit_code::ok ? "none tried: stopped" : ""});
      continue;
    }
    table.push_back({name_of(*one.mode), found.best, ratio_text(best.outcome.cost / found.cost),
                     found.as_it_is, found.knobs});
  }
  return aligned(table);
}

std::string modes_json(const std::vector<Searched>& all, const Searched& best) {
  nlohmann::ordered_json json{{"best_mode", name_of(*best.mode)}};
  for (const Searched& one : all) {
    if (one.outcome.best.empty()) continue;
    json["modes"][name_of(*one.mode)] = nlohmann::ordered_json::parse(one.outcome.json);
  }
  return json.dump(2) + '\n';
}

// The text of a sweep file of the scenario, which it has to name so; empty: there is none, and the
// reason is said.
using SpaceText = std::function<std::string(const std::string& named)>;

// That sweep, whose file lies beside its results.
TunedSweep tune_space(const TuneCommand& command, const fs::path& folder, KnownRuns& known,
                      const SpaceText& text_of) {
  const fs::path space = folder / "space.yaml";
  Planned planned;
  planned.reads = {command.file};
  planned.write("--output", folder, {"space.yaml"});
  if (refused(planned)) return {.code = exit_code::user};
  const fs::path named = fs::absolute(command.file).lexically_proximate(fs::absolute(folder));
  const std::string text = text_of(named.generic_string());
  if (text.empty()) return {.code = exit_code::user};
  write_file(space, text);
  TuneCommand there = command;
  there.output = folder;
  there.sets.clear();  // they are in it
  return tune_sweep(space, there, known);
}

TunedSweep tune_mode(const TuneCommand& command, const LoadOptions& options, const fs::path& folder,
                     std::optional<Mode> mode, KnownRuns& known) {
  return tune_space(command, folder, known, [&](const std::string& named) {
    return suggested_space(command.file, options, named, mode);
  });
}

// How single pairs are overlapped, which are first tried by themselves.
TunedSweep tune_pairs(const TuneCommand& command, const LoadOptions& options,
                      const fs::path& folder, KnownRuns& known) {
  return tune_space(command, folder, known, [&](const std::string& named) {
    CountProgress progress("modes of pairs tried by themselves", CountProgress::Total::exact,
                           command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
    const PairTrials how{
        .at_a_time = jobs_or_cores(command.jobs),
        .stop_if_asked =
            [] {
              if (interrupted()) throw Interrupted{};
            },
        .on_done = [&](std::size_t done, std::size_t all) { progress.update(done, all); }};
    const PairsSpace space = pairs_space(command.file, options, named, how, known);
    print_problems(space.problems);
    return space.text;
  });
}

// A search that ends when its time is over, which is no failure.
TunedSweep limited(const std::optional<Seconds>& time, const std::function<TunedSweep()>& search) {
  TunedSweep found;
  {
    const TimeLimit limit(time);
    try {
      found = search();
    } catch (const Interrupted&) {  // before there are points
      found.code = exit_code::interrupted;
    }
  }
  found.was_stopped = found.code == exit_code::interrupted;
  if (found.was_stopped && !interrupted()) found.code = exit_code::ok;
  return found;
}

// The column of one mode that is not mixed, "fused_time_us", which pairs by themselves do not have.
const Objective* of_another_mode(const TuneCommand& command, WorkloadKind kind) {
  for (const Mode mode : modes_of(kind)) {
    if (mode == Mode::mixed) continue;
    for (const Objective& objective : command.objectives) {
      if (objective.column.starts_with(std::string(name_of(mode)) + '_')) return &objective;
    }
  }
  return nullptr;
}

// Whether there is something for which --pairs cannot be; which is said.
bool cannot_have_pairs(const TuneCommand& command, const Scenario* scenario) {
  if (!command.pairs && !command.then_pairs) return false;
  const char* option = command.pairs ? "--pairs" : "--then-pairs";
  if (scenario == nullptr) {
    spdlog::error("{}: {} is a sweep file, which says what varies", option, command.file.string());
    return true;
  }
  const WorkloadKind kind = scenario->workload.kind;
  if (!is_model(kind)) {
    spdlog::error(
        "{}: {} is no whole model, whose pairs could differ; without it its knobs are varied",
        option, name_of(kind));
    return true;
  }
  const bool sets_modes = std::any_of(
      command.sets.begin(), command.sets.end(),
      [](const std::string& set) { return set.substr(0, set.find_first_of("=.")) == "modes"; });
  if (sets_modes) spdlog::error("{} is of mode mixed; leave out --set modes=...", option);
  const Objective* of_another = of_another_mode(command, kind);
  if (of_another != nullptr) {
    spdlog::error(
        "{} is of mode mixed, which has no column '{}'; name a column that all modes have", option,
        of_another->column);
  }
  return sets_modes || of_another != nullptr;
}

// Of a column that is one mode's only that one: "fused_time_us".
std::vector<Mode> modes_of_column(const TuneCommand& command, const std::vector<Mode>& modes) {
  if (command.objectives.empty()) return modes;
  for (const Mode mode : modes) {
    if (command.objectives.front().column.starts_with(std::string(name_of(mode)) + '_')) {
      return {mode};
    }
  }
  return modes;
}

std::vector<Searched> tune_modes(const TuneCommand& command, const LoadOptions& options,
                                 const fs::path& folder, KnownRuns& known, const Allowance& time) {
  std::vector<Searched> all;
  const std::vector<Mode> modes = modes_of_column(command, modes_to_tune(command.file, options));
  for (const Mode mode : modes) {
    const std::size_t to_come = modes.size() - all.size() + (command.then_pairs ? 1 : 0);
    all.push_back({.mode = mode, .outcome = limited(time.share(to_come), [&] {
                                   return tune_mode(command, options, folder / name_of(mode), mode,
                                                    known);
                                 })});
    const TunedSweep& last = all.back().outcome;
    if (last.code == exit_code::interrupted || last.lacks_column) break;
  }
  for (std::size_t i = all.size(); i > 0 && i < modes.size(); ++i) {
    all.push_back({.mode = modes[i], .outcome = {}});  // not tried
  }
  if (all.empty()) {
    all.push_back({.mode = {}, .outcome = limited(time.share(1), [&] {
                                 return tune_mode(command, options, folder, {}, known);
                               })});
  }
  return all;
}

// The pairs of the best that was found, in a folder beside those of the modes.
std::optional<TunedSweep> pairs_of_best(const TuneCommand& command, const fs::path& folder,
                                        const std::vector<Searched>& all, KnownRuns& known,
                                        const Allowance& time) {
  const Searched* best = best_of(all);
  if (best == nullptr) return std::nullopt;
  TuneCommand next = command;
  next.file = best->outcome.folder / "best.yaml";
  next.sets.clear();  // they are in it
  const LoadOptions options{.sets = {}, .config_dirs = config_dirs(next.file)};
  return limited(time.share(1), [&] { return tune_pairs(next, options, folder / "pairs", known); });
}

int code_of_modes(const std::vector<Searched>& all) {
  int code = exit_code::ok;
  for (const Searched& one : all) code = std::max(code, one.outcome.code);
  return code;
}

// What comes of --then-pairs, beside what the first search has found.
struct PairsBeside {
  std::string text;
  nlohmann::ordered_json json;
  bool better = false;
};

PairsBeside pairs_beside(const TunedSweep& first, const std::optional<TunedSweep>& pairs,
                         int code_of_first) {
  const int code = pairs ? pairs->code : code_of_first;
  if (pairs && !pairs->best.empty()) {
    const bool better = pairs->cost < first.cost;
    return {.text = fmt::format(
                "\nthen its pairs, each in its own way\n{}\nthe better: {}, {} for {}\n",
                pairs->text, better ? "pairs, each in its own way" : "the first",
                better ? pairs->best : first.best, better ? first.best : pairs->best),
            .json = {{"then_pairs", nlohmann::ordered_json::parse(pairs->json)},
                     {"better", better ? "then_pairs" : "first"}},
            .better = better};
  }
  const char* why = code == exit_code::ok || code == exit_code::interrupted ? "stopped" : "failed";
  return {.text = fmt::format("\npairs: none tried: {}\n", why),
          .json = {{"then_pairs", {{"none_tried", why}}}, {"better", "first"}}};
}

void tell(const TuneCommand& command, const std::vector<Searched>& all,
          const std::optional<TunedSweep>& pairs) {
  const Searched* best = best_of(all);
  if (best == nullptr) return;
  const bool several = all.size() > 1;
  PairsBeside beside;
  if (command.then_pairs) beside = pairs_beside(best->outcome, pairs, code_of_modes(all));
  if (command.json) {
    std::string json = several ? modes_json(all, *best) : best->outcome.json;
    if (command.then_pairs) {
      auto both = nlohmann::ordered_json::parse(json);
      both.update(beside.json);
      json = both.dump(2) + '\n';
    }
    print_text(json);
  } else {
    print_text((several ? modes_text(all, *best) + '\n' : "") + best->outcome.text);
    print_text(beside.text);
  }
  spdlog::info("best.yaml, tune.json and results.csv are in {}",
               (beside.better ? pairs->folder : best->outcome.folder).string());
}

int code_of(const std::vector<Searched>& all, const std::optional<TunedSweep>& pairs) {
  const int code = std::max(code_of_modes(all), pairs ? pairs->code : int{exit_code::ok});
  if (code == exit_code::interrupted) spdlog::warn("stopped; the same command continues");
  if (code != exit_code::ok || best_of(all) != nullptr) return code;
  spdlog::error("no point was simulated in this time; the same command continues");
  return exit_code::user;
}

// What pairs by themselves take, which nothing else keeps, is kept beside the results until the
// search has ended, so that the same command does not try them again.
std::optional<fs::path> known_beside(const TuneCommand& command, const fs::path& folder) {
  return command.pairs || command.then_pairs ? std::optional(folder / kKnownFolder) : std::nullopt;
}

bool has_ended(const std::vector<Searched>& all, const std::optional<TunedSweep>& pairs) {
  const auto ended = [](const TunedSweep& one) {
    return one.code == exit_code::ok && !one.was_stopped;
  };
  return std::all_of(all.begin(), all.end(),
                     [&](const Searched& one) { return ended(one.outcome); }) &&
         (!pairs || ended(*pairs));
}

}  // namespace

int tune_command(const TuneCommand& asked) {
  catch_interrupts();
  TuneCommand command = asked;
  command.sets = with_ranges(command.sets, command.objectives);
  const Allowance time(command.minutes ? std::optional<Seconds>(60 * *command.minutes)
                                       : std::nullopt);
  const fs::path folder =
      command.output.value_or(fs::path("results") / (command.file.stem().string() + "_tuned"));
  const std::optional<fs::path> beside = known_beside(command, folder);
  const std::optional<fs::path> known_in = known_folder(command.known, beside);
  const std::unique_ptr<KnownRuns> known = known_runs(command.known, known_in);
  std::vector<Searched> all;
  std::optional<TunedSweep> pairs;
  if (kind_of_file(command.file) == FileKind::scenario) {
    const LoadOptions options{.sets = command.sets, .config_dirs = config_dirs(command.file)};
    const Loaded loaded = load_scenario(command.file, options);
    print_problems(loaded.problems);
    if (!loaded.scenario || cannot_have_pairs(command, &*loaded.scenario)) return exit_code::user;
    if (command.pairs) {
      all.push_back({.mode = {}, .outcome = limited(time.share(1), [&] {
                                   return tune_pairs(command, options, folder, *known);
                                 })});
    } else {
      all = tune_modes(command, options, folder, *known, time);
    }
    if (command.then_pairs && code_of_modes(all) == exit_code::ok) {
      pairs = pairs_of_best(command, folder, all, *known, time);
    }
  } else if (cannot_have_pairs(command, nullptr)) {
    return exit_code::user;
  } else {
    all.push_back({.mode = {}, .outcome = limited(time.share(1), [&] {
                                 return tune_sweep(command.file, command, *known);
                               })});
  }
  const bool was_named = !command.known.folder.empty();
  if (!was_named && known_in && known_in == beside && has_ended(all, pairs)) {
    KnownFiles::remove(*known_in);
  }
  tell(command, all, pairs);
  return code_of(all, pairs);
}

}  // namespace weft
