// `weft explain`, `list`, `schema`, and what weft says to a command line with a mistake.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::help_commands_test {
namespace {

namespace fs = std::filesystem;

const std::string kConfigs = std::string(WEFT_SOURCE_DIR) + "/configs";

class HelpCommands : public InOwnFolder {
 protected:
  [[nodiscard]] Ended weft(const std::string& arguments, const std::string& variables = "") const {
    return weft_in(folder_, arguments, variables);
  }
  void expect_mistake(const std::string& arguments, const std::string& message) const {
    const Ended ended = weft(arguments);
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_NE(ended.err.find("weft: error: " + message + "\n"), std::string::npos)
        << arguments << "\n"
        << ended.err;
  }
  void expect_words(const std::string& arguments, const std::string& words) const {
    const Ended ended = weft(arguments);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find(words), std::string::npos) << words << "\n" << ended.out;
  }
};

TEST_F(HelpCommands, explain_says_what_a_key_means) {
  EXPECT_EQ(weft("explain cluster.nodes").out,
            "cluster.nodes\n    integer; required; 1 .. 65536\n    nodes of the cluster\n");
  expect_words("explain cluster.scale_out", "cluster.scale_out.link.latency\n");
  expect_words("explain run", "run.seed\n");  // a key, not the command
  expect_words("explain", "name\n");
}

TEST_F(HelpCommands, explain_takes_several_keys_and_says_each_once) {
  const std::string nodes = weft("explain cluster.nodes").out;
  const std::string seed = weft("explain run.seed").out;
  EXPECT_EQ(weft("explain cluster.nodes run.seed cluster.nodes").out, nodes + "\n" + seed);
  const Ended wrong = weft("explain cluster.noeds run.seed run.sed");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(wrong.out, "");
  EXPECT_TRUE(wrong.says("did you mean cluster.nodes?")) << wrong.err;
  EXPECT_TRUE(wrong.says("did you mean run.seed?")) << wrong.err;
}

// A map has its keys, whatever is asked for beside it and in whatever order.
TEST_F(HelpCommands, explain_takes_maps_and_keys_together) {
  const std::string link = weft("explain cluster.scale_out.link").out;
  const std::string seed = weft("explain run.seed").out;
  EXPECT_EQ(weft("explain cluster.scale_out.link run.seed").out, link + "\n" + seed);
  EXPECT_EQ(weft("explain cluster.scale_out.link cluster.scale_out.link.latency").out, link);
  EXPECT_EQ(weft("explain run.seed cluster.scale_out.link").out, seed + "\n" + link);
  expect_words("explain --help", "several keys, each explained once");
}

TEST_F(HelpCommands, explain_names_the_nearest_of_a_key_that_is_none) {
  expect_mistake("explain cluster.noeds",
                 "explain: cluster.noeds: there is no such key; did you mean cluster.nodes?");
}

TEST_F(HelpCommands, list_has_every_file_of_the_configs_with_its_figures) {
  const std::map<std::string, std::string> folders = {{"gpus", "gpus"},
                                                      {"clusters", "clusters"},
                                                      {"models", "models"},
                                                      {"nics", "nics"},
                                                      {"kernels", "kernels"},
                                                      {"sweeps", "sweeps"},
                                                      {"scenarios", "scenarios"},
                                                      {"caches", "cache/machines"},
                                                      {"applications", "cache/applications"}};
  for (const auto& [what, folder] : folders) {
    const Ended ended = weft("list " + what);
    EXPECT_EQ(ended.status, 0) << ended.err;
    for (const auto& file : fs::recursive_directory_iterator(kConfigs + "/" + folder)) {
      if (file.path().extension() != ".yaml") continue;
      fs::path name = file.path().lexically_relative(kConfigs);
      EXPECT_NE(ended.out.find("  " + name.replace_extension().string() + " "), std::string::npos)
          << name << "\n"
          << ended.out;
    }
    EXPECT_EQ(ended.out.find("mistake"), std::string::npos) << ended.out;
  }
  // As the files say: 132 SMs, 141 GB, 989 TFLOP/s; 8 nodes x 16 GPUs.
  expect_words("list gpus", "132 CUs, HBM 141 GB 4.62 TB/s, bf16 989 TFLOP/s");
  expect_words("list models", "80 layers of 8192, 70.6B parameters");
  expect_words("list nics", "NVIDIA ConnectX-7");
  expect_words("list caches", "132 CUs, L1 256 KiB, L2 2 x 30 MiB, DRAM 4.65 TB/s");
  expect_words("list applications", "FwGRU     2 kernels, 16 times, 10.1 MB of arrays");
}

