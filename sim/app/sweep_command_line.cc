#include "sim/app/sweep_command_line.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "sim/app/command_app.h"

namespace weft {
namespace {

constexpr const char* kSweepExample =
    "examples:\n"
    "  weft sweep configs/sweeps/link_speed.yaml --dry-run\n"
    "  weft sweep configs/sweeps/link_speed.yaml -j 8 -o results/link_speed\n"
    "  weft sweep my_sweep.yaml --shard 2/4 -o part_2      # one of four machines\n"
    "  weft merge part_1 part_2 part_3 part_4 -o results/my_sweep\n"
    "\n"
    "Finished points are on disk immediately; the same command continues where it stopped.\n"
    "exit status: 0 all points ok; 1 points failed, or a mistake in the file or on the command "
    "line;\n"
    "2 the system failed (cannot write or allocate); 3 a point met a bug in weft; 130 Ctrl-C\n";

constexpr const char* kMergeExample =
    "example:\n"
    "  weft merge results/my_sweep/shard_* -o results/my_sweep\n"
    "\n"
    "exit status: 0 all points are present and ok; 1 some are not\n";

std::size_t number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

Shard shard_of(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return {.index = 0, .count = 0};
  return {.index = number_of(std::string_view(text).substr(0, slash)),
          .count = number_of(std::string_view(text).substr(slash + 1))};
}

std::string wrong_shard(const std::string& text) {
  const Shard shard = shard_of(text);
  const bool right = shard.index >= 1 && shard.index <= shard.count;
  return right ? "" : fmt::format("'{}' is not like 2/4, with numbers from 1", text);
}

// In the order in which they are first named.
std::vector<std::size_t> once_each(const std::vector<std::size_t>& numbers) {
  std::set<std::size_t> named;
  std::vector<std::size_t> each;
  for (const std::size_t number : numbers) {
    if (named.insert(number).second) each.push_back(number);
  }
  return each;
}

// Of a sweep that may be left alone.
void add_detached(CLI::App& sweep, SweepCommand& command, CLI::Option& file) {
  sweep.add_flag("--detach", command.detach, "slurm: submit without waiting");
  sweep
      .add_option(
          "--status", command.status,
          "slurm: print the progress of the sweep in this folder; merge it if it is finished")
      ->type_name("DIR")
      ->excludes(&file);
}

}  // namespace

void add_slurm(CLI::App& app, Launcher& launcher, SlurmOptions& slurm) {
  app.add_option_function<std::string>(
         "--launcher",
         [&launcher](const std::string& word) {
           launcher = word == "slurm" ? Launcher::slurm : Launcher::local;
         },
         "local: this machine; slurm: a job array, -j cores per task (1)")
      ->type_name("WORD")
      ->check(one_of({"local", "slurm"}));
  app.add_option("--partition", slurm.partition, "slurm: partition in which the tasks run")
      ->type_name("NAME");
  app.add_option("--max-jobs", slurm.max_jobs, "slurm: most concurrent tasks; default: 16")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--points-per-job", slurm.points_per_job,
                 "slurm: points per task; default: as many tasks as may run concurrently")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--sbatch", slurm.options,
                 "slurm: an option of sbatch, such as --sbatch=--time=2:00:00 (repeatable)")
      ->type_name("OPTION")
      ->allow_extra_args(false);
}

CLI::App* add_sweep(CLI::App& app, SweepCommand& command) {
  CLI::App* sweep = app.add_subcommand("sweep", "Simulate all points of a sweep file.");
  sweep->footer(kSweepExample);
  CLI::Option* file =
      sweep->add_option("FILE", command.file, "YAML file: a scenario, axes, a filter")
          ->type_name("FILE");
  sweep->add_option("--set", command.sets, "Change one value in all points (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  sweep->add_option("-o,--output", command.output, "Folder for the results; default: results/NAME")
      ->type_name("DIR");
  sweep->add_option("-j,--jobs", command.jobs, "Number of concurrent points; default: one per core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  sweep
      ->add_option_function<std::string>(
          "--shard", [&command](const std::string& text) { command.shard = shard_of(text); },
          "Run only the i-th of n shares of the points, for `weft merge`")
      ->type_name("I/N")
      ->check(CLI::Validator(wrong_shard, "", ""));
  sweep
      ->add_option("--only", command.only,
                   "Run only these points, by their places in --dry-run, from 1: 3,17")
      ->type_name("N,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1'000'000'000));
  add_slurm(*sweep, command.launcher, command.slurm);
  add_detached(*sweep, command, *file);
  CLI::Option* dry = sweep->add_flag("--dry-run", command.dry_run,
                                     "Check and print the points without running them");
  add_known(*sweep, command.known, "`known` beside the results until all points are finished");
  CLI::Option* retry = sweep->add_flag("--retry", command.retry, "Run failed points again");
  CLI::Option* quiet = sweep->add_flag("-q,--quiet", command.quiet, "Show no progress");
  dry->excludes(retry)->excludes(quiet);
  sweep->callback([&command] {
    if (command.file.empty() && !command.status) throw CLI::RequiredError("FILE");
    command.only = once_each(command.only);
  });
  return sweep;
}

CLI::App* add_merge(CLI::App& app, MergeCommand& command) {
  CLI::App* merge = app.add_subcommand("merge", "Merge the shards of a sweep.");
  merge->footer(kMergeExample);
  merge->add_option("DIR", command.folders, "Folders of the shards")->type_name("DIR")->required();
  merge->add_option("-o,--output", command.output, "Folder for the merged results")
      ->type_name("DIR")
      ->required();
  return merge;
}

}  // namespace weft
