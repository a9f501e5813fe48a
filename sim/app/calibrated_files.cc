#include "sim/app/calibrated_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/app/config_dirs.h"
#include "sim/files/place.h"
#include "sim/files/read_text.h"
#include "sim/measured/predict.h"
#include "sim/scenario/load.h"
#include "sim/scenario/moved_bases.h"
#include "sim/spec/units.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLinkPrefix = "link.";
constexpr std::string_view kWorkloadPrefix = "workload.";

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) all += "  " + line + "\n";
  return all;
}

// `text` of the file `from`, where names of bases mean the same in `to`.
std::string moved_text(const fs::path& from, const fs::path& to, Diagnostics& problems) {
  const std::string text = read_own(from);
  const MovedFile moved{
      .from = from, .to = to, .dirs_from = config_dirs(from), .dirs_to = config_dirs(to)};
  return with_values(text, from.string(), moved_bases(text, moved), problems);
}

// What is wrong with a file before it is written: of the scenario that has its text in `cluster`,
// or in `sets`.
void expect_valid(const fs::path& file, const std::string& cluster,
                  const std::vector<std::string>& sets, const CalibrateCommand& command,
                  Diagnostics& problems) {
  std::vector<fs::path> dirs = config_dirs(file);
  for (const fs::path& dir : config_dirs_of(command)) dirs.push_back(dir);
  const std::string text = "name: calibrated\ncluster:\n" + cluster +
                           "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n"
                           "modes: [bulk]\n";
  const Loaded loaded = load_scenario_text(text, (folder_of(file) / "weft calibrate").string(),
                                           {.sets = sets, .config_dirs = dirs});
  if (!loaded.problems.has_errors()) return;
  for (Diagnostic problem : loaded.problems.all()) {
    problem.at = {.file = file.string()};
    problem.message = "not written, because it could not be read back: " + problem.message;
    problem.source_line.clear();
    problems.add(std::move(problem));
  }
}

bool base_gives(const CalibrateCommand& command, std::string_view key) {
  SourceFiles files;
  Diagnostics problems;  // the base has been loaded before
  const Node* tree = files.tree_of(command.base, {.file = command.base.string()}, problems);
  if (tree == nullptr) return false;
  Node root = *tree;
  const std::vector<fs::path> dirs = config_dirs_of(command);
  BaseResolver(files, dirs, problems).resolve(root, command.base);
  return root.find(key) != nullptr;
}

// A map of gathers is whole or not there. Where the base has none, a row is any load (read_gpu.cc):
// what no line determines of it is written as that.
void complete_gather(const CalibrateCommand& command, const Fit& fit,
                     std::vector<NewValue>& values) {
  const GatherSpec& gather = fit.gpu.gather;
  const std::vector<NewValue> whole = {{"gather.latency", to_text(gather.latency), ""},
                                       {"gather.doubling", to_text(gather.doubling), ""},
                                       {"gather.cached", to_text(gather.cached), ""},
                                       {"gather.unfairness", number_text(gather.unfairness), ""}};
  const auto has = [&values](std::string_view path) {
    return std::any_of(values.begin(), values.end(),
                       [path](const NewValue& value) { return value.path == path; });
  };
  const bool any = std::any_of(whole.begin(), whole.end(),
                               [&](const NewValue& value) { return has(value.path); });
  if (!any || base_gives(command, "gather")) return;
  for (NewValue value : whole) {
    if (has(value.path)) continue;
    value.comment = "[D] no line determines it: the value for any load";
    values.push_back(std::move(value));
  }
}

// The base's text with the fitted values of the GPU.
std::string gpu_text(const CalibrateCommand& command, const Fit& fit, Diagnostics& problems) {
  std::vector<NewValue> values;
  for (const FittedValue& value : fit.values) {
    if (is_of_link(value) || is_of_workload(value)) continue;
    values.push_back({value.path, value.text, value.comment});
  }
  complete_gather(command, fit, values);
  const std::string base = moved_text(command.base, command.output, problems);
  return fmt::format("# Numbers fitted by weft calibrate to {} [M]; the others are those of {}.\n",
                     command.measured.filename().string(), command.base.filename().string()) +
         with_values(base, command.base.string(), values, problems);
}

// The cluster's text with the fitted link.
std::string linked_text(const CalibrateCommand& command, const Fit& fit, Diagnostics& problems) {
  std::vector<NewValue> values;
  for (const FittedValue& value : fit.values) {
    if (is_of_link(value)) {
      values.push_back({"scale_up." + value.path, value.text, value.comment});
    }
  }
  return with_values(moved_text(command.cluster, *command.cluster_output, problems),
                     command.cluster.string(), values, problems);
}

// And the GPU that was written.
std::string with_gpu(const CalibrateCommand& command, const std::string& cluster,
                     Diagnostics& problems) {
  const fs::path gpu =
      fs::proximate(folder_of(command.output), folder_of(*command.cluster_output)) /
      command.output.stem();
  return with_values(
      cluster, command.cluster.string(),
      {{"gpu.base", gpu.lexically_normal().generic_string(), "written by weft calibrate"}},
      problems);
}

}  // namespace

bool is_of_link(const FittedValue& value) { return value.path.starts_with(kLinkPrefix); }
bool is_of_workload(const FittedValue& value) { return value.path.starts_with(kWorkloadPrefix); }

std::vector<fs::path> config_dirs_of(const CalibrateCommand& command) {
  std::vector<fs::path> dirs{base_name(command.base).dir};
  if (!command.cluster.empty()) dirs.push_back(base_name(command.cluster).dir);
  for (const fs::path& folder : config_dirs(command.base)) dirs.push_back(folder);
  return dirs;
}

fs::path cluster_file(const CalibrateCommand& command) {
  if (!command.cluster.empty()) return command.cluster;
  for (const fs::path& folder : config_dirs_of(command)) {
    fs::path file = folder / "validation/node.yaml";
    if (fs::exists(file)) return file;
  }
  return "validation/node.yaml";
}

CalibratedFiles calibrated_files(const CalibrateCommand& command, const Fit& fit,
                                 Diagnostics& problems) {
  CalibratedFiles files;
  files.gpu = gpu_text(command, fit, problems);
  if (command.cluster_output) files.cluster = linked_text(command, fit, problems);
  if (problems.has_errors()) return files;
  expect_valid(command.output, fmt::format("  base: {}\n", base_name(cluster_file(command)).name),
               {"cluster.gpu=\n" + files.gpu}, command, problems);
  if (!files.cluster) return files;
  expect_valid(*command.cluster_output, indented(*files.cluster), {}, command, problems);
  files.cluster = with_gpu(command, *files.cluster, problems);
  return files;
}

}  // namespace weft
