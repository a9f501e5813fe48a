#include "sim/app/calibrate_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/exit_code.h"
#include "sim/app/jobs.h"
#include "sim/app/wrong_file.h"
#include "sim/measured/fit.h"
#include "sim/measured/fit_collective.h"
#include "sim/report/write_files.h"
#include "sim/scenario/edit.h"
#include "sim/scenario/load.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLinkPrefix = "link.";
constexpr std::string_view kWorkloadPrefix = "workload.";

bool is_of_link(const FittedValue& value) { return value.path.starts_with(kLinkPrefix); }
bool is_of_gpu(const FittedValue& value) {
  return !is_of_link(value) && !value.path.starts_with(kWorkloadPrefix);
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<fs::path> dirs_of(const CalibrateCommand& command) {
  std::vector<fs::path> dirs{base_name(command.base).dir};
  if (!command.cluster.empty()) dirs.push_back(base_name(command.cluster).dir);
  for (const fs::path& folder : config_dirs(command.base)) dirs.push_back(folder);
  return dirs;
}

// The cluster that the base is put into.
fs::path cluster_file(const CalibrateCommand& command) {
  if (!command.cluster.empty()) return command.cluster;
  for (const fs::path& folder : dirs_of(command)) {
    fs::path file = folder / "validation/node.yaml";
    if (fs::exists(file)) return file;
  }
  return "validation/node.yaml";
}

// What of the base has to be found by simulating.
void fit_by_simulating(const CalibrateCommand& command, const MeasuredFile& measured, Fit& fit) {
  CountProgress progress("cases of collectives simulated", ProgressLine::Show::yes);
  const PredictOptions options{
      .cluster = cluster_file(command),
      .config_dirs = dirs_of(command),
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
  const std::vector<fs::path> dirs = dirs_of(command);
  const std::string text = fmt::format(
      "name: base of a calibration\ncluster: {{base: {}, gpu: {{base: {}}}}}\n"
      "workload:\n  kind: collective\n  op: all_to_all\n  bytes: 1 MiB\nmodes: [bulk]\n",
      base_name(cluster_file(command)).name, base_name(command.base).name);
  return load_scenario_text(text, "weft calibrate", {.sets = {}, .config_dirs = dirs});
}

bool print_errors(const Diagnostics& problems) {
  if (problems.has_errors()) print_problems(problems);
  return problems.has_errors();
}

// The base's text with the fitted values of the GPU.
std::string gpu_text(const CalibrateCommand& command, const Fit& fit, Diagnostics& problems) {
  std::vector<NewValue> values;
  for (const FittedValue& value : fit.values) {
    if (is_of_gpu(value)) values.push_back({value.path, value.text, value.comment});
  }
  return fmt::format("# Numbers fitted by weft calibrate to {} [M]; the others as in {}.\n",
                     command.measured.filename().string(), command.base.filename().string()) +
         with_values(read_text(command.base), command.base.string(), values, problems);
}

// The cluster's text with the fitted link, and the GPU that was written.
std::string cluster_text(const CalibrateCommand& command, const Fit& fit, Diagnostics& problems) {
  const fs::path gpu =
      fs::proximate(folder_of(command.output), folder_of(*command.cluster_output)) /
      command.output.stem();
  std::vector<NewValue> values{
      {"gpu.base", gpu.lexically_normal().generic_string(), "written by weft calibrate"}};
  for (const FittedValue& value : fit.values) {
    if (is_of_link(value)) {
      values.push_back({"scale_up." + value.path, value.text, value.comment});
    }
  }
  return with_values(read_text(command.cluster), command.cluster.string(), values, problems);
}

void print_fit(const Fit& fit, bool link_is_written) {
  for (const FittedValue& value : fit.values) {
    fmt::print("{:<32} {:<14} {}\n", value.path, value.text, value.comment);
  }
  for (const std::string& kept : fit.kept) spdlog::warn("{}", kept);
  if (!link_is_written && std::any_of(fit.values.begin(), fit.values.end(), is_of_link)) {
    spdlog::warn("link.* belong to a cluster's scale_up and are written with --cluster");
  }
  for (const FittedValue& value : fit.values) {
    if (value.path.starts_with(kWorkloadPrefix)) {
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
    spdlog::error("{}: has no scale_up: nothing to fit links of", command.cluster.string());
    return exit_code::user;
  }
  Fit fit = fit_machine(measured.lines, cluster.gpu, cluster.scale_up->link);
  if (!fit.problems.has_errors()) fit_by_simulating(command, measured, fit);
  if (print_errors(fit.problems)) return exit_code::user;
  if (fit.values.empty()) {
    spdlog::error("{}: no lines of micro-benchmarks that determine anything",
                  command.measured.string());
    return exit_code::user;
  }
  Diagnostics problems;
  std::string gpu = gpu_text(command, fit, problems);
  std::string node = command.cluster_output ? cluster_text(command, fit, problems) : "";
  if (print_errors(problems)) return exit_code::user;
  write_file(command.output, std::move(gpu));
  if (command.cluster_output) write_file(*command.cluster_output, std::move(node));
  print_fit(fit, command.cluster_output.has_value());
  return exit_code::ok;
}

}  // namespace weft
