#include "sim/app/report_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/html/run_page.h"
#include "sim/html/sweep_page.h"
#include "sim/html/to_html.h"
#include "sim/report/fields.h"
#include "sim/report/write_files.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

Page page_of(const fs::path& folder, Diagnostics& problems) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(folder / name, ignored); };
  if (has(kSweepFile) || has(kSweepResults)) return sweep_page(folder, problems);
  if (has(file_name(ResultFile::summary)) || has(file_name(ResultFile::manifest))) {
    return run_page(folder, problems);
  }
  add_problem(problems, folder, 0, "",
              fmt::format("holds no results: neither {} and {} of a sweep, nor {} of a run "
                          "(weft run SCENARIO -o DIR)",
                          kSweepFile, kSweepResults, file_name(ResultFile::summary)));
  return {};
}

}  // namespace

int report_command(const ReportCommand& command) {
  Diagnostics problems;
  const Page page = page_of(command.folder, problems);
  const Assets assets = load_assets({.page = html_dirs(), .vega = vega_dirs()}, problems);
  if (problems.has_errors()) {
    fmt::print(stderr, "{}", problems.to_text());
    return exit_code::user;
  }
  const fs::path output = command.output.value_or(command.folder / "report.html");
  write_file(output, to_html(page, assets));
  spdlog::info("the report is in {}", output.string());
  return exit_code::ok;
}

}  // namespace weft
