// Killed at every call that moves or removes a file: what is left is the old result, the new one,
// or something that readers refuse. Never a mix, and nothing that stays in the way.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "tests/end_to_end/program.h"
#include "tests/end_to_end/trace_scenario.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::killed_test {
namespace {

namespace fs = std::filesystem;
using Texts = std::map<std::string, std::string>;

// An operator has no parts.csv and no fusions.csv; a trace is a whole model.
const std::string kOperator = std::string("run ") + WEFT_SOURCE_DIR +
                              "/configs/scenarios/embedding_a2a_4_gpus.yaml -q --mode bulk --set "
                              "workload.batch=256 --set workload.tables_per_gpu=4";
const std::string kModel = "run model.yaml -q";

constexpr const char* kSweep = R"(name: NAME
scenario: scenarios/embedding_a2a_4_gpus
set: {modes: [bulk], workload.batch: 256}
axes: [{key: workload.tables_per_gpu, values: [VALUES]}]
)";

std::string sweep(const std::string& name, const std::string& values) {
  std::string text = kSweep;
  text.replace(text.find("NAME"), 4, name);
  return text.replace(text.find("VALUES"), 6, values);
}

class Killed : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("model.yaml", kTraceScenario);
    write_trace("t", 4, 20);
    write_trace("u", 8, 50);
  }

  void write_trace(const std::string& prefix, int ranks, std::uint64_t us) const {
    for (int rank = 0; rank < ranks; ++rank) {
      folder_.write(prefix + "." + std::to_string(rank) + ".et",
                    generated({compute(0, us), collective(1, 0, 1 << 20, {0}), compute(2, 30, {0}),
                               compute(3, 5, {1, 2})}));
    }
  }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_.path(""), arguments);
  }
  void succeeds(const std::string& arguments) const {
    const Ended ended = weft(arguments);
    ASSERT_EQ(ended.status, 0) << arguments << "\n" << ended.err;
  }
  [[nodiscard]] Texts texts_in(const std::string& name) const {
    Texts texts;
    for (const auto& entry : fs::directory_iterator(folder_.path(name))) {
      texts[entry.path().filename().string()] = text_of(entry.path());
    }
    return texts;
  }
  void put_back(const std::string& name, const Texts& texts) const {
    fs::remove_all(folder_.path(name));
    fs::create_directories(folder_.path(name));
    for (const auto& [file, text] : texts) folder_.write(name + "/" + file, text);
  }

  // Runs it with a kill at the first, the second .. call, until one comes through; in between
  // `look` sees what is left. `prepare` puts what was there before.
  void at_every_call(const std::string& arguments, const std::function<void()>& prepare,
                     const std::function<void(int)>& look) const {
    constexpr int kMost = 60;
    int calls = 0;
    for (int at = 1; at <= kMost; ++at) {
      prepare();
      const Ended ended =
          weft_in(folder_.path(""), arguments,
                  "ASAN_OPTIONS=verify_asan_link_order=0 WEFT_TEST_KILL_AT=" + std::to_string(at) +
                      " LD_PRELOAD='" WEFT_KILL_AT_RENAME "'");
      if (ended.status == 0) break;
      ++calls;
      look(at);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GE(calls, 3) << "nothing was killed";
    EXPECT_LT(calls, kMost);
  }

  static void expect_no_partial(const Texts& texts, int at) {
    for (const auto& [name, text] : texts) EXPECT_FALSE(name.ends_with(".partial")) << at << name;
  }

  TraceFolder folder_{"killed"};
};

Texts without(Texts texts, const std::string& name) {
  texts.erase(name);
  return texts;
}

// What two results differ in must all be of one of them.
bool is(const Texts& left, const Texts& result) {
  for (const auto& [name, text] : result) {
    const auto found = left.find(name);
    if (found == left.end()) return false;
    if (name != "summary.json" && name != "files.json" && found->second != text) return false;
  }
  return true;
}

TEST_F(Killed, a_run_over_the_results_of_another_one_leaves_no_mix) {
  struct Change {
    std::string from;
    std::string to;
    bool listed;  // an older weft wrote no files.json
  };
  for (const Change& change : {Change{kModel, kOperator, true}, Change{kModel, kOperator, false},
                               Change{kOperator, kModel, true}}) {
    succeeds(change.from + " -o old");
    succeeds(change.to + " -o new");
    const Texts fresh = texts_in("new");
    const Texts listed = texts_in("old");
    const Texts old = change.listed ? listed : without(listed, "files.json");
    int refused = 0;
    at_every_call(
        change.to + " -o d", [&] { put_back("d", old); },
        [&](int at) {
          const Texts left = texts_in("d");
          const Ended report = weft("report d -o page.html");
          if (report.status == 0) {
            // parts.csv of a model, beside an operator's files, is of another result.
            const bool parts = left.contains("parts.csv");
            EXPECT_TRUE(
                (is(left, without(old, "files.json")) && parts == old.contains("parts.csv")) ||
                (is(left, fresh) && parts == fresh.contains("parts.csv")))
                << at << " of " << change.to;
          } else {
            ++refused;
            EXPECT_EQ(report.status, 1);
            EXPECT_TRUE(report.says("does not match files.json") || report.says("no such file"))
                << report.err;
          }
          ASSERT_NO_FATAL_FAILURE(succeeds(change.to + " -o d"));
          expect_no_partial(texts_in("d"), at);
          EXPECT_EQ(texts_in("d").size(), fresh.size()) << at << ": a stale file stays";
          ASSERT_NO_FATAL_FAILURE(succeeds("report d -o page.html"));
        });
    EXPECT_GE(refused, 3) << "a kill between two of the files must show";
  }
}

