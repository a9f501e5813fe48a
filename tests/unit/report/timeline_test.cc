// The timeline of hand-made recordings, against the format that viewers read.
#include "sim/report/timeline.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "sim/report/gzip.h"
#include "tests/trace_event_format.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::timeline_test {
namespace {

using testing::TraceEventFormat;

SimTime at_us(std::int64_t us) { return SimTime{} + microseconds(us); }

KernelRecord kernel(std::uint32_t gpu, std::int64_t start_us, std::int64_t end_us) {
  return {.gpu = gpu,
          .op = 0,
          .role = KernelRole::compute,
          .executor = Executor::cu,
          .items = 4,
          .start = at_us(start_us),
          .end = at_us(end_us)};
}

// Two kernels of GPU 0 beside one another and one of GPU 1, which gets a message from a WG's work.
Recording three_kernels() {
  Recording recording;
  recording.tracks = {.classes = {{.name = "scale_out_x+", .links = 1}}, .gpus = 2, .links = {}};
  recording.amounts = Intervals(recording.tracks.size(), microseconds(10));
  recording.amounts.spread(recording.tracks.cu_time(0), at_us(0), at_us(20), 100'000'000);
  recording.amounts.close(at_us(100));
  recording.detail = Detail::all;
  recording.operators = {"a \"quoted\" name"};
  recording.kernels = {kernel(0, 1, 50), kernel(0, 20, 60), kernel(1, 1, 100)};
  recording.wgs = {{.start = at_us(1),
                    .end = at_us(10),
                    .kernel = 0,
                    .cu = 3,
                    .slot = 7,
                    .item = 0,
                    .waits_for = {}},
                   {.start = at_us(10),
                    .end = at_us(12),
                    .kernel = 0,
                    .cu = 3,
                    .slot = 7,
                    .item = WgRecord::kWaits,
                    .waits_for = Wait::store},
                   {.start = at_us(5),
                    .end = at_us(40),
                    .kernel = 0,
                    .cu = 3,
                    .slot = 8,
                    .item = 1,
                    .waits_for = {}}};
  recording.messages = {
      {.posted = at_us(10), .arrived = at_us(11), .kernel = 0, .wg = 0, .to = 1, .size = 64}};
  recording.watched = 2;
  recording.gpus = 2;
  return recording;
}

RunReport report_of(Recording recording) {
  RunReport report = testing::two_gpus();
  testing::add_run(report, Mode::bulk, microseconds(100), {});
  report.runs.back().recording = alone(std::move(recording));
  return report;
}

std::string joined(const std::vector<std::string>& mistakes) {
  std::string text;
  for (const std::string& mistake : mistakes) text += mistake + "\n";
  return text;
}

TEST(Timeline, has_kernels_wgs_messages_and_counters) {
  const Timeline shown = timeline(report_of(three_kernels()), {.detail = Detail::all});
  const TraceEventFormat file(shown.json);
  EXPECT_TRUE(file.mistakes().empty()) << joined(file.mistakes());
  EXPECT_TRUE(shown.left_out.empty());
  EXPECT_EQ(file.count('X'), 6);
  EXPECT_EQ(file.count('s'), 1);
  EXPECT_EQ(file.count('f'), 1);
  EXPECT_TRUE(file.has_process("bulk: GPU 0"));
  EXPECT_TRUE(file.has_process("bulk: two"));
  for (const char* thread : {"compute", "compute 2", "CU 3 WG 0", "CU 3 WG 1"}) {
    EXPECT_TRUE(file.has_thread(thread)) << thread;
  }
  // 5 of 10 CUs of GPU 0 for 20 us.
  EXPECT_NE(shown.json.find(R"("ts":0.000,"name":"CU busy","args":{"%":50.0})"), std::string::npos);
  EXPECT_NE(shown.json.find(R"("ts":20.000,"name":"CU busy","args":{"%":0.0})"), std::string::npos);
}

TEST(Timeline, plays_a_recording_where_it_is_played) {
  RunReport report = report_of(three_kernels());
  RunRecording& run = report.runs.back().recording;
  run.recordings.front().kernels.pop_back();
  run.recordings.front().messages.clear();
  run.played.push_back({.recording = 0, .start = at_us(60), .first_gpu = 1});
  const Timeline shown = timeline(report, {.detail = Detail::all});
  const TraceEventFormat file(shown.json);
  EXPECT_TRUE(file.mistakes().empty()) << joined(file.mistakes());
  EXPECT_EQ(file.count('X'), 7);
  const auto& moved = file.slices().at({3, 1});
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].start, 61'000);
  EXPECT_EQ(moved[0].end, 110'000);
  ASSERT_EQ(shown.left_out.size(), 1U);
  EXPECT_NE(shown.left_out[0].find("repetitions"), std::string::npos);
}

TEST(Timeline, keeps_to_its_limit_and_says_what_it_leaves_out) {
  Recording recording = three_kernels();
  for (std::int64_t i = 0; i < 1000; ++i) {
    recording.wgs.push_back({.start = at_us(40 + i),
                             .end = at_us(41 + i),
                             .kernel = 2,
                             .cu = 0,
                             .slot = 1,
                             .item = 2,
                             .waits_for = {}});
  }
  const RunReport report = report_of(std::move(recording));
  const Timeline shown = timeline(report, {.detail = Detail::all, .limit = bytes(20'000)});
  const TraceEventFormat file(shown.json);
  EXPECT_TRUE(file.mistakes().empty()) << joined(file.mistakes());
  EXPECT_LT(shown.json.size(), 21'000U);
  EXPECT_GT(shown.json.size(), 10'000U);
  ASSERT_EQ(shown.left_out.size(), 1U);
  EXPECT_EQ(shown.left_out[0].find("bulk: WGs and messages from "), 0U) << shown.left_out[0];
  const Timeline tiny = timeline(report, {.detail = Detail::all, .limit = bytes(2'000)});
  EXPECT_TRUE(TraceEventFormat(tiny.json).mistakes().empty());
  EXPECT_FALSE(tiny.left_out.empty());
}

TEST(TraceEventFormat, finds_mistakes) {
  const auto mistakes = [](const std::string& events) {
    return TraceEventFormat(
               R"({"displayTimeUnit":"ns","traceEvents":[)"
               R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"p"}},)"
               R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}},)" +
               events + "]}")
        .mistakes();
  };
  const std::string slice =
      R"({"ph":"X","pid":1,"tid":1,"ts":1.000,"dur":4,"cat":"c","name":"n","args":{}})";
  EXPECT_TRUE(mistakes(slice).empty());
  EXPECT_FALSE(mistakes(slice + R"(,{"ph":"X","pid":1,"tid":1,"ts":3,"dur":4,"cat":"c","name":"n",)"
                                R"("args":{}})")
                   .empty());
  EXPECT_FALSE(
      mistakes(slice + R"(,{"ph":"C","pid":1,"ts":0.5,"name":"n","args":{"%":1}})").empty());
  EXPECT_FALSE(mistakes(R"({"ph":"C","pid":1,"ts":1,"name":"n","args":{"%":"1"}})").empty());
  EXPECT_FALSE(mistakes(slice + R"(,{"ph":"s","pid":1,"tid":1,"ts":2,"cat":"c","name":"n","id":1})")
                   .empty());
  EXPECT_FALSE(mistakes(R"({"ph":"B","pid":1,"tid":1,"ts":1,"cat":"c","name":"n"})").empty());
}

TEST(Gzip, is_what_gunzip_reads) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  const std::string packed = gzipped(text);
  EXPECT_LT(packed.size(), text.size());
  EXPECT_EQ(packed, gzipped(text));
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string bytes = packed;
  std::string unpacked(text.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.total_out, text.size());
  inflateEnd(&stream);
  unpacked.resize(text.size());
  EXPECT_EQ(unpacked, text);
  EXPECT_FALSE(gzipped("").empty());
}

}  // namespace
}  // namespace weft::timeline_test
