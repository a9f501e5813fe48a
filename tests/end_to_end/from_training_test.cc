// docs/from_training.md: its commands, as they stand, on the profile that it names.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/program.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::from_training_test {
namespace {

namespace fs = std::filesystem;

const std::string& page() {
  static const std::string text = text_of(fs::path(WEFT_SOURCE_DIR) / "docs/from_training.md");
  return text;
}

// The text between ```LANGUAGE and ```.
std::vector<std::string> blocks(const std::string& language) {
  std::vector<std::string> found;
  std::istringstream lines(page());
  std::string open;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("```")) {
      if (inside && open == language) found.back() += line + "\n";
      continue;
    }
    inside = !inside;
    if (!inside) continue;
    open = line.substr(3);
    if (open == language) found.emplace_back();
  }
  return found;
}

std::vector<std::string> commands() {
  std::vector<std::string> found;
  for (const std::string& block : blocks("")) {
    if (block.starts_with("weft ")) found.push_back(block.substr(5, block.size() - 6));
  }
  return found;
}

class FromTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"calibration", "configs"}) {
      fs::create_directory_symlink(fs::path(WEFT_SOURCE_DIR) / name, folder_.path(name));
    }
    ASSERT_EQ(blocks("yaml").size(), 1U);
    folder_.write("my_step.yaml", blocks("yaml").front());
  }
  [[nodiscard]] nlohmann::json summary(const std::string& results) const {
    return nlohmann::json::parse(text_of(folder_.path(results + "/summary.json")));
  }
  TraceFolder folder_{"from_training"};
};

TEST_F(FromTraining, every_command_of_the_page_does_what_it_says) {
  ASSERT_EQ(commands().size(), 4U);  // the fifth is the reader's own script
  std::string out;
  for (const std::string& command : commands()) {
    const Ended ended = weft_in(folder_.path(""), command);
    EXPECT_EQ(ended.status, 0) << command << '\n' << ended.err;
    out += ended.out;
  }
  EXPECT_NE(out.find("recorded on: NVIDIA H100 80GB HBM3"), std::string::npos);
  // Lines that the page quotes.
  EXPECT_NE(out.find("recorded: 18.080 ms without the host's time; bulk here: -1.0 %"),
            std::string::npos);
  for (const std::string& block : blocks("")) {
    EXPECT_TRUE(block.starts_with("weft ") || out.find(block) != std::string::npos) << block;
  }
  EXPECT_TRUE(fs::exists(folder_.path("results/my_step/report.html")));
  const nlohmann::json here = summary("results/my_step");
  EXPECT_NEAR(here["recorded"]["step_us"].get<double>(), 18'080, 1);
  const nlohmann::json moved = summary("results/my_step_a100");
  EXPECT_FALSE(moved.contains("recorded"));
  double all = 0;
  for (const char* by : {"model", "roofline", "as_recorded"}) {
    all += moved["moved"][by].get<double>();
  }
  EXPECT_NEAR(all, 1, 1e-9);
  EXPECT_GT(moved["modes"]["bulk"]["time_us"], here["modes"]["bulk"]["time_us"]);
}

TEST_F(FromTraining, another_gpu_without_a_word_of_it_is_a_warning) {
  const std::string elsewhere =
      "run my_step.yaml --set cluster='{base: clusters/node_8x_a100, gpus_per_node: 2}'";
  EXPECT_TRUE(weft_in(folder_.path(""), elsewhere)
                  .says("the trace says that it was recorded on 'NVIDIA H100 80GB HBM3', 132 SMs, "
                        "not on A100 with 108 CUs; its kernels keep their times"));
  // Said wrongly.
  EXPECT_TRUE(weft_in(folder_.path(""), elsewhere + " --set workload.recorded_on.base=gpus/h200")
                  .says("not on H200 with 132 CUs"));
  EXPECT_FALSE(weft_in(folder_.path(""), elsewhere + " --set workload.recorded_on.base=gpus/h100")
                   .says("warning: workload.recorded_on"));
  // A mistake in the GPU is one of the scenario.
  const Ended wrong =
      weft_in(folder_.path(""), elsewhere + " --set workload.recorded_on.base=gpus/h999");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(wrong.says("gpus/h999")) << wrong.err;
  const Ended unknown = weft_in(
      folder_.path(""), elsewhere + " --set 'workload.recorded_on={base: gpus/h100, cuss: 3}'");
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(unknown.says("workload.recorded_on.cuss")) << unknown.err;
}

TEST_F(FromTraining, another_number_of_gpus_is_refused) {
  const Ended ended = weft_in(folder_.path(""), "run my_step.yaml --set cluster.gpus_per_node=4");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(
      ended.says("2, but the cluster has 4 GPUs: what each computes and sends on another "
                 "number of them was not recorded"))
      << ended.err;
}

TEST_F(FromTraining, a_mean_and_a_step_exclude_one_another) {
  const Ended ended = weft_in(folder_.path(""), "run my_step.yaml --set workload.step=4");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("mean is of several steps, but step takes one")) << ended.err;
  const Ended host = weft_in(folder_.path(""), "run my_step.yaml --set workload.host=recorded");
  EXPECT_EQ(host.status, 1);
  EXPECT_TRUE(host.says("recorded is one step's, but steps is mean")) << host.err;
  EXPECT_EQ(weft_in(folder_.path(""),
                    "run my_step.yaml --set workload.step=4 --set workload.steps=in_a_row")
                .status,
            0);
}

}  // namespace
}  // namespace weft::from_training_test
