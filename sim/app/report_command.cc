#include "sim/app/report_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <string>
#include <vector>

#include "sim/app/config_dirs.h"
#include "sim/app/planned.h"
#include "sim/app/report_page.h"
#include "sim/files/staged.h"
#include "sim/html/sweep_page.h"
#include "sim/html/to_html.h"
#include "sim/report/result_files.h"
#include "sim/run/exit_code.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCompared = "compared.html";

Planned planned(const std::vector<fs::path>& folders, const fs::path& output) {
  Planned planned;
  for (const fs::path& folder : folders) {
    for (const std::string& name : result_names()) planned.reads.push_back(folder / name);
    for (const char* name : {kSweepFile, kSweepResults, kSweepRows}) {
      planned.reads.push_back(folder / name);
    }
  }
  planned.write("--output", output);
  return planned;
}

fs::path output_of(const ReportCommand& command) {
  if (command.output) return *command.output;
  return command.folders.size() == 1 ? command.folders[0] / "report.html" : fs::path(kCompared);
}

}  // namespace

int report_command(const ReportCommand& command) {
  const fs::path output = output_of(command);
  Diagnostics problems;
  const Page page = report_page(command.folders, problems);
  const Assets assets = load_assets({.page = html_dirs(), .vega = vega_dirs()}, problems);
  if (problems.has_errors()) {
    fmt::print(stderr, "{}", problems.to_text());
    return exit_code::user;
  }
  if (refused(planned(command.folders, output))) return exit_code::user;
  write_file(output, to_html(page, assets));
  if (!page.note.empty()) spdlog::warn("{}", page.note);
  spdlog::info("the report is in {}", output.string());
  return exit_code::ok;
}

}  // namespace weft
