// `weft run -`: a scenario from a pipe.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::standard_input_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSmall =
    "base: scenarios/embedding_a2a_4_gpus\n"
    "name: small\n"
    "workload: {batch: 256, tables_per_gpu: 4}\n";

class StandardInput : public InOwnFolder {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  // The command, with this text on its standard input.
  [[nodiscard]] Ended piped(const std::string& text, const std::string& arguments) const {
    write("in.txt", text);
    return weft_in(folder_, arguments + " <in.txt");
  }
};

TEST_F(StandardInput, gives_what_the_same_file_gives) {
  write("small.yaml", kSmall);
  const Ended file = weft_in(folder_, "run small.yaml --seed 3 --quiet --json -o file");
  const Ended pipe = piped(kSmall, "run - --seed 3 --quiet --json -o pipe");
  ASSERT_EQ(pipe.status, 0) << pipe.err;
  EXPECT_EQ(pipe.err, "");
  const Json one = Json::parse(file.out);
  const Json other = Json::parse(pipe.out);
  EXPECT_EQ(one["scenario_hash"], other["scenario_hash"]);
  EXPECT_EQ(one["modes"], other["modes"]);
  const Json manifest = Json::parse(text_of(folder_ / "pipe/manifest.json"));
  EXPECT_EQ(manifest["command"], "weft run - --set run.seed=3");
  EXPECT_EQ(manifest["inputs"][0]["path"], "<stdin>");
  const Json same = Json::parse(text_of(folder_ / "file/manifest.json"));
  EXPECT_EQ(manifest["inputs"][0]["hash"], same["inputs"][0]["hash"]);
}

TEST_F(StandardInput, names_of_bases_start_from_the_current_folder) {
  write("mine.yaml", kSmall);
  write("configs/below/theirs.yaml", kSmall);
  const Ended mine = piped("base: mine\nname: over mine\n", "run - --stop-after scenario");
  EXPECT_EQ(mine.status, 0) << mine.err;
  EXPECT_EQ(mine.out.find("name: \"over mine\"\n"), 0U) << mine.out;
  const Ended config =
      shell_in(folder_ / "configs", "echo 'base: below/theirs' | '" WEFT_BINARY
                                    "' run - --stop-after scenario >out.txt 2>err.txt");
  EXPECT_EQ(config.status, 0) << config.err;
  EXPECT_NE(config.out.find("  batch: 256\n"), std::string::npos) << config.out;
}

TEST_F(StandardInput, has_every_mistake_with_its_line) {
  const Ended ended =
      piped("base: scenarios/embedding_a2a_4_gpus\nworkload:\n  bacth: 1\n  dim: 0\n",
            "run - -o results");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(ended.says("<stdin>:3:3: error: workload.bacth: unknown key")) << ended.err;
  EXPECT_TRUE(ended.says("\n    bacth: 1\n    ^\n")) << ended.err;
  EXPECT_TRUE(ended.says("<stdin>:4:8: error: workload.dim: ")) << ended.err;
  EXPECT_FALSE(fs::exists(folder_ / "results"));
}

TEST_F(StandardInput, that_is_no_scenario_is_told) {
  EXPECT_TRUE(piped("", "run -").says("<stdin>:1:1: error: a scenario must be a map"));
  EXPECT_TRUE(piped("name: a\naxes: []\nscenario: b\n", "run -")
                  .says("<stdin>: error: this is a sweep file; run it with: weft sweep FILE\n"));
  EXPECT_TRUE(piped("base: nowhere\n", "run -").says("<stdin>:1:7: error: no file nowhere.yaml"));
  EXPECT_TRUE(piped(std::string(300 * 1024, '#'), "run -").says("<stdin>: error: larger than"));
  const Ended closed = weft_in(folder_, "run - <&-");
  EXPECT_EQ(closed.status, 1);
  EXPECT_TRUE(closed.says("<stdin>: error: cannot read the standard input: ")) << closed.err;
}

TEST_F(StandardInput, a_file_of_that_name_is_named_with_its_folder) {
  write("-", kSmall);
  const Ended ended = weft_in(folder_, "run ./- --stop-after scenario </dev/null");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out.find("name: \"small\"\n"), 0U) << ended.out;
}

}  // namespace
}  // namespace weft::standard_input_test
