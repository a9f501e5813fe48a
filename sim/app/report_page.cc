#include "sim/app/report_page.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/app/compared_keys.h"
#include "sim/files/read_text.h"
#include "sim/html/run_page.h"
#include "sim/html/sweep_page.h"
#include "sim/report/fields.h"
#include "sim/sweep/store.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Of a sweep that runs, or was killed, results.csv is not there or lacks points that are done.
std::optional<std::string> results_so_far(const fs::path& folder, Diagnostics& problems) {
  const fs::path lines = folder / kSweepRows;
  const ReadText text = read_text(folder / kSweepFile);
  if (!text.text || !fs::exists(lines)) return std::nullopt;
  const auto info = parse_sweep_json(*text.text);
  if (!info) {
    add_problem(problems, folder / kSweepFile, 0, "", "damaged; run the sweep again");
    return std::nullopt;
  }
  ReadRows read = read_rows(lines, *info);
  if (!read.damaged.empty()) {
    spdlog::warn("{}: damaged or incomplete; left out", places_text(read.damaged));
  }
  std::map<std::size_t, Row> rows;  // by their place in the sweep
  for (Row& row : read.rows) {
    if (row.version == info->version) rows.insert_or_assign(row.row, std::move(row));
  }
  std::vector<Row> in_order;
  in_order.reserve(rows.size());
  for (auto& [place, row] : rows) in_order.push_back(std::move(row));
  return results_csv(in_order, info->axes);
}

// What must not be looked for is told as that, and not as missing.
bool is_there(const fs::path& file, Diagnostics& problems) {
  std::error_code code;
  const bool there = fs::exists(file, code);
  if (code && !problems.has_errors()) add_problem(problems, file, 0, "", words_of(code));
  return there;
}

enum class Results { none, run, sweep };

// None: a problem says why.
Results results_in(const fs::path& folder, Diagnostics& problems) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    add_problem(problems, folder, 0, "", code ? words_of(code) : "not a folder");
    return Results::none;
  }
  const auto has = [&](const char* name) { return is_there(folder / name, problems); };
  const bool sweep = has(kSweepFile) || has(kSweepResults);
  const bool run = has(file_name(ResultFile::summary)) || has(file_name(ResultFile::manifest));
  if (sweep && run) {
    add_problem(
        problems, folder, 0, "",
        fmt::format("holds a sweep's results ({}) and a run's ({}); move one of them to a "
                    "folder of its own",
                    has(kSweepFile) ? kSweepFile : kSweepResults, file_name(ResultFile::summary)));
    return Results::none;
  }
  if (sweep) return Results::sweep;
  if (run) return Results::run;
  if (problems.has_errors()) return Results::none;
  add_problem(problems, folder, 0, "",
              fmt::format("contains no results: neither {} and {} of a sweep, nor {} of a run "
                          "(weft run SCENARIO -o DIR)",
                          kSweepFile, kSweepResults, file_name(ResultFile::summary)));
  return Results::none;
}

Page page_of(const fs::path& folder, Diagnostics& problems) {
  switch (results_in(folder, problems)) {
    case Results::sweep:
      return sweep_page(folder, results_so_far(folder, problems), problems);
    case Results::run:
      return run_page(folder, problems);
    case Results::none:
      break;
  }
  return {};
}

// Every folder is a run's, and is there once.
void check_runs(const std::vector<fs::path>& folders, Diagnostics& problems) {
  std::set<fs::path> known;
  for (const fs::path& folder : folders) {
    Diagnostics found;
    const Results results = results_in(folder, found);
    problems.append(found);
    if (results == Results::sweep) {
      add_problem(problems, folder, 0, "",
                  "holds a sweep's results; only runs are compared, and a sweep has a report of "
                  "its own (weft report DIR)");
    }
    std::error_code ignored;
    if (!known.insert(fs::weakly_canonical(folder, ignored)).second) {
      add_problem(problems, folder, 0, "", "is given twice");
    }
  }
}

}  // namespace

Page report_page(const std::vector<fs::path>& folders, Diagnostics& problems) {
  if (folders.size() == 1) return page_of(folders[0], problems);
  check_runs(folders, problems);
  if (problems.has_errors()) return {};
  return compared_page(folders, compared_keys(folders, problems), problems);
}

}  // namespace weft