TEST_F(HelpCommands, list_has_the_words_of_the_keys) {
  const auto words = [this](const std::string& key) {
    std::string type = weft("explain " + key).out;
    type = type.substr(type.find("one of ") + 7);
    return std::istringstream(type.substr(0, type.find(';')));
  };
  for (auto [list, key] :
       {std::pair("shapes", "cluster.scale_out.shape"), std::pair("collectives", "workload.op")}) {
    std::istringstream known = words(key);
    int count = 0;
    for (std::string word; known >> word; ++count) {
      expect_words(std::string("list ") + list, "  " + word + " ");
    }
    EXPECT_GE(count, 5) << key;
  }
  expect_words("list", "  collectives ");
}

TEST_F(HelpCommands, list_shows_a_file_with_a_mistake_as_such) {
  fs::create_directories(folder_ / "configs/gpus");
  std::ofstream(folder_ / "configs/gpus/mine.yaml") << "# My own, some day.\nname: mine\n";
  EXPECT_EQ(weft("list gpus", "cd configs &&").status, 0);
  const std::string out = text_of(folder_ / "configs/out.txt");
  EXPECT_NE(out.find("gpus/mine"), std::string::npos) << out;
  EXPECT_NE(out.find("(contains a mistake)"), std::string::npos) << out;
}

TEST_F(HelpCommands, schema_is_json_of_every_kind_of_file) {
  for (const char* kind : {"", "scenario", "cluster", "gpu", "nic", "model"}) {
    const auto schema = nlohmann::json::parse(weft(std::string("schema ") + kind).out);
    EXPECT_EQ(schema["type"], "object") << kind;
    EXPECT_TRUE(schema["properties"].contains("base")) << kind;
  }
}

TEST_F(HelpCommands, a_mistake_on_the_command_line_is_answered_with_what_would_be_right) {
  expect_mistake("", "no command is given; 'weft --help' lists them");
  expect_mistake("rum x", "unknown command 'rum'; did you mean 'run'?");
  for (const char* asked : {"rum --help", "--help rum", "rum -h", "rum --version"}) {
    expect_mistake(asked, "unknown command 'rum'; did you mean 'run'?");
  }
  expect_mistake(
      "run",
      "run: SCENARIO is required: YAML file: cluster, workload, modes; - is the standard "
      "input");
  expect_mistake("run a --mod bulk", "run: unknown option '--mod'; did you mean '--mode'?");
  expect_mistake("run a --zzz", "run: unknown option '--zzz'; 'weft run --help' lists them");
  expect_mistake("run a b", "run: unexpected argument 'b'; usage: weft run [OPTIONS] SCENARIO");
  expect_mistake("run a --seed some", "run: --seed: 'some' is not a number");
  expect_mistake("run a --color blue", "run: --color: 'blue' is not one of auto always never");
  expect_mistake(
      "schema gpus",
      "schema: FILE: 'gpus' is not one of scenario cluster gpu nic model sweep graph results; "
      "did you mean 'gpu'?");
}

TEST_F(HelpCommands, several_mistakes_on_the_command_line_are_said_at_once) {
  const Ended ended = weft("calibrate a --bace x");
  for (const char* words : {"unknown option '--bace'; did you mean '--base'?",
                            "--base is required: ", "--output is required: "}) {
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
  }
}

bool has_colors(const std::string& text) { return text.find('\033') != std::string::npos; }

TEST_F(HelpCommands, colors_are_for_terminals_unless_they_are_asked_for) {
  std::ofstream(folder_ / "bad.yaml") << "name: bad\n";
  EXPECT_FALSE(has_colors(weft("run bad.yaml").err));
  EXPECT_TRUE(has_colors(weft("run bad.yaml --color always").err));
  EXPECT_TRUE(has_colors(weft("explain nothing --color=always").err));
  EXPECT_FALSE(has_colors(weft("explain nothing --color=auto").err));
  EXPECT_TRUE(has_colors(weft("explain nothing --color=always", "NO_COLOR=1").err))
      << "what is asked for here wins";
}

TEST_F(HelpCommands, on_a_terminal_no_color_is_respected) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "no script(1) here";
  const auto on_terminal = [this](const std::string& variables, const std::string& arguments) {
    const std::string command = "cd '" + folder_.string() + "' && TERM=xterm " + variables +
                                " script -qec \"'" WEFT_BINARY "' explain nothing " + arguments +
                                "\" /dev/null >out.txt 2>&1";
    std::system(command.c_str());  // the status is that of weft: 1
    return text_of(folder_ / "out.txt");
  };
  EXPECT_TRUE(has_colors(on_terminal("", "")));
  EXPECT_FALSE(has_colors(on_terminal("NO_COLOR=1", "")));
  EXPECT_TRUE(has_colors(on_terminal("NO_COLOR=", ""))) << "empty is not set";
  EXPECT_FALSE(has_colors(on_terminal("", "--color=never")));
}

}  // namespace
}  // namespace weft::help_commands_test
