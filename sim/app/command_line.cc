#include "sim/app/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "sim/app/cache_command_line.h"
#include "sim/app/colors.h"
#include "sim/app/command_app.h"
#include "sim/app/command_error.h"
#include "sim/app/help_command_line.h"
#include "sim/app/jobs.h"
#include "sim/app/measured_command_line.h"
#include "sim/app/report_command_line.h"
#include "sim/app/serve_command_line.h"
#include "sim/app/sweep_command_line.h"
#include "sim/app/trace_command_line.h"
#include "sim/app/tune_command_line.h"
#include "sim/run/exit_code.h"
#include "sim/run/version.h"
#include "sim/scenario/names.h"
#include "sim/spec/units.h"

namespace weft {
namespace {

constexpr const char* kExample =
    "examples:\n"
    "  weft list scenarios\n"
    "  weft run configs/scenarios/embedding_a2a_2_nodes.yaml -o results/two_nodes\n"
    "  weft explain workload.pooling\n";

constexpr const char* kRunExample =
    "example: the same cluster with links half as fast, bulk and fused only\n"
    "  weft run configs/scenarios/embedding_a2a_2_nodes.yaml --mode bulk --mode fused \\\n"
    "    --set 'cluster.scale_out.link.bandwidth=100 Gb/s' -o results/half\n"
    "\n"
    "example: a scenario from a pipe; bases are looked for from the current folder\n"
    "  weft run configs/scenarios/embedding_a2a_4_gpus.yaml --stop-after scenario \\\n"
    "    | sed 's/pooling: 70/pooling: 20/' | weft run - --quiet --json\n"
    "\n"
    "exit status: 0 done; 1 a mistake in the scenario or on the command line, or a run that "
    "cannot\n"
    "finish; 2 the system failed (cannot write or allocate); 3 a bug in weft\n";

struct StageName {
  const char* name;
  StopAfter stage;
};
constexpr std::array kStages = {
    StageName{"scenario", StopAfter::scenario}, StageName{"cluster", StopAfter::cluster},
    StageName{"model", StopAfter::model}, StageName{"tasks", StopAfter::tasks}};

constexpr Bytes kLeastTrace = bytes(1'000'000);

// What CLI11 fills in.
struct Raw {
  std::string scenario;
  std::vector<std::string> sets;
  std::vector<std::string> modes;
  std::string output;
  std::string trace;
  std::string trace_detail;
  std::string trace_limit;
  std::string seed;
  bool range = false;
  std::string stop_after;
  bool quiet = false;
  bool json = false;
  int jobs = 0;
  KnownOptions known;
};

// Both as CLI11 wants them: empty, or what is wrong.
std::string is_trace_name(const std::string& file) {
  for (const std::string_view ending : {".json", ".json.gz"}) {
    if (std::string_view(file).ends_with(ending)) return "";
  }
  return fmt::format("{}: the name must end in .json or .json.gz", file);
}

std::string is_size(const std::string& text) {
  const Parsed<Bytes> size = parse_bytes(text);
  if (!size.ok()) return fmt::format("{}: {}", text, size.problem);
  if (size.value < kLeastTrace) return fmt::format("{}: at least {}", text, to_text(kLeastTrace));
  return "";
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  names.reserve(names::kAskedModes.size());
  for (const auto& choice : names::kAskedModes) names.emplace_back(choice.name);
  return names;
}

CLI::Option* add_trace(CLI::App& run, Raw& raw) {
  CLI::Option* trace =
      run.add_option(
             "--trace", raw.trace,
             "Write a timeline of all modes to this file (.json or .json.gz), for ui.perfetto.dev")
          ->type_name("FILE")
          ->check(is_trace_name);
  run.add_option(
         "--trace-detail", raw.trace_detail,
         "kernels (default): kernels, how busy each GPU and class of links is, and the last "
         "message from each kernel to each GPU; some MB. waves: also the WGs of 4 CUs of each "
         "GPU, their waits, and all that they send; about 10 MB. all: the WGs of all CUs, and "
         "each link; about 250 bytes per WG, and twice the run time")
      ->type_name("DETAIL")
      ->check(one_of({"kernels", "waves", "all"}))
      ->needs(trace);
  run.add_option("--trace-limit", raw.trace_limit,
                 "Most bytes of the timeline before compression; a warning says what is cut. "
                 "Default 100 MB")
      ->type_name("SIZE")
      ->check(is_size)
      ->needs(trace);
  return trace;
}

CLI::App* add_run(CLI::App& app, Raw& raw) {
  CLI::App* run = app.add_subcommand("run", "Simulate a scenario in each of its modes.");
  run->footer(kRunExample);
  run->add_option("SCENARIO", raw.scenario,
                  "YAML file: cluster, workload, modes; - is the standard input")
      ->type_name("FILE")
      ->required();
  // One value each, or `--set a=1 scenario.yaml` would swallow the scenario.
  run->add_option("--set", raw.sets, "Change one value, for example cluster.nodes=4 (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  run->add_option("--mode", raw.modes, "Only this mode (repeatable); all: those that suit")
      ->type_name("MODE")
      ->allow_extra_args(false)
      ->check(one_of(mode_names()));
  run->add_option("--seed", raw.seed, "The same as --set run.seed=N")
      ->type_name("N")
      ->check(whole_number());
  run->add_flag("--range", raw.range,
                "Also print the range in which 80 % of measured times would be (run.range=true)");
  CLI::Option* output =
      run->add_option(
             "-o,--output", raw.output,
             "Write summary.json, operators.csv, links.csv, over_time.csv and more to this folder")
          ->type_name("DIR");
  CLI::Option* trace = add_trace(*run, raw);
  run->add_option("-j,--jobs", raw.jobs,
                  "Most cores that a large run takes; the results are the same. Default: all")
      ->type_name("N")
      ->check(CLI::Range(1, kMostJobs));
  add_known(*run, raw.known, "none");
  CLI::Option* stop =
      run->add_option("--stop-after", raw.stop_after, "Print this stage as text and stop")
          ->type_name("STAGE")
          ->check(one_of({"scenario", "cluster", "model", "tasks"}));
  CLI::Option* quiet = run->add_flag(
      "-q,--quiet", raw.quiet, "Print nothing unless the run fails; with --json only the summary");
  CLI::Option* json = run->add_flag("--json", raw.json, "Print summary.json instead of a table");
  stop->excludes(output)->excludes(json)->excludes(quiet)->excludes(trace);
  return run;
}

RunCommand command_of(const Raw& raw, bool seed_given) {
  RunCommand command;
  command.scenario = raw.scenario;
  command.sets = raw.sets;
  if (!raw.modes.empty()) {
    command.sets.push_back(fmt::format("modes=[{}]", fmt::join(raw.modes, ", ")));
  }
  if (seed_given) command.sets.push_back("run.seed=" + raw.seed);
  if (raw.range) command.sets.emplace_back("run.range=true");
  if (!raw.output.empty()) command.output = raw.output;
  if (!raw.trace.empty()) command.trace = raw.trace;
  if (raw.trace_detail == "waves") command.timeline.detail = Detail::waves;
  if (raw.trace_detail == "all") command.timeline.detail = Detail::all;
  if (!raw.trace_limit.empty()) command.timeline.limit = parse_bytes(raw.trace_limit).value;
  for (const auto& [name, stage] : kStages) {
    if (raw.stop_after == name) command.stop_after = stage;
  }
  command.quiet = raw.quiet;
  if (raw.quiet) command.print = Print::nothing;
  if (raw.json) command.print = Print::json;
  command.jobs = raw.jobs;
  command.known = raw.known;
  return command;
}

// The application, and the values that it fills in when it parses.
struct Program {
  CLI::App app{
      "weft simulates GPU clusters: how computation overlaps with the collective that depends on\n"
      "it, in bulk, kernel by kernel, or fused, work-group by work-group.",
      "weft"};
  std::string color = "auto";
  Raw raw;
  CalibrateCommand calibrating;
  ValidateCommand validating;
  CacheCommand caching;
  ImportCommand importing;
  ExportCommand exporting;
  SweepCommand sweeping;
  MergeCommand merging;
  TuneCommand tuning;
  SensitivityCommand asking;
  ReportCommand reporting;
  ServeCommand serving;
  ExplainCommand explaining;
  ListCommand listing;
  SchemaCommand schema_of;
  CompletionCommand completing;
  const CLI::App* run = add_run(app, raw);
  const CLI::App* calibrate = add_calibrate(app, calibrating);
  const CLI::App* validate = add_validate(app, validating);
  const CLI::App* cache = add_cache(app, caching);
  const CLI::App* import = add_import(app, importing);
  const CLI::App* exports = add_export(app, exporting);
  const CLI::App* sweep = add_sweep(app, sweeping);
  const CLI::App* merge = add_merge(app, merging);
  const CLI::App* tune = add_tune(app, tuning);
  const CLI::App* sensitivity = add_sensitivity(app, asking);
  const CLI::App* reports = add_report(app, reporting);
  const CLI::App* serves = add_serve(app, serving);
  const CLI::App* explain = add_explain(app, explaining);
  const CLI::App* list = add_list(app, listing);
  const CLI::App* schema = add_schema(app, schema_of);
  const CLI::App* completion = add_completion(app, completing);
  const CLI::App* man_page = add_man_page(app);

  Program() {
    app.footer(kExample);
    app.set_version_flag("--version", fmt::format("weft {}", kVersion), "Print the version");
    app.require_subcommand(1);
    add_color(app);
    for (CLI::App* command : app.get_subcommands({})) {
      add_color(*command);
      expect_paths(*command);
    }
  }

 private:
  void add_color(CLI::App& command) {
    command.set_help_flag("-h,--help", "Print this help");
    command
        .add_option("--color", color,
                    "Colour messages; auto: on a terminal, unless NO_COLOR is set")
        ->type_name("WHEN")
        ->check(one_of({"auto", "always", "never"}));
  }
};

int print_help(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  fmt::print("{}", parsed.empty() ? help_text(describe(app), "")
                                  : help_text(describe(*parsed.front()), "weft "));
  return exit_code::ok;
}

int print_mistakes(const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) spdlog::error("{}", mistake);
  return exit_code::user;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  Program program;
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    // Help of a command that there is not would be that of something else.
    const std::vector<std::string> unknown = unknown_command(program.app);
    return Done{unknown.empty() ? print_help(program.app) : print_mistakes(unknown)};
  } catch (const CLI::CallForVersion& version) {
    const std::vector<std::string> unknown = unknown_command(program.app);
    if (!unknown.empty()) return Done{print_mistakes(unknown)};
    fmt::print("{}\n", version.what());
    return Done{exit_code::ok};
  } catch (const CLI::ParseError& error) {
    // CLI11 has an exit code of its own for every kind of mistake; they are all the user's.
    return Done{print_mistakes(mistakes_of(program.app, error))};
  }
  use_color(program.color);
  if (program.calibrate->parsed()) return program.calibrating;
  if (program.validate->parsed()) return program.validating;
  if (program.cache->parsed()) return program.caching;
  if (program.import->parsed()) return program.importing;
  if (program.exports->parsed()) return program.exporting;
  if (program.sweep->parsed()) return program.sweeping;
  if (program.merge->parsed()) return program.merging;
  if (program.tune->parsed()) return program.tuning;
  if (program.sensitivity->parsed()) return program.asking;
  if (program.reports->parsed()) return program.reporting;
  if (program.serves->parsed()) return program.serving;
  if (program.explain->parsed()) return program.explaining;
  if (program.list->parsed()) return program.listing;
  if (program.schema->parsed()) return program.schema_of;
  if (program.completion->parsed()) return program.completing;
  if (program.man_page->parsed()) return ManCommand{};
  return command_of(program.raw, program.run->count("--seed") > 0);
}

CommandDoc describe_command_line() { return describe(Program().app); }

}  // namespace weft
