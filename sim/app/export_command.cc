#include "sim/app/export_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/app/model_of.h"
#include "sim/app/wrong_file.h"
#include "sim/core/plural.h"
#include "sim/report/write_files.h"
#include "sim/scenario/load.h"
#include "sim/traces/chakra_export.h"

namespace weft {

int export_command(const ExportCommand& command) {
  const Loaded loaded = load_scenario(
      command.scenario, {.sets = command.sets, .config_dirs = config_dirs(command.scenario)});
  print_problems(or_its_command(loaded.problems, command.scenario, FileKind::scenario));
  if (!loaded.scenario) return exit_code::user;
  const Scenario& scenario = *loaded.scenario;
  if (!is_model(scenario.workload.kind)) {
    spdlog::error("{}: its workload is one operator; only whole models are exported",
                  command.scenario.string());
    return exit_code::user;
  }
  const Model model = model_of(scenario);
  print_problems(model.problems);
  if (!model.graph) return exit_code::user;

  const int gpus = scenario.cluster.gpus();
  const ChakraExport exported(*model.graph, scenario.cluster.gpu, gpus);
  const std::string prefix = command.prefix.string();
  for (int rank = 0; rank < gpus; ++rank) {
    write_file(fmt::format("{}.{}.et", prefix, rank),
               exported.rank(static_cast<std::uint32_t>(rank)));
  }
  const std::string groups = exported.groups();
  if (!groups.empty()) write_file(prefix + ".groups.json", groups);
  print_text(
      fmt::format("{} operators on {} {}: {}.0.et to {}.{}.et{}\n", model.graph->ops.size(), gpus,
                  plural(gpus, "GPU", "GPUs"), prefix, prefix, gpus - 1,
                  groups.empty() ? "" : fmt::format(", process groups in {}.groups.json", prefix)));
  if (exported.uneven() > 0) {
    spdlog::warn(
        "{} uneven all-to-alls: Chakra has one size a rank, so what a rank sends is said, "
        "not to whom how much",
        exported.uneven());
  }
  return exit_code::ok;
}

}  // namespace weft
