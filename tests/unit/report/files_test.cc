// What stands in summary.json, manifest.json and the CSV files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/report/csv.h"
#include "sim/report/manifest.h"
#include "sim/report/over_time.h"
#include "sim/report/result_files.h"
#include "sim/report/summary.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::files_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::add_run;

TEST(Summary, has_values_with_full_precision) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, picoseconds(150'000'001), {.link = 70});
  add_run(report, Mode::fused, microseconds(100), {.link = 70});
  report.peak_rss_bytes = 4096;
  const Json json = Json::parse(summary_json(report));
  EXPECT_EQ(json["modes"]["bulk"]["time_us"].dump(), "150.000001");
  EXPECT_EQ(json["modes"]["fused"]["fingerprint"], "000000000000feef");
  EXPECT_EQ(json["speedup"].dump(), R"({"fused_vs_bulk":1.50000001})");
  EXPECT_EQ(json["ledger"]["bulk"]["messages"].dump(), R"({"asked":10,"done":10})");
  EXPECT_EQ(json["engine"].dump(),
            R"({"simulated_gpus":2,"events":2000000,"wall_s":1.0,"events_per_s":2000000.0,)"
            R"("peak_rss_bytes":4096})");
  EXPECT_EQ(json.begin().key(), "scenario");
}

TEST(Summary, leaves_speedup_out_where_bulk_was_not_run) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::fused, microseconds(100), {});
  EXPECT_EQ(Json::parse(summary_json(report))["speedup"], Json::object());
}

TEST(Summary, says_where_the_ledger_does_not_balance) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(100), {});
  add_run(report, Mode::fused, microseconds(100), {}).ledger.sent_bytes = {2, 1};
  const Json ledger = Json::parse(summary_json(report))["ledger"];
  EXPECT_EQ(ledger["balanced"], false);
  EXPECT_EQ(ledger["bulk"]["balanced"], true);
  EXPECT_EQ(ledger["fused"]["balanced"], false);
}

TEST(Csv, quotes_what_needs_it) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(100), {});
  result.operators.front().name = "a, \"b\"";
  result.operators.front().part = "a part";
  result.operators.front().critical = microseconds(40);
  result.operators.front().cu_time = microseconds(700);
  result.operators.front().exposed = microseconds(30);  // of two GPUs
  EXPECT_EQ(operators_csv(report),
            "mode,operator,part,role,start_us,place_us,end_us,longest_us,mean_us,critical_us,"
            "kernels,wgs,wg_time_us,messages,sent_bytes,hbm_bytes,cu_time_us,exposed_us\n"
            "bulk,\"a, \"\"b\"\"\",a part,compute,0.5,0.5,100,99.5,99.5,40,2,64,10000,0,0,0,700,"
            "15\n");
}

TEST(Csv, an_operator_without_kernels_starts_at_zero) {
  RunReport report = testing::two_gpus();
  OperatorUse nothing;
  nothing.name = "nothing";
  add_run(report, Mode::bulk, microseconds(100), {}).operators = {nothing};
  EXPECT_NE(operators_csv(report).find("bulk,nothing,,compute,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"),
            std::string::npos);
}

TEST(Csv, has_a_row_per_mode_and_link) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(100), {.link = 70}).links.front().use.queued =
      nanoseconds(1'500);
  add_run(report, Mode::fused, microseconds(50), {.link = 10});
  EXPECT_EQ(links_csv(report),
            "mode,link,class,bandwidth_bytes_per_s,bytes,messages,busy_us,utilisation,"
            "queued_us_total,queued_us_max\n"
            "bulk,0->1,scale_out_x+,25000000000,1750000,0,70,0.7,1.5,0\n"
            "fused,0->1,scale_out_x+,25000000000,125000,0,5,0.1,0,0\n");
}

TEST(Csv, has_a_row_per_mode_and_class_of_links) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(100), {.link = 70});
  result.links.push_back(result.links.front());
  result.links[1].use = {.carried = bytes(64),
                         .messages = 2,
                         .busy = microseconds(10),
                         .queued = nanoseconds(1'500),
                         .queued_max = nanoseconds(1'000)};
  result.links.push_back(result.links.front());
  result.links[2].link_class = "nic_send";
  EXPECT_EQ(link_classes_csv(report),
            "mode,class,links,bytes,messages,utilisation,utilisation_max,queued_us_total,"
            "queued_us_max\n"
            "bulk,scale_out_x+,2,1750064,2,0.4,0.7,1.5,1\n"
            "bulk,nic_send,1,1750000,0,0.7,0.7,0,0\n");
}

// 100 ns of 10 CUs of one of two GPUs, 100 bytes of 2 x 1 TB/s, all in the first half; one link.
TEST(Csv, has_a_row_per_mode_and_interval) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, nanoseconds(200), {});
  RunRecording& recording = report.runs.back().recording;
  recording.tracks.classes = {{.name = "scale_out_x+", .links = 1}};
  recording.amounts = Intervals(recording.tracks.size(), nanoseconds(100));
  recording.amounts.add(0, Tracks::cu_time(), nanoseconds(1'000).count());
  recording.amounts.add(0, Tracks::hbm_bytes(), 50'000);
  recording.amounts.add(1, Tracks::of_class(0), nanoseconds(25).count());
  recording.amounts.close(SimTime{} + nanoseconds(150));
  EXPECT_EQ(over_time_csv(report),
            "mode,from_us,to_us,cu_busy,hbm_busy,links_busy\n"
            "bulk,0,0.1,0.5,0.25,0\n"
            "bulk,0.1,0.15,0,0,0.5\n");
}

TEST(Manifest, tells_how_to_do_it_again) {
  RunReport report = testing::two_gpus();
  add_run(report, Mode::bulk, microseconds(100), {});
  EXPECT_EQ(manifest_json(report), R"({
  "version": "1.2.3",
  "scenario": "made up",
  "scenario_hash": "0123456789abcdef",
  "seed": 7,
  "command": "weft run made_up.yaml",
  "inputs": [
    {
      "path": "made_up.yaml",
      "hash": "00000000000000aa"
    }
  ],
  "fingerprints": {
    "bulk": "000000000000feed"
  }
}
)");
}

}  // namespace
}  // namespace weft::files_test
