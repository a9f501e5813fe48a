// The folder of a sweep: what is read back after a program or a machine has ended.
#include "sim/sweep/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "sim/files/read_text.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/tables.h"

namespace weft::store_test {
namespace {

namespace fs = std::filesystem;

const std::vector<AxisColumn> kAxes = {{.key = "cluster.nodes", .column = "nodes"},
                                       {.key = "cluster", .column = "fabric"}};

SweepInfo info(std::size_t points, const std::string& version = "1") {
  return {.name = "test",
          .scenario = "a.yaml",
          .version = version,
          .command = "weft sweep test.yaml",
          .axes = kAxes,
          .points = points,
          .shard = ""};
}

PointOutcome ok(double us) {
  return {.ok = true,
          .error = "",
          .exit_code = 0,
          .summary = R"({"modes":{"bulk":{"time_us":)" + std::to_string(us) +
                     R"(,"wait_us":{"post":1}}},"speedup":{}})"};
}

Row row(std::size_t number, const std::string& point, const PointOutcome& outcome) {
  return {.row = number,
          .point = point,
          .version = "1",
          .cells = {static_cast<double>(number), std::string("to\"rus")},
          .command = "weft run a.yaml",
          .outcome = outcome};
}

class SweepStore : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string text(const char* name) const { return read_own(folder_ / name); }

  fs::path folder_ =
      fs::temp_directory_path() / ("weft_store_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(SweepStore, a_line_reads_back_as_its_row) {
  for (const Row& written :
       {row(3, "abc", ok(1.5)),
        row(4, "def", {.ok = false, .error = "a\xff \"b\"", .exit_code = 1, .summary = ""})}) {
    const std::string line = line_of(written, kAxes);
    EXPECT_EQ(line.back(), '\n');
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto read = parse_row(line, kAxes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(line_of(*read, kAxes), line);
    EXPECT_EQ(read->point, written.point);
    EXPECT_EQ(read->cells, written.cells);
    EXPECT_EQ(read->outcome.ok, written.outcome.ok);
  }
}

TEST_F(SweepStore, what_was_added_is_there_when_it_is_opened_again) {
  {
    Store store(folder_, info(3));
    store.keep({});
    store.add({row(1, "b", ok(2))});
    store.add({row(0, "a", ok(1))});
  }
  Store store(folder_, info(3));
  ASSERT_NE(store.find("a"), nullptr);
  ASSERT_NE(store.find("b"), nullptr);
  EXPECT_NE(store.find("b")->summary.find("2.0"), std::string::npos);
  EXPECT_EQ(store.find("c"), nullptr);
  EXPECT_TRUE(store.damaged().empty());
}

TEST_F(SweepStore, a_cut_line_is_none_wherever_it_is_cut) {
  const std::string whole = line_of(row(0, "a", ok(1)), kAxes);
  const std::string last = line_of(row(1, "b", ok(2)), kAxes);
  fs::create_directories(folder_);
  for (std::size_t length = 0; length < last.size(); ++length) {
    std::ofstream(folder_ / "results.jsonl", std::ios::binary) << whole << last.substr(0, length);
    const ReadRows read = read_rows(folder_ / "results.jsonl", info(2));
    ASSERT_EQ(read.rows.size(), 1U) << length;
    EXPECT_EQ(read.rows[0].point, "a");
    EXPECT_EQ(read.damaged.size(), length == 0 ? 0U : 1U) << length;
  }
}

TEST_F(SweepStore, after_a_cut_line_the_next_one_is_whole) {
  const std::string first = line_of(row(0, "a", ok(1)), kAxes);
  fs::create_directories(folder_);
  std::ofstream(folder_ / "results.jsonl", std::ios::binary) << first << "{\"row\":1,\"poi";
  {
    Store store(folder_, info(2));
    EXPECT_EQ(store.damaged(),
              std::vector<std::string>{(folder_ / "results.jsonl").string() + ":2"});
    store.keep({row(0, "a", *store.find("a"))});
    store.add({row(1, "b", ok(2))});
  }
  EXPECT_EQ(text("results.jsonl"), first + line_of(row(1, "b", ok(2)), kAxes));
}

TEST_F(SweepStore, garbage_in_between_is_counted_and_skipped) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "results.jsonl", std::ios::binary)
      << std::string(40, '\0') << "\n[1, 2]\n{}\n"
      << line_of(row(0, "a", ok(1)), kAxes);
  const ReadRows read = read_rows(folder_ / "results.jsonl", info(2));
  EXPECT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.damaged.size(), 3U);
}

