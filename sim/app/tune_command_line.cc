#include "sim/app/tune_command_line.h"

#include <set>
#include <string>

#include "sim/app/sweep_command_line.h"

namespace weft {
namespace {

constexpr const char* kTuneExample =
    "example: the knobs that suit a scenario\n"
    "  weft tune configs/scenarios/embedding_a2a_2_nodes.yaml --points 20\n"
    "\n"
    "example: of a model, each pair of an operator and a collective\n"
    "  weft tune configs/scenarios/models/llama3_70b_pairs.yaml --pairs --points 60\n"
    "\n"
    "example: those of a sweep file; the layout with most tokens a second\n"
    "  weft tune configs/tune/layout_llama3_70b.yaml --maximize tokens_per_s\n"
    "\n"
    "example: several things wanted, which have a front\n"
    "  weft tune configs/tune/layout_llama3_70b.yaml --maximize tokens_per_s_per_gpu \\\n"
    "    --minimize memory_of_fullest_gpu_bytes --minutes 10\n"
    "\n"
    "Of a scenario, each mode is tuned by itself, in a folder of its name: space.yaml there says\n"
    "which knobs were tried and can be edited: weft tune FOLDER/MODE/space.yaml. A knob that "
    "--set\n"
    "gives a value keeps it. best.yaml is the best scenario, tune.json all that is printed of it.\n"
    "Finished points are on disk immediately; the same command continues where it stopped.\n"
    "exit status: 0 done; 1 a mistake in the file or on the command line, or no point can be run;\n"
    "2 the system failed (cannot write or allocate); 3 a point met a bug in weft; 130 Ctrl-C\n";

// In the order of the command line.
void add_objectives(CLI::App& tune, TuneCommand& command) {
  CLI::Option* smallest =
      tune.add_option("--minimize",
                      "Column of results.csv to be smallest; a field of all modes: of the best "
                      "one; default: time_us. With several of --minimize and --maximize the first "
                      "says what is best, and all what no other beats (repeatable)")
          ->type_name("COLUMN")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
  CLI::Option* largest =
      tune.add_option("--maximize",
                      "Column to be largest, such as tokens_per_s_per_gpu (repeatable)")
          ->type_name("COLUMN")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
  tune.callback([&tune, &command, smallest, largest] {
    std::size_t smaller = 0;
    std::size_t larger = 0;
    for (const CLI::Option* option : tune.parse_order()) {
      if (option == smallest) {
        command.objectives.push_back({.column = smallest->results()[smaller++]});
      }
      if (option == largest) {
        command.objectives.push_back(
            {.column = largest->results()[larger++], .larger_is_better = true});
      }
    }
    std::set<std::string> named;
    for (const Objective& objective : command.objectives) {
      if (named.insert(objective.column).second) continue;
      throw CLI::ValidationError("--minimize, --maximize",
                                 "'" + objective.column + "' is given twice");
    }
  });
}

}  // namespace

CLI::App* add_tune(CLI::App& app, TuneCommand& command) {
  CLI::App* tune = app.add_subcommand(
      "tune", "Find the best of many configurations, and what each knob is worth.");
  tune->footer(kTuneExample);
  tune->add_option("FILE", command.file,
                   "A scenario, whose knobs are tried; or a sweep file, which says which")
      ->type_name("FILE")
      ->required();
  add_objectives(*tune, command);
  CLI::Option* pairs = tune->add_flag(
      "--pairs", command.pairs,
      "Of a scenario of a whole model: vary, instead of its other knobs, how each pair "
      "of an operator and a collective is overlapped, in mode mixed (workload.pairs)");
  tune->add_flag("--then-pairs", command.then_pairs,
                 "Of a scenario of a whole model: first its other knobs, then --pairs of the best, "
                 "in the folder pairs")
      ->excludes(pairs);
  tune->add_option("--points", command.points, "Simulate at most so many points; default: 200")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  tune->add_option("--minutes", command.minutes,
                   "Stop after so long, but not before a point has ended, and say what was found; "
                   "the same command continues; each mode of a scenario has an equal share")
      ->type_name("N")
      ->check(CLI::Range(0.001, 1e6));
  tune->add_option("--tie", command.tie_percent,
                   "List what is within so many per cent of the best, which weft cannot tell "
                   "apart; default: 3")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0));
  tune->add_option("--set", command.sets, "Change one value in all points (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  tune->add_option("-o,--output", command.output,
                   "Folder for the results; default: results/NAME_tuned")
      ->type_name("DIR");
  tune->add_option("-j,--jobs", command.jobs, "Number of concurrent points; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  add_slurm(*tune, command.launcher, command.slurm);
  add_known(*tune, command.known, "none");
  tune->add_flag("-q,--quiet", command.quiet, "Show no progress");
  tune->add_flag("--json", command.json, "Print tune.json instead of text");
  return tune;
}

}  // namespace weft
