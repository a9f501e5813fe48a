// The command line as values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/app/cache_command.h"
#include "sim/app/calibrate_command.h"
#include "sim/app/completion_command.h"
#include "sim/app/explain_command.h"
#include "sim/app/export_command.h"
#include "sim/app/import_command.h"
#include "sim/app/known_options.h"
#include "sim/app/list_command.h"
#include "sim/app/merge_command.h"
#include "sim/app/report_command.h"
#include "sim/app/schema_command.h"
#include "sim/app/sensitivity_command.h"
#include "sim/app/serve_command.h"
#include "sim/app/sweep_command.h"
#include "sim/app/tune_command.h"
#include "sim/app/validate_command.h"
#include "sim/report/timeline.h"

namespace weft {

enum class StopAfter { scenario, cluster, model, tasks, results };
enum class Print { table, json, nothing };  // on stdout

struct RunCommand {
  std::filesystem::path scenario;
  std::vector<std::string> sets;  // --set, then what --mode and --seed mean
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> trace = {};  // .json or .json.gz
  TimelineOptions timeline = {};
  StopAfter stop_after = StopAfter::results;
  Print print = Print::table;
  bool quiet = false;  // nothing on stderr unless it fails
  int jobs = 0;        // 0: as many as there are cores
  KnownOptions known = {};
};

// Nothing to run: the text was printed (help, version, what is wrong), and this is the exit code.
struct Done {
  int exit_code;
};

using Command = std::variant<RunCommand, CalibrateCommand, ValidateCommand, CacheCommand,
                             ImportCommand, ExportCommand, SweepCommand, MergeCommand, TuneCommand,
                             SensitivityCommand, ReportCommand, ServeCommand, ExplainCommand,
                             ListCommand, SchemaCommand, CompletionCommand, ManCommand, Done>;
Command parse_command_line(int argc, const char* const* argv);

struct CommandDoc;
CommandDoc describe_command_line();

}  // namespace weft
