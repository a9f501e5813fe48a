#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <tbb/global_control.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sim/app/cache_command.h"
#include "sim/app/calibrate_command.h"
#include "sim/app/colors.h"
#include "sim/app/command_line.h"
#include "sim/app/export_command.h"
#include "sim/app/import_command.h"
#include "sim/app/jobs.h"
#include "sim/app/report_command.h"
#include "sim/app/run_command.h"
#include "sim/app/serve_command.h"
#include "sim/files/place.h"
#include "sim/run/exit_code.h"

namespace weft {
namespace {

int carry_out(const Command& parsed) {
  if (const auto* validate = std::get_if<ValidateCommand>(&parsed)) {
    if (validate->quiet) spdlog::set_level(spdlog::level::err);
    return validate_command(*validate);
  }
  if (const auto* calibrate = std::get_if<CalibrateCommand>(&parsed)) {
    return calibrate_command(*calibrate);
  }
  if (const auto* cache = std::get_if<CacheCommand>(&parsed)) return cache_command(*cache);
  if (const auto* import = std::get_if<ImportCommand>(&parsed)) return import_command(*import);
  if (const auto* exports = std::get_if<ExportCommand>(&parsed)) return export_command(*exports);
  if (const auto* explain = std::get_if<ExplainCommand>(&parsed)) return explain_command(*explain);
  if (const auto* list = std::get_if<ListCommand>(&parsed)) return list_command(*list);
  if (const auto* schema = std::get_if<SchemaCommand>(&parsed)) return schema_command(*schema);
  if (const auto* completion = std::get_if<CompletionCommand>(&parsed)) {
    return completion_command(*completion);
  }
  if (std::holds_alternative<ManCommand>(parsed)) return man_command();
  if (const auto* sweep = std::get_if<SweepCommand>(&parsed)) return sweep_command(*sweep);
  if (const auto* merge = std::get_if<MergeCommand>(&parsed)) return merge_command(*merge);
  if (const auto* tune = std::get_if<TuneCommand>(&parsed)) return tune_command(*tune);
  if (const auto* asked = std::get_if<SensitivityCommand>(&parsed)) {
    return sensitivity_command(*asked);
  }
  if (const auto* report = std::get_if<ReportCommand>(&parsed)) return report_command(*report);
  if (const auto* serve = std::get_if<ServeCommand>(&parsed)) return serve_command(*serve);
  const auto& command = std::get<RunCommand>(parsed);
  if (command.quiet) spdlog::set_level(spdlog::level::err);
  return run_command(command);
}

int run(int argc, const char* const* argv) {
  const auto parsed = parse_command_line(argc, argv);
  const Done* done = std::get_if<Done>(&parsed);
  const int code = done != nullptr ? done->exit_code : carry_out(parsed);
  if (std::fflush(stdout) != 0) cannot_write("to standard output", errno);
  return code;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // What large vectors had before they grew goes back to the system. By itself glibc keeps up to
  // 32 MB of each as a hole, once it has seen one freed. Said once, it adjusts neither of the two:
  // the end of the heap is given back when 64 MiB of it are free, as it would be after such holes.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
  weft::start_log();
  // A file that grows beyond the limit (ulimit -f) is a failed write, with its message.
  std::signal(SIGXFSZ, SIG_IGN);
  // -j says how many threads there are. TBB would warn where that is more than there are cores.
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, weft::kMostJobs);
  try {
    return weft::run(argc, argv);
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory");
  } catch (const std::system_error& error) {
    // What prints does not say where to.
    if (std::ferror(stdout) != 0) {
      spdlog::error("cannot write to standard output: {}", error.code().message());
    } else {
      spdlog::error("{}", error.what());
    }
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
  return weft::exit_code::machine;
}
