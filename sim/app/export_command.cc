#include "sim/app/export_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/planned.h"
#include "sim/core/plural.h"
#include "sim/files/staged.h"
#include "sim/models/sustained_run.h"
#include "sim/run/exit_code.h"
#include "sim/run/model_of.h"
#include "sim/scenario/load.h"
#include "sim/scenario/wrong_file.h"
#include "sim/traces/chakra/chakra_export.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/import_text.h"

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

Planned reads_of(const Loaded& loaded, const Model& model) {
  Planned planned;
  for (const InputFile& input : loaded.inputs) planned.reads.emplace_back(input.path);
  for (const InputFile& input : model.inputs) planned.reads.emplace_back(input.path);
  return planned;
}

Planned planned_chakra(const fs::path& prefix, int gpus, Planned planned) {
  for (int rank = 0; rank < gpus; ++rank) {
    planned.write("--chakra", beside(prefix, fmt::format("{}.et", rank)));
  }
  planned.write("--chakra", beside(prefix, "groups.json"));
  planned.write("--chakra", beside(prefix, kFilesOfResult));
  return planned;
}

// Chakra has no words for these, or they are read otherwise.
void warn_of_what_is_left_out(const ChakraExport& exported) {
  if (exported.by_rows() > 0) {
    spdlog::warn(
        "{} all-to-alls that a kernel of their own does row by row: read again, the library does "
        "them",
        exported.by_rows());
  }
  if (exported.beside_receives() > 0) {
    spdlog::warn(
        "{} operators that compute while a receive waits on their GPU's CUs: read again, none "
        "waits, and they may take less (--graph keeps it)",
        exported.beside_receives());
  }
  if (exported.of_host() > 0) {
    spdlog::warn(
        "{} operators are time of the host: read again, they take none, unless the scenario says "
        "workload.cpu_ops: run (--graph keeps them)",
        exported.of_host());
  }
}

int export_chakra(const fs::path& to, const Scenario& scenario, const ModelGraph& graph,
                  Planned planned) {
  const int gpus = scenario.cluster.gpus();
  if (refused(planned_chakra(to, gpus, std::move(planned)))) return exit_code::user;
  const ChakraExport exported(graph, scenario.cluster.gpu, gpus);
  const std::string prefix = to.string();
  Staged staged;
  for (int rank = 0; rank < gpus; ++rank) {
    staged.add(beside(to, fmt::format("{}.et", rank)),
               exported.rank(static_cast<std::uint32_t>(rank)));
  }
  const std::string groups = exported.groups();
  if (!groups.empty()) staged.add(beside(to, "groups.json"), groups);
  staged.add_manifest(beside(to, kFilesOfResult),
                      [&](const std::string& other) { return is_of(to, other); });
  staged.commit();
  print_text(
      fmt::format("{} operators on {} {}: {}.0.et to {}.{}.et{}\n", graph.ops.size(), gpus,
                  plural(gpus, "GPU", "GPUs"), prefix, prefix, gpus - 1,
                  groups.empty() ? "" : fmt::format(", process groups in {}.groups.json", prefix)));
  if (exported.uneven() > 0) {
    spdlog::warn(
        "{} uneven all-to-alls: Chakra has one size per rank, so the file says how much a rank "
        "sends, "
        "but not how much to whom",
        exported.uneven());
  }
  warn_of_what_is_left_out(exported);
  return exit_code::ok;
}

int export_graph(const fs::path& to, const Scenario& scenario, const Model& model,
                 Planned planned) {
  const ModelGraph& graph = *model.graph;
  if (const std::string obstacle = obstacle_to_writing(graph); !obstacle.empty()) {
    spdlog::error("--graph: {}", obstacle);
    return exit_code::user;
  }
  planned.write("--graph", to);
  if (refused(planned)) return exit_code::user;
  const int gpus = scenario.cluster.gpus();
  const RecordedRun recording{.device = model.device, .step = model.step};
  write_file(to, import_text(graph, gpus, form_of(to), recording));
  print_text(fmt::format("{} {} on {} {}: {}\n", graph.ops.size(),
                         plural(graph.ops.size(), "operator", "operators"), gpus,
                         plural(gpus, "GPU", "GPUs"), to.string()));
  if (is_sustained(scenario)) {
    print_text(
        "the scenario runs at the clock that the power limit leaves; a graph does so with "
        "run.clocks: sustained\n");
  }
  return exit_code::ok;
}

// Why the outputs cannot be these; empty: they can.
std::string wrong_output(const ExportCommand& command) {
  if (command.chakra.has_value() == command.graph.has_value()) {
    return "export: give either --chakra PREFIX or --graph FILE";
  }
  if (!command.chakra) return "";
  const std::string name = command.chakra->filename().string();
  if (!name.empty() && name != "." && name != "..") return "";
  return fmt::format("--chakra: '{}' is a folder; add a file prefix, such as {}",
                     command.chakra->string(), (*command.chakra / "trace").string());
}

}  // namespace

int export_command(const ExportCommand& command) {
  if (const std::string wrong = wrong_output(command); !wrong.empty()) {
    spdlog::error("{}", wrong);
    return exit_code::user;
  }
  const Loaded loaded = load_scenario(
      command.scenario, {.sets = command.sets, .config_dirs = config_dirs(command.scenario)});
  print_problems(or_its_command(loaded.problems, command.scenario, FileKind::scenario));
  if (!loaded.scenario) return exit_code::user;
  const Model model = model_of(*loaded.scenario);
  print_problems(model.problems);
  if (!model.graph) return exit_code::user;
  const Planned reads = reads_of(loaded, model);
  if (command.chakra) return export_chakra(*command.chakra, *loaded.scenario, *model.graph, reads);
  return export_graph(*command.graph, *loaded.scenario, model, reads);
}

}  // namespace weft
