#include "sim/report/baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "sim/scenario/modes.h"

namespace weft {
namespace {

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

}  // namespace

const ModeRun* best_unfused(const RunReport& report) {
  const ModeRun* best = find_run(report, Mode::bulk);
  bool overlaps = false;
  for (const Mode mode : {Mode::kernel, Mode::pipelined}) {
    const ModeRun* run = find_run(report, mode);
    if (run == nullptr) continue;
    overlaps = true;
    if (best == nullptr || run->result.time < best->result.time) best = run;
  }
  return overlaps ? best : nullptr;
}

const ModeRun* best_fused(const RunReport& report) {
  const ModeRun* best = nullptr;
  for (const ModeRun& run : report.runs) {
    if (!is_fused(run.result.mode)) continue;
    if (best == nullptr || run.result.time < best->result.time) best = &run;
  }
  return best;
}

std::string baseline_text(const RunReport& report, const RunResult& bulk) {
  std::vector<std::string> parts;
  const auto has_lookups = [](const std::string& part) {
    return part.find("/lookups_") != std::string::npos;
  };
  for (const InputFile& input : report.inputs) {
    const std::filesystem::path file = input.path;
    if (file.parent_path().filename() != "kernels") continue;
    add_once(parts, "kernels/" + file.stem().string());
  }
  if (embeds(report.scenario.workload.kind) &&
      std::none_of(parts.begin(), parts.end(), has_lookups)) {
    parts.emplace_back("the scenario's own lookups");
  }
  for (const OperatorUse& use : bulk.operators) {
    const std::size_t how = use.name.rfind(" (");
    if (use.role != KernelRole::collective || how == std::string::npos) continue;
    // The part of a model names the collective; a single operator is its own part.
    const bool has_part = !use.part.empty() && use.part != use.name;
    add_once(parts, has_part ? use.part + use.name.substr(how) : use.name);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace weft
