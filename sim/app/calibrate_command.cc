#include "sim/app/calibrate_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "sim/app/calibrated_files.h"
#include "sim/app/colors.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/files/staged.h"
#include "sim/measured/fit.h"
#include "sim/measured/fit_collective.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/load.h"
#include "sim/scenario/wrong_file.h"

namespace weft {
namespace {

// What of the base has to be found by simulating.
void fit_by_simulating(const CalibrateCommand& command, const MeasuredFile& measured, Fit& fit) {
  CountProgress progress("simulations of collectives", CountProgress::Total::at_most,
                         ProgressLine::Show::yes);
  const PredictOptions options{
      .cluster = cluster_file(command),
      .config_dirs = config_dirs_of(command),
      .kernels = {},
      .sets = {fmt::format("cluster.gpu.base={}", base_name(command.base).name)},
      .jobs = jobs_or_cores(0),
      .on_progress = [&progress](std::size_t done, std::size_t all) {
        progress.update(done, all);
      }};
  fit_collectives(measured.lines, options, fit);
}

// The base as the simulator sees it, in a cluster.
Loaded load_base(const CalibrateCommand& command) {
  const std::vector<std::filesystem::path> dirs = config_dirs_of(command);
  const std::string text = fmt::format(
      "name: base of a calibration\ncluster: {{base: {}, gpu: {{base: {}}}}}\n"
      "workload:\n  kind: collective\n  op: all_to_all\n  bytes: 1 MiB\nmodes: [bulk]\n",
      base_name(cluster_file(command)).name, base_name(command.base).name);
  return load_scenario_text(text, "weft calibrate", {.sets = {}, .config_dirs = dirs});
}

Planned planned(const CalibrateCommand& command, const Loaded& base) {
  Planned planned;
  planned.reads = {command.measured, command.base, command.cluster};
  for (const InputFile& input : base.inputs) planned.reads.emplace_back(input.path);
  planned.write("--output", command.output);
  if (command.cluster_output) planned.write("--cluster-output", *command.cluster_output);
  return planned;
}

bool print_errors(const Diagnostics& problems) {
  if (problems.has_errors()) print_problems(problems);
  return problems.has_errors();
}

void print_fit(const Fit& fit, bool link_is_written) {
  for (const FittedValue& value : fit.values) {
    print_text(fmt::format("{:<32} {:<14} {}\n", value.path, value.text, value.comment));
  }
  for (const std::string& kept : fit.kept) spdlog::warn("{}", kept);
  if (!link_is_written && std::any_of(fit.values.begin(), fit.values.end(), is_of_link)) {
    spdlog::warn("link.* belong to a cluster's scale_up and are only written with --cluster");
  }
  for (const FittedValue& value : fit.values) {
    if (is_of_workload(value)) {
      spdlog::warn("{} belongs to a scenario and is not written", value.path);
    }
  }
}

}  // namespace

int calibrate_command(const CalibrateCommand& command) {
  const MeasuredFile measured = read_measured(command.measured);
  const Loaded base = load_base(command);
  const bool unreadable =
      print_errors(or_its_command(measured.problems, command.measured, FileKind::unknown));
  if (print_errors(base.problems) || unreadable) return exit_code::user;
  const ClusterSpec& cluster = base.scenario->cluster;
  if (!cluster.scale_up) {
    spdlog::error("{}: has no scale_up, so there are no links to fit", command.cluster.string());
    return exit_code::user;
  }
  if (refused(planned(command, base))) return exit_code::user;
  Fit fit = fit_machine(measured.lines, cluster.gpu, cluster.scale_up->link);
  if (!fit.problems.has_errors()) fit_by_simulating(command, measured, fit);
  if (print_errors(fit.problems)) return exit_code::user;
  if (fit.values.empty()) {
    spdlog::error("{}: contains no micro-benchmark lines that determine anything",
                  command.measured.string());
    return exit_code::user;
  }
  Diagnostics problems;
  CalibratedFiles files = calibrated_files(command, fit, problems);
  if (print_errors(problems)) return exit_code::user;
  Staged staged;
  staged.add(command.output, std::move(files.gpu));
  if (files.cluster) staged.add(*command.cluster_output, *std::move(files.cluster));
  staged.commit();
  print_fit(fit, command.cluster_output.has_value());
  return exit_code::ok;
}

}  // namespace weft
