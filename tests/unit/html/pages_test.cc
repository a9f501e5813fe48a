// Which tables and charts the example folders give; the numbers are reckoned from their files here.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sim/html/run_page.h"
#include "sim/html/run_tables.h"
#include "sim/html/sweep_page.h"
#include "sim/html/sweep_results.h"

namespace weft::pages_test {
namespace {

const std::filesystem::path kExamples = std::string(WEFT_SOURCE_DIR) + "/tests/html";

std::vector<std::string> ids(const Page& page) {
  std::vector<std::string> all;
  for (const Chart& chart : page.charts) all.push_back(chart.id);
  return all;
}
const PageTable& table(const Page& page, const std::string& name) {
  return *std::find_if(page.tables.begin(), page.tables.end(),
                       [&](const PageTable& one) { return one.name == name; });
}
const Chart& chart(const Page& page, const std::string& id) {
  return *std::find_if(page.charts.begin(), page.charts.end(),
                       [&](const Chart& one) { return one.id == id; });
}

TEST(RunPage, has_a_chart_for_each_file) {
  Diagnostics problems;
  const Page page = run_page(kExamples / "run", problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(ids(page),
            (std::vector<std::string>{"time", "phases", "links", "over_time", "critical"}));
  EXPECT_EQ(page.title, "embedding + all-to-all, 4 GPUs");
  EXPECT_EQ(page.command, "weft run configs/scenarios/embedding_a2a_4_gpus.yaml");
  EXPECT_EQ(page.sentences.size(), 3U);
  EXPECT_EQ(table(page, "modes").rows.size(), 3U);
  EXPECT_EQ(table(page, "phases").rows.size(), 9U);
}

// bulk: 2873.953433 - 2513.678817 - 356.816404 us: no kernel is active.
TEST(RunPage, neither_is_what_computing_and_exposed_communication_leave) {
  Diagnostics problems;
  const Page page = run_page(kExamples / "run", problems);
  const auto& neither = table(page, "phases").rows[2];
  EXPECT_EQ(neither[1], "no kernel active");
  EXPECT_NEAR(neither[2].get<double>(), 3.458212, 1e-6);
}

// Twelve links of one class in each mode.
TEST(RunPage, links_are_counted_by_class) {
  Diagnostics problems;
  const Page page = run_page(kExamples / "run", problems);
  const PageTable& links = table(page, "links");
  ASSERT_EQ(links.rows.size(), 3U);
  EXPECT_EQ(links.rows[0][1], "scale_up_direct");
  EXPECT_EQ(links.rows[0][2], 12);
  EXPECT_EQ(links.rows[0][5], 12 * 12058624);
}

TEST(RunPage, a_model_has_parts_and_fusions_and_says_that_there_is_no_time_series) {
  Diagnostics problems;
  const Page page = run_page(kExamples / "model", problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(ids(page), (std::vector<std::string>{"time", "phases", "parts", "fusions", "links",
                                                 "over_time", "critical"}));
  EXPECT_EQ(chart(page, "over_time").table, "");
  EXPECT_NE(chart(page, "over_time").text.find("no over_time.csv"), std::string::npos);
}

// A bar for each stage, of all that its time is.
TEST(RunPage, stages_of_a_pipeline_are_bars_of_their_phases) {
  const Pictured stages =
      stages_picture({{"bulk", 0, 10.0, 2.0, 3.0}, {"bulk", 1, 12.0, 1.0, 2.0}});
  EXPECT_EQ(stages.chart.kind, "stacked");
  EXPECT_EQ(stages.chart.slice, std::vector<std::string>{"mode"});
  EXPECT_EQ(stages.table.rows, (Rows{{"bulk", "stage 0", "computing", 10.0},
                                     {"bulk", "stage 0", "exposed", 2.0},
                                     {"bulk", "stage 0", "idle", 3.0},
                                     {"bulk", "stage 1", "computing", 12.0},
                                     {"bulk", "stage 1", "exposed", 1.0},
                                     {"bulk", "stage 1", "idle", 2.0}}));
}

// Whose step decodes: 16 tokens in 11.5 ms, and nothing that is of training.
TEST(RunPage, shows_the_rates_that_its_modes_have) {
  Diagnostics problems;
  const Page model = run_page(kExamples / "model", problems);
  const std::vector<std::string>& shown = chart(model, "time").roles[1].choices;
  const auto offers = [&](const char* field) {
    return std::find(shown.begin(), shown.end(), field) != shown.end();
  };
  EXPECT_TRUE(offers("mfu"));
  EXPECT_FALSE(offers("hfu"));
  const PageTable& modes = table(model, "modes");
  const auto tokens =
      std::find_if(modes.columns.begin(), modes.columns.end(),
                   [](const PageColumn& column) { return column.name == "tokens_per_s"; });
  ASSERT_NE(tokens, modes.columns.end());
  const auto at = static_cast<std::size_t>(tokens - modes.columns.begin());
  EXPECT_NEAR(modes.rows[0][at].get<double>(), 16 / 11.496880813e-3, 1e-6);
}

TEST(PageColumns, of_an_axis_tell_the_unit_that_its_name_ends_in) {
  EXPECT_EQ(axis_column("nic_bandwidth_gbps", true).title, "nic bandwidth");
  EXPECT_EQ(axis_column("nic_bandwidth_gbps", true).unit, "Gb/s");
  EXPECT_EQ(axis_column("bytes", true).title, "bytes");
  EXPECT_EQ(axis_column("bytes", true).unit, "bytes");
  EXPECT_EQ(axis_column("batch", true).unit, "");
  EXPECT_EQ(axis_column("order_us", false).title, "order us");  // words
}

TEST(PageColumns, of_one_title_get_their_whole_names) {
  std::vector<PageColumn> columns = {axis_column("link_gbps", true), axis_column("link_us", true),
                                     axis_column("batch", true)};
  tell_apart(columns);
  EXPECT_EQ(columns[0].title, "link gbps");
  EXPECT_EQ(columns[1].title, "link us");
  EXPECT_EQ(columns[2].title, "batch");
}

TEST(PageColumns, of_waiting_say_that_they_are_sums) {
  EXPECT_EQ(mode_column("wait_flag_us").title, "waiting for flags, all WGs");
  EXPECT_EQ(mode_column("wait_flag_us").as, ShownAs::time);
}

TEST(SweepPage, has_its_charts_and_names_the_point_that_failed) {
  Diagnostics problems;
  const Page page = sweep_page(kExamples / "sweep", std::nullopt, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(ids(page), (std::vector<std::string>{"time", "map", "lines", "phases"}));
  EXPECT_EQ(table(page, "points").rows.size(), 29U * 2);
  ASSERT_EQ(page.failed.size(), 1U);
  EXPECT_EQ(page.failed[0],
            "batch 8192, bandwidth_gbps 400, order as_it_is: needs 3.1 GB, \"more\" than there is, "
            "so it was not run");
  EXPECT_EQ(page.facts.back().second, "29 done, 1 failed, of 30");
  ASSERT_EQ(page.sentences.size(), 1U);
  EXPECT_TRUE(page.sentences[0].starts_with("fused is 1.16x (batch 4096, ")) << page.sentences[0];
}

TEST(SweepPage, of_a_sweep_that_is_not_at_its_end_says_so) {
  Diagnostics problems;
  const std::string header =
      "batch,bandwidth_gbps,order,point,status,error,bulk_time_us,fused_time_us,"
      "fused_vs_bulk_speedup\n";
  const Page some =
      sweep_page(kExamples / "sweep", header + "512,100,given,a,ok,,20,10,2\n", problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(some.note,
            "Not finished: 1 of 30 points are done; run the same command again for the others.");
  EXPECT_EQ(some.facts.back().second, "1 done, 0 failed, of 30");
  EXPECT_EQ(table(some, "points").rows.size(), 2U);
  const Page none =
      sweep_page(kExamples / "sweep", "batch,bandwidth_gbps,order,point,status,error\n", problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_TRUE(none.note.starts_with("Not finished: 0 of 30 points")) << none.note;
  EXPECT_TRUE(none.charts.empty());
  EXPECT_EQ(sweep_page(kExamples / "sweep", std::nullopt, problems).note, "");
}

// The axes that are chosen for the map of these points: batch, bandwidth, order, status.
std::pair<std::string, std::string> map_of(const std::string& points) {
  Diagnostics problems;
  const Page page =
      sweep_page(kExamples / "sweep",
                 "batch,bandwidth_gbps,order,point,status,error,bulk_time_us\n" + points, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return {chart(page, "map").roles[0].chosen, chart(page, "map").roles[1].chosen};
}

TEST(SweepPage, maps_two_axes_of_which_neither_follows_from_the_other) {
  using Axes = std::pair<std::string, std::string>;
  EXPECT_EQ(map_of("512,100,given,a,ok,,20\n512,200,given,b,ok,,20\n1024,100,given,c,ok,,20\n"),
            Axes("batch", "bandwidth_gbps"));
  // batch and bandwidth change together, and the last point has failed
  EXPECT_EQ(map_of("512,100,given,a,ok,,20\n512,100,other,b,ok,,20\n1024,200,given,c,ok,,20\n"
                   "1024,200,other,d,failed,why,\n"),
            Axes("batch", "order"));
  // one batch
  EXPECT_EQ(map_of("512,100,given,a,ok,,20\n512,100,other,b,ok,,20\n512,200,given,c,ok,,20\n"),
            Axes("bandwidth_gbps", "order"));
  EXPECT_EQ(map_of("512,100,given,a,ok,,20\n"), Axes("batch", "bandwidth_gbps"));
}

CsvTable csv(const std::string& text, Diagnostics& problems) {
  return parse_csv("results.csv", text, problems);
}

TEST(SweepResults, the_longest_mode_that_a_column_begins_with_is_its_mode) {
  Diagnostics problems;
  const SweepResults results = sweep_results(
      csv("cus,point,status,error,comm_alone_time_us,comm_alone_dma_time_us,dma_time_us,"
          "dma_vs_serial_speedup\n8,a,ok,,1,2,3,4\n",
          problems),
      {"cus"}, problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  EXPECT_EQ(results.fields, (std::vector<std::string>{"time_us", "speedup_vs_serial"}));
  EXPECT_EQ(results.points.rows,
            (std::vector<std::vector<JsonValue>>{{8.0, "comm_alone", 1.0, nullptr},
                                                 {8.0, "comm_alone_dma", 2.0, nullptr},
                                                 {8.0, "dma", 3.0, 4.0}}));
}

TEST(SweepResults, every_mistake_is_named_with_its_line) {
  Diagnostics problems;
  const CsvTable table =
      csv("batch,point,status,error,bulk_time_us\n1,a,ok,,fast\n2,b,done,,3\n3,c,failed,why,\n",
          problems);
  sweep_results(table, {"batch"}, problems);
  EXPECT_EQ(problems.to_text(),
            "results.csv:2:1: error: bulk_time_us: 'fast' is not a number\n"
            "results.csv:3:1: error: status: 'done'; must be ok or failed\n");
  Diagnostics others;
  sweep_results(csv("batc,point,status,error\n", others), {"batch"}, others);
  EXPECT_EQ(others.to_text(),
            "results.csv:1:1: error: batch: no such column; is 'batc' a misspelling?\n");
}

}  // namespace
}  // namespace weft::pages_test
