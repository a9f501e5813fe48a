#include "sim/app/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "sim/app/exit_code.h"
#include "sim/app/version.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

constexpr const char* kExample =
    "example:\n"
    "  weft run configs/scenarios/embedding_a2a_128_nodes.yaml -o results/torus\n";

constexpr const char* kRunExample =
    "example: the same cluster with links half as fast, bulk and fused only\n"
    "  weft run configs/scenarios/embedding_a2a_128_nodes.yaml --mode bulk --mode fused \\\n"
    "    --set 'cluster.scale_out.link.bandwidth=100 Gb/s' -o results/half\n"
    "\n"
    "exit status: 0 done; 1 a mistake in the scenario or the command line, or a run that cannot\n"
    "finish; 2 the machine cannot (write, allocate); 3 a mistake of weft's own\n";

struct StageName {
  const char* name;
  Stage stage;
};
constexpr std::array kStages = {StageName{"scenario", Stage::scenario},
                                StageName{"cluster", Stage::cluster},
                                StageName{"tasks", Stage::tasks}};

// What CLI11 fills in.
struct Raw {
  std::string scenario;
  std::vector<std::string> sets;
  std::vector<std::string> modes;
  std::string output;
  std::uint64_t seed = 0;
  std::string stop_after;
  bool quiet = false;
  bool json = false;
};

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  names.reserve(names::kModes.size());
  for (const Choice<Mode>& choice : names::kModes) names.emplace_back(choice.name);
  return names;
}

CLI::App* add_run(CLI::App& app, Raw& raw) {
  CLI::App* run = app.add_subcommand("run", "Simulate a scenario in each of its modes.");
  run->footer(kRunExample);
  run->add_option("SCENARIO", raw.scenario, "YAML file: cluster, workload, modes")
      ->type_name("FILE")
      ->required();
  // One value each, or `--set a=1 scenario.yaml` would swallow the scenario.
  run->add_option("--set", raw.sets, "Change one value, for example cluster.nodes=4 (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  run->add_option("--mode", raw.modes, "Only this mode (repeatable)")
      ->type_name("MODE")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(mode_names()));
  run->add_option("--seed", raw.seed, "The same as --set run.seed=N")->type_name("N");
  CLI::Option* output =
      run->add_option("-o,--output", raw.output,
                      "Write summary.json, operators.csv, links.csv and manifest.json there")
          ->type_name("DIR");
  CLI::Option* stop =
      run->add_option("--stop-after", raw.stop_after, "Print this stage as text and stop")
          ->type_name("STAGE")
          ->check(CLI::IsMember({"scenario", "cluster", "tasks"}));
  CLI::Option* quiet = run->add_flag("-q,--quiet", raw.quiet, "Print nothing unless it fails");
  CLI::Option* json = run->add_flag("--json", raw.json, "Print summary.json instead of a table");
  stop->excludes(output)->excludes(json)->excludes(quiet);
  quiet->excludes(json);
  return run;
}

RunCommand command_of(const Raw& raw, bool seed_given) {
  RunCommand command;
  command.scenario = raw.scenario;
  command.sets = raw.sets;
  if (!raw.modes.empty()) {
    command.sets.push_back(fmt::format("modes=[{}]", fmt::join(raw.modes, ", ")));
  }
  if (seed_given) command.sets.push_back(fmt::format("run.seed={}", raw.seed));
  if (!raw.output.empty()) command.output = raw.output;
  for (const auto& [name, stage] : kStages) {
    if (raw.stop_after == name) command.stop_after = stage;
  }
  if (raw.quiet) command.print = Print::nothing;
  if (raw.json) command.print = Print::json;
  return command;
}

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=+:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::variant<RunCommand, Done> parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "weft simulates GPU clusters: how computation and the collective that depends on it\n"
      "overlap in bulk, by kernels, or fused, work-group by work-group.",
      "weft");
  app.footer(kExample);
  app.set_version_flag("--version", fmt::format("weft {}", kVersion));
  app.require_subcommand(1);
  Raw raw;
  const CLI::App* run = add_run(app, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has an exit code of its own for every kind of mistake; they are all the user's.
    return Done{app.exit(error) == 0 ? exit_code::ok : exit_code::user};
  }
  return command_of(raw, run->count("--seed") > 0);
}

std::string replay_text(const RunCommand& command) {
  std::string text = fmt::format("weft run {}", shell_quoted(command.scenario.string()));
  for (const std::string& set : command.sets) text += fmt::format(" --set {}", shell_quoted(set));
  return text;
}

}  // namespace weft
