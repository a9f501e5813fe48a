// The columns of results.csv against the fields of summary.json.
#include "sim/sweep/results_csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/report/fields.h"
#include "sim/report/summary.h"
#include "sim/sweep/columns.h"
#include "tests/unit/report/made_up_results.h"

namespace weft {
namespace {

Row row_of(const RunReport& report) {
  const std::string summary = nlohmann::ordered_json::parse(summary_json(report)).dump();
  return {.row = 0,
          .point = "a",
          .version = "1",
          .cells = {},
          .command = "",
          .outcome = {.ok = true, .error = "", .exit_code = 0, .summary = summary}};
}

std::vector<std::string> header_of(const std::vector<Row>& rows) {
  std::istringstream line(results_csv(rows, {}));
  std::string text;
  std::getline(line, text);
  std::istringstream fields(text);
  std::vector<std::string> columns;
  for (std::string column; std::getline(fields, column, ',');) columns.push_back(column);
  return columns;
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
  }
  return report;
}

TEST(SweepColumns, hold_every_field_of_a_mode) {
  const std::vector<std::string> columns = header_of({row_of(two_modes()), row_of(of_a_model())});
  const std::string prefix = "modes.<mode>.";
  int found = 0;
  for (const Field& field : fields()) {
    const std::string path = field.name;
    const bool of_mode = field.file == ResultFile::summary && path.find(prefix) == 0;
    if (!of_mode || path.find("<part>") != std::string::npos) continue;
    for (const std::string mode : {"bulk_", "fused_"}) {
      const std::string column = mode + column_of_field(path.substr(prefix.size()));
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

}  // namespace
}  // namespace weft