// Every byte of a stored row, by every bit: what is read is what was written, or nothing.
TEST_F(SweepStore, a_row_with_a_changed_bit_is_none) {
  const std::string whole = line_of(row(0, "a", ok(1)), kAxes);
  fs::create_directories(folder_);
  for (std::size_t byte = 0; byte + 1 < whole.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[byte] = static_cast<char>(static_cast<unsigned char>(damaged[byte]) ^ (1U << bit));
      std::ofstream(folder_ / "results.jsonl", std::ios::binary) << damaged;
      for (const Row& read : read_rows(folder_ / "results.jsonl", info(1)).rows) {
        EXPECT_NE(read.version, "1") << byte << " " << damaged;
      }
    }
  }
}

// Wefts before this one wrote none; their rows are theirs.
TEST_F(SweepStore, a_row_without_a_checksum_is_none_of_this_version) {
  Row old = row(0, "a", ok(1));
  old.checked = false;
  fs::create_directories(folder_);
  std::ofstream(folder_ / "results.jsonl") << line_of(old, kAxes);
  {
    Store store(folder_, info(1));
    EXPECT_EQ(store.find("a"), nullptr);
    EXPECT_EQ(store.damaged().size(), 1U);
  }
  std::ofstream(folder_ / "results.jsonl") << line_of(old, kAxes);
  Store(folder_, info(1, "2")).keep({});
  EXPECT_EQ(text("earlier.jsonl"), line_of(old, kAxes));
}

// Whatever a checksum says: a table is made of every row that is read.
TEST_F(SweepStore, a_summary_that_no_table_can_be_made_of_is_none) {
  for (const char* summary :
       {R"({"modes":{"bulk":{}}})", R"({"modes":1,"speedup":{}})", R"({"speedup":{}})",
        R"({"modes":{"bulk":2},"speedup":{}})", R"({"modes":{},"speedup":[]})", "[]",
        R"({"modes":{},"speedup":{},"c3":{}})", R"({"modes":{},"speedup":{},"c3":1})"}) {
    PointOutcome outcome = ok(1);
    outcome.summary = summary;
    EXPECT_FALSE(parse_row(line_of(row(0, "a", outcome), kAxes), kAxes)) << summary;
  }
  std::string large = line_of(row(0, "a", ok(1)), kAxes);
  large.replace(large.find("1.0"), 3, "1e999");
  EXPECT_FALSE(parse_row(large, kAxes));
}

TEST_F(SweepStore, sweep_json_with_a_changed_bit_is_none) {
  const std::string whole = to_json(info(4));
  ASSERT_TRUE(parse_sweep_json(whole));
  for (std::size_t byte = 0; byte + 2 < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] ^= 1;
    const auto read = parse_sweep_json(damaged);
    EXPECT_FALSE(read && read->checked) << damaged;
  }
}

TEST_F(SweepStore, of_a_changed_sweep_has_no_rows_of_the_one_before) {
  {
    Store store(folder_, info(2));
    store.keep({});
    store.finish({row(0, "a", ok(1)), row(1, "b", ok(2))});
    std::ofstream(folder_ / "results.csv") << "its table";
  }
  Store store(folder_, info(3));  // killed here, it must not look like two of three points
  EXPECT_FALSE(fs::exists(folder_ / "results.jsonl"));
  EXPECT_FALSE(fs::exists(folder_ / "results.csv"));
  EXPECT_NE(store.find("a"), nullptr);
  EXPECT_EQ(text("earlier.jsonl"),
            line_of(row(0, "a", ok(1)), kAxes) + line_of(row(1, "b", ok(2)), kAxes));
}

