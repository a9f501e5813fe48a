#include "sim/app/sensitivity_command.h"

#include <spdlog/spdlog.h>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/files/staged.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/wrong_file.h"
#include "sim/sweep/interrupt.h"
#include "sim/tune/sensitivity.h"
#include "sim/tune/sensitivity_text.h"

namespace weft {
namespace {

constexpr const char* kSensitivityExample =
    "example:\n"
    "  weft sensitivity configs/scenarios/embedding_a2a_4_gpus.yaml --set 'modes=[bulk, fused]'\n"
    "\n"
    "Each number of the machine that its files say is changed by 5 % up and down, all else as it "
    "is.\n"
    "-0.40 in a mode's column: 1 % more of this number takes 0.4 % off its time. How sure a "
    "number\n"
    "is, its file says: [M] measured (3 %), [P] published (5 %), [S] [D] digest, derived (10 %),\n"
    "[BG] background knowledge (20 %), as standard deviations; the first table says what that\n"
    "leaves open, not what weft's laws may be off besides (docs/validation.md).\n"
    "exit status: 0 done; 1 a mistake in the scenario or on the command line; 2 the system failed\n"
    "(cannot write or allocate); 3 a run met a bug in weft; 130 Ctrl-C\n";

Planned planned(const SensitivityCommand& command) {
  Planned planned;
  planned.reads = {command.scenario};
  if (command.csv) planned.write("--csv", *command.csv);
  return planned;
}

Sensitivity ask(const SensitivityCommand& command, const LoadOptions& load) {
  CountProgress progress("runs simulated", CountProgress::Total::exact,
                         command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  const std::unique_ptr<KnownRuns> known = known_runs(command.known, known_folder(command.known));
  return sensitivity_of(
      command.scenario,
      {.load = load,
       .step = command.step_percent / 100,
       .jobs = jobs_or_cores(command.jobs),
       .on_run = [&progress](std::size_t done, std::size_t all) { progress.update(done, all); },
       .known = known.get()});
}

}  // namespace

CLI::App* add_sensitivity(CLI::App& app, SensitivityCommand& command) {
  CLI::App* sensitivity = app.add_subcommand(
      "sensitivity", "Print which numbers of the machine a scenario's times depend on.");
  sensitivity->footer(kSensitivityExample);
  sensitivity->add_option("SCENARIO", command.scenario, "YAML file")->type_name("FILE")->required();
  sensitivity->add_option("--set", command.sets, "Change one value first (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  sensitivity
      ->add_option("--step", command.step_percent,
                   "Change each number by so many per cent; default: 5")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.1, 50.0));
  sensitivity->add_option("--csv", command.csv, "Write all numbers to this file")
      ->type_name("FILE");
  sensitivity
      ->add_option("-j,--jobs", command.jobs, "Number of concurrent runs; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  add_known(*sensitivity, command.known, "none");
  sensitivity->add_flag("--json", command.json, "Print all numbers as JSON");
  sensitivity->add_flag("-q,--quiet", command.quiet, "Show no progress");
  return sensitivity;
}

int sensitivity_command(const SensitivityCommand& command) {
  const LoadOptions load{.sets = command.sets, .config_dirs = config_dirs(command.scenario)};
  const Loaded loaded = load_scenario(command.scenario, load);
  print_problems(or_its_command(loaded.problems, command.scenario, FileKind::scenario));
  if (!loaded.scenario || refused(planned(command))) return exit_code::user;
  catch_interrupts();
  Sensitivity found;
  try {
    found = ask(command, load);
  } catch (const Interrupted&) {
    return exit_code::interrupted;
  }
  if (found.wrong_comments.has_errors()) {
    print_problems(found.wrong_comments);
    return found.exit_code;
  }
  if (!found.problem.empty()) {
    spdlog::error("{}", found.problem);
    return found.exit_code;
  }
  if (command.csv) {
    write_file(*command.csv, csv_of(found));
    spdlog::info("all numbers are in {}", command.csv->string());
  }
  print_text(command.json ? json_of(found) : text_of(found));
  return exit_code::ok;
}

}  // namespace weft