TEST_F(Killed, a_run_into_a_new_folder_is_whole_or_refused) {
  succeeds(kModel + " -o new");
  const Texts fresh = texts_in("new");
  at_every_call(
      kModel + " -o d", [&] { fs::remove_all(folder_.path("d")); },
      [&](int at) {
        const Ended report = weft("report d -o page.html");
        if (report.status == 0) {
          EXPECT_TRUE(is(texts_in("d"), without(fresh, "files.json"))) << at;
        } else {
          EXPECT_EQ(report.status, 1) << report.err;
        }
      });
}

TEST_F(Killed, an_export_over_another_one_leaves_no_mix_of_ranks) {
  const std::string four = "export model.yaml --chakra d/e";
  succeeds("export model.yaml --set cluster.gpus_per_node=8 --set workload.path=u --chakra old/e");
  succeeds("export model.yaml --chakra new/e");
  const Texts old = without(texts_in("old"), "e.files.json");  // as an older weft left it
  const Texts fresh = texts_in("new");
  at_every_call(
      four, [&] { put_back("d", old); },
      [&](int at) {
        const Texts left = texts_in("d");
        const Ended import = weft("import chakra d/e --gpus 4");
        if (import.status == 0) {
          EXPECT_TRUE(is(left, without(fresh, "e.files.json"))) << at;
        }
        ASSERT_NO_FATAL_FAILURE(succeeds(four));
        EXPECT_EQ(texts_in("d"), fresh) << at << ": old ranks stay";
        ASSERT_NO_FATAL_FAILURE(succeeds("import chakra d/e --gpus 4"));
      });
}

// Two sweeps of one shape and other values: rows of one must not be shown as the other's.
TEST_F(Killed, a_sweep_over_another_one_shows_rows_of_one_of_them_only) {
  folder_.write("old.yaml", sweep("old_one", "2, 4"));
  folder_.write("new.yaml", sweep("new_one", "6, 8"));
  succeeds("sweep old.yaml -q -o old");
  const Texts old = texts_in("old");
  succeeds("sweep new.yaml -q -o new");
  const Texts fresh = texts_in("new");
  at_every_call(
      "sweep new.yaml -q -j 1 -o d", [&] { put_back("d", old); },
      [&](int at) {
        const std::string name =
            text_of(folder_.path("d/sweep.json")).find("old_one") != std::string::npos ? "old"
                                                                                       : "new";
        const Texts left = texts_in("d");
        const auto rows = left.find("results.jsonl");
        const std::string lines = rows == left.end() ? "" : rows->second;
        for (const char* value : {"tables_per_gpu=2", "tables_per_gpu=4"}) {
          EXPECT_TRUE(name == "old" || lines.find(value) == std::string::npos) << at;
        }
        for (const char* value : {"tables_per_gpu=6", "tables_per_gpu=8"}) {
          EXPECT_TRUE(name == "new" || lines.find(value) == std::string::npos) << at;
        }
        // A table is of the sweep that ended: of the old one none is left beside the new one's.
        for (const char* table : {"results.csv", "results_long.csv"}) {
          const auto found = left.find(table);
          if (found == left.end()) continue;
          EXPECT_EQ(found->second, name == "old" ? old.at(table) : fresh.at(table)) << at << table;
        }
        if (left.contains("files.json")) {
          EXPECT_TRUE(left.contains("results.csv") || name == "old") << at;
        }
        ASSERT_NO_FATAL_FAILURE(succeeds("sweep new.yaml -q -o d"));
        for (const char* table : {"results.csv", "results_long.csv", "files.json"}) {
          EXPECT_EQ(text_of(folder_.path("d/" + std::string(table))), fresh.at(table)) << at;
        }
        ASSERT_NO_FATAL_FAILURE(succeeds("sweep old.yaml -q -o d"));
        const std::string again = text_of(folder_.path("d/results.jsonl"));
        EXPECT_EQ(again, old.at("results.jsonl")) << at << ": a finished row was lost";
      });
}

}  // namespace
}  // namespace weft::killed_test
