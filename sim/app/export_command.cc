#include "sim/app/export_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/planned.h"
#include "sim/core/plural.h"
#include "sim/files/staged.h"
#include "sim/run/exit_code.h"
#include "sim/run/model_of.h"
#include "sim/scenario/load.h"
#include "sim/scenario/wrong_file.h"
#include "sim/traces/chakra/chakra_export.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// PREFIX.3.et, PREFIX.groups.json, PREFIX.files.json
fs::path beside(const fs::path& prefix, const std::string& rest) {
  return prefix.parent_path() / (prefix.filename().string() + "." + rest);
}

// Of an export of more ranks, before this one.
bool is_of(const fs::path& prefix, const std::string& name) {
  const std::string start = prefix.filename().string() + ".";
  if (!name.starts_with(start)) return false;
  const std::string rest = name.substr(start.size());
  const std::string rank = rest.substr(0, rest.find('.'));
  const bool number = !rank.empty() && rank.find_first_not_of("0123456789") == std::string::npos;
  return rest == "groups.json" || (number && rest == rank + ".et");
}

Planned planned(const fs::path& prefix, int gpus, const Loaded& loaded, const Model& model) {
  Planned planned;
  for (const InputFile& input : loaded.inputs) planned.reads.emplace_back(input.path);
  for (const InputFile& input : model.inputs) planned.reads.emplace_back(input.path);
  for (int rank = 0; rank < gpus; ++rank) {
    planned.write("--chakra", beside(prefix, fmt::format("{}.et", rank)));
  }
  planned.write("--chakra", beside(prefix, "groups.json"));
  planned.write("--chakra", beside(prefix, kFilesOfResult));
  return planned;
}

}  // namespace

int export_command(const ExportCommand& command) {
  const std::string name = command.prefix.filename().string();
  if (name.empty() || name == "." || name == "..") {
    spdlog::error("--chakra: '{}' is a folder; add a file prefix, such as {}",
                  command.prefix.string(), (command.prefix / "trace").string());
    return exit_code::user;
  }
  const Loaded loaded = load_scenario(
      command.scenario, {.sets = command.sets, .config_dirs = config_dirs(command.scenario)});
  print_problems(or_its_command(loaded.problems, command.scenario, FileKind::scenario));
  if (!loaded.scenario) return exit_code::user;
  const Scenario& scenario = *loaded.scenario;
  const Model model = model_of(scenario);
  print_problems(model.problems);
  if (!model.graph) return exit_code::user;

  const int gpus = scenario.cluster.gpus();
  if (refused(planned(command.prefix, gpus, loaded, model))) return exit_code::user;
  const ChakraExport exported(*model.graph, scenario.cluster.gpu, gpus);
  const std::string prefix = command.prefix.string();
  Staged staged;
  for (int rank = 0; rank < gpus; ++rank) {
    staged.add(beside(command.prefix, fmt::format("{}.et", rank)),
               exported.rank(static_cast<std::uint32_t>(rank)));
  }
  const std::string groups = exported.groups();
  if (!groups.empty()) staged.add(beside(command.prefix, "groups.json"), groups);
  staged.add_manifest(beside(command.prefix, kFilesOfResult),
                      [&](const std::string& other) { return is_of(command.prefix, other); });
  staged.commit();
  print_text(
      fmt::format("{} operators on {} {}: {}.0.et to {}.{}.et{}\n", model.graph->ops.size(), gpus,
                  plural(gpus, "GPU", "GPUs"), prefix, prefix, gpus - 1,
                  groups.empty() ? "" : fmt::format(", process groups in {}.groups.json", prefix)));
  if (exported.uneven() > 0) {
    spdlog::warn(
        "{} uneven all-to-alls: Chakra has one size per rank, so the file says how much a rank "
        "sends, "
        "but not how much to whom",
        exported.uneven());
  }
  return exit_code::ok;
}

}  // namespace weft
