#include "sim/app/report_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/html/run_page.h"
#include "sim/html/sweep_page.h"
#include "sim/html/to_html.h"
#include "sim/report/fields.h"
#include "sim/report/write_files.h"
#include "sim/sweep/durable.h"
#include "sim/sweep/results_csv.h"
#include "sim/sweep/store.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Of a sweep that runs, or was killed, results.csv is not there or lacks points that are done.
std::optional<std::string> results_so_far(const fs::path& folder) {
  const auto info = parse_sweep_json(read_file(folder / kSweepFile));
  if (!info || !fs::exists(folder / "results.jsonl")) return std::nullopt;
  std::map<std::size_t, Row> rows;  // by their place in the sweep
  for (Row& row : read_rows(folder / "results.jsonl", info->axes).rows) {
    if (row.version == info->version) rows.insert_or_assign(row.row, std::move(row));
  }
  std::vector<Row> in_order;
  in_order.reserve(rows.size());
  for (auto& [place, row] : rows) in_order.push_back(std::move(row));
  return results_csv(in_order, info->axes);
}

Page page_of(const fs::path& folder, Diagnostics& problems) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(folder / name, ignored); };
  if (has(kSweepFile) || has(kSweepResults))
    return sweep_page(folder, results_so_far(folder), problems);
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
  if (!page.note.empty()) spdlog::warn("{}", page.note);
  spdlog::info("the report is in {}", output.string());
  return exit_code::ok;
}

}  // namespace weft
