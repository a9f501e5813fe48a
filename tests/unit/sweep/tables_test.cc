// results.csv and results_long.csv against the fields of summary.json.
#include "sim/sweep/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/report/field_names.h"
#include "sim/report/summary.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::tables_test {
namespace {

Row row_of(const RunReport& report, const std::string& point = "a") {
  const std::string summary = nlohmann::ordered_json::parse(summary_json(report)).dump();
  return {.row = 0,
          .point = point,
          .version = "1",
          .cells = {},
          .command = "",
          .outcome = {.ok = true, .error = "", .exit_code = 0, .summary = summary}};
}

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line + ",");
    lines.emplace_back();
    for (std::string cell; std::getline(fields, cell, ',');) lines.back().push_back(cell);
  }
  return lines;
}

std::vector<std::string> header_of(const std::vector<Row>& rows) {
  return cells_of(results_csv(rows, {})).front();
}

RunReport two_modes() {
  RunReport report = testing::two_gpus();
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    testing::add_run(report, mode, microseconds(100), {.link = 70});
  }
  return report;
}

RunReport of_a_model() {
  RunReport report = two_modes();
  report.scenario.workload.kind = WorkloadKind::transformer;
  for (ModeRun& run : report.runs) {
    run.result.parts = {{.name = "mlp", .computing = microseconds(120), .exposed = {}}};
    run.result.idle = microseconds(20);
    run.result.clock = 0.9;
  }
  return report;
}

TEST(SweepColumns, hold_every_field_of_a_mode) {
  std::vector<Row> rows{row_of(two_modes()), row_of(of_a_model())};
  for (const RunReport& report : testing::all_rates()) rows.push_back(row_of(report));
  RunReport with_ranges = two_modes();
  with_ranges.scenario.run.range = true;
  with_ranges.cluster.spec.gpu.errors.emplace();
  rows.push_back(row_of(with_ranges));
  const std::vector<std::string> columns = header_of(rows);
  int found = 0;
  for (const ModeField& field : mode_fields()) {
    if (!std::string(field.path).starts_with("modes.") || is_of_part(field)) continue;
    for (const char* mode : {"bulk", "fused"}) {
      const std::string column = sweep_column(mode, name_of(field));
      if (column.starts_with("bulk_times_as_fast")) continue;        // as itself
      if (column.find("as_unfused") != std::string::npos) continue;  // beside bulk alone
      EXPECT_EQ(std::count(columns.begin(), columns.end(), column), 1) << column;
      ++found;
    }
  }
  EXPECT_GT(found, 20);
}

TEST(SweepColumns, stay_in_groups_when_later_rows_have_more) {
  const std::vector<std::string> columns = header_of({row_of(two_modes()), row_of(of_a_model())});
  const auto at = [&columns](const std::string& column) {
    return std::find(columns.begin(), columns.end(), column) - columns.begin();
  };
  EXPECT_EQ(at("point"), 0);
  EXPECT_EQ(at("bulk_time_us"), 3);
  EXPECT_LT(at("fused_time_us"), at("fused_idle_us"));
  EXPECT_LT(at("fused_idle_us"), at("bulk_mlp_computing_us"));
  EXPECT_LT(at("fused_mlp_exposed_us"), at("fused_vs_bulk_speedup"));
  EXPECT_EQ(at("fused_vs_bulk_speedup") + 1, static_cast<std::ptrdiff_t>(columns.size()));
}

RunReport of_c3() {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::c3;
  report.scenario.workload.gemm.wg = report.scenario.workload.embedding.wg;
  for (const Mode mode :
       {Mode::compute_alone, Mode::comm_alone, Mode::serial, Mode::priority_partition}) {
    testing::add_run(report, mode, microseconds(100 + static_cast<int>(mode)), {.link = 70});
  }
  return report;
}

using Values = std::map<std::pair<std::string, std::string>, std::string>;  // by point and column

Values of_wide(const std::vector<Row>& rows) {
  constexpr std::size_t kFixed = 3;  // point, status, error
  const auto lines = cells_of(results_csv(rows, {}));
  Values values;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    for (std::size_t i = kFixed; i < lines[row].size(); ++i) {
      if (!lines[row][i].empty()) values[{lines[row][0], lines[0][i]}] = lines[row][i];
    }
  }
  return values;
}

TEST(LongTable, holds_what_results_csv_holds) {
  const std::vector<Row> rows{row_of(two_modes(), "a"), row_of(of_a_model(), "b"),
                              row_of(of_c3(), "c")};
  const auto lines = cells_of(results_long_csv(rows));
  EXPECT_EQ(lines.front(), (std::vector<std::string>{"point", "mode", "field", "value", "unit"}));
  Values values;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string>& line = lines[i];
    const std::string column = line[1].empty() ? line[2] : sweep_column(line[1], line[2]);
    EXPECT_TRUE(values.emplace(std::pair(line[0], column), line[3]).second) << column << " twice";
  }
  EXPECT_GT(values.size(), 140U);
  EXPECT_EQ(values, of_wide(rows));
}

TEST(LongTable, says_the_unit_of_every_value) {
  const auto lines = cells_of(results_long_csv({row_of(of_a_model(), "b"), row_of(of_c3(), "c")}));
  std::map<std::string, std::string> units;
  for (const auto& line : lines) units[line[2]] = line[4];
  for (const char* field :
       {"time_us", "wait_post_us", "idle_us", "mlp_exposed_us", "c3_compute_us"}) {
    EXPECT_EQ(units.at(field), "us") << field;
  }
  for (const char* field : {"cu_busy", "speedup_vs_bulk", "fingerprint", "c3_balance"}) {
    EXPECT_EQ(units.at(field), "") << field;
  }
  for (const auto& [field, unit] : units) {
    EXPECT_EQ(unit == "us", field.ends_with("_us")) << field;
  }
}

TEST(LongTable, has_a_point_of_several_rows_once_and_a_failed_one_never) {
  Row failed = row_of(two_modes(), "b");
  failed.outcome = {.ok = false, .error = "why", .exit_code = 1, .summary = ""};
  const Row row = row_of(two_modes(), "a");
  EXPECT_EQ(results_long_csv({row, failed, row}), results_long_csv({row}));
}

}  // namespace
}  // namespace weft::tables_test