TEST_F(SweepStore, results_of_another_version_do_not_count_and_are_not_lost) {
  {
    Store store(folder_, info(1));
    store.keep({});
    store.add({row(0, "a", ok(1))});
  }
  {
    Store store(folder_, info(1, "2"));
    EXPECT_EQ(store.find("a"), nullptr);
    store.keep({});
    EXPECT_EQ(text("results.jsonl"), "");
  }
  Store store(folder_, info(1));
  EXPECT_NE(store.find("a"), nullptr);
}

TEST_F(SweepStore, points_that_the_sweep_has_no_longer_are_kept_apart) {
  {
    Store store(folder_, info(2));
    store.keep({});
    store.add({row(0, "a", ok(1)), row(1, "b", ok(2))});
    store.finish({row(0, "a", ok(1)), row(1, "b", ok(2))});
  }
  {
    Store store(folder_, info(1));
    store.keep({row(0, "b", *store.find("b"))});
    EXPECT_EQ(text("earlier.jsonl"), line_of(row(0, "a", ok(1)), kAxes));
  }
  Store store(folder_, info(2));
  EXPECT_NE(store.find("a"), nullptr);
  EXPECT_NE(store.find("b"), nullptr);
}

TEST_F(SweepStore, counts_how_often_the_program_ended_during_a_point) {
  for (int ending = 0; ending < 3; ++ending) {
    Store store(folder_, info(2));
    EXPECT_EQ(store.endings_during("a"), ending);
    EXPECT_EQ(store.endings_during("b"), 0);
    store.keep({});
    store.start("a");
    store.start("b");
    store.add({row(1, "b", ok(2))});
  }
  {
    Store store(folder_, info(2));
    store.keep({});
    store.finish({});
  }
  EXPECT_EQ(Store(folder_, info(2)).endings_during("a"), 0) << "all is done";
}

TEST_F(SweepStore, two_programs_do_not_share_a_folder) {
  Store store(folder_, info(1));
  EXPECT_THROW(Store(folder_, info(1)), std::runtime_error);
}

TEST_F(SweepStore, threads_may_add_at_once) {
  Store store(folder_, info(400));
  store.keep({});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (std::size_t i = 0; i < 25; ++i) {
        store.add({row(t * 25 + i, std::to_string(t * 25 + i), ok(1))});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ReadRows read = read_rows(folder_ / "results.jsonl", info(2));
  EXPECT_EQ(read.rows.size(), 100U);
  EXPECT_EQ(read.damaged.size(), 0U);
}

TEST_F(SweepStore, csv_has_the_axes_first_and_quotes_what_it_has_to) {
  EXPECT_EQ(
      results_csv({row(0, "a", ok(1.5)),
                   row(1, "b", {.ok = false, .error = "x, y", .exit_code = 1, .summary = ""})},
                  kAxes),
      "nodes,fabric,point,status,error,bulk_time_us,bulk_wait_post_us\n"
      "0,\"to\"\"rus\",a,ok,,1.5,1\n"
      "1,\"to\"\"rus\",b,failed,\"x, y\",,\n");
}

TEST_F(SweepStore, shards_merge_to_the_whole_in_order) {
  std::vector<fs::path> folders;
  for (const std::size_t shard : {1U, 0U}) {
    folders.push_back(folder_ / std::to_string(shard));
    SweepInfo part = info(4);
    part.shard = std::to_string(shard + 1) + "/2";
    Store store(folders.back(), part);
    store.keep({});
    for (const std::size_t number : {shard, shard + 2}) {
      store.add({row(number, std::to_string(number), ok(1))});
    }
  }
  const Merged merged = merge_rows(folders);
  EXPECT_TRUE(merged.problems.empty()) << merged.problems.front();
  EXPECT_EQ(merged.info, info(4));
  ASSERT_EQ(merged.rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(merged.rows[i].row, i);

  const Merged half = merge_rows({folders[1]});
  ASSERT_EQ(half.problems.size(), 1U);
  EXPECT_EQ(half.problems[0], "2 of 4 points are missing; the first is row 1");

  const fs::path other = folder_ / "other";
  Store(other, info(5)).keep({});
  EXPECT_EQ(merge_rows({folders[0], folders[1], other}).problems.size(), 1U);
  EXPECT_EQ(merge_rows({folder_ / "nowhere"}).problems.size(), 1U);
}

}  // namespace
}  // namespace weft::store_test
