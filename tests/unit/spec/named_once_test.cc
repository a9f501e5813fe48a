// A thing that a scenario can name is one row: nothing else in sim/ names it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace weft::named_once_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The sources in sim/, by their paths in it.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> kSources = [] {
    const fs::path root = fs::path(WEFT_SOURCE_DIR) / "sim";
    std::map<std::string, std::string> texts;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cc" && extension != ".h") continue;
      texts[fs::relative(entry.path(), root).generic_string()] = text_of(entry.path());
    }
    return texts;
  }();
  return kSources;
}

// Those in which `text` stands.
std::vector<std::string> files_with(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& [name, source] : sources()) {
    if (source.find(text) != std::string::npos) found.push_back(name);
  }
  return found;
}

using Files = std::vector<std::string>;

TEST(Keys, are_named_once) {
  EXPECT_EQ(files_with("\"inline_up_to\""), Files{"network/network_fields.cc"});
  EXPECT_EQ(files_with("\"write_cost\""), Files{"gpu_model/gpu_fields.cc"});
  EXPECT_EQ(files_with("\"max_events\""), Files{"scenario/scenario_fields.cc"});
  EXPECT_EQ(files_with("\"shared_inner\""), Files{"scenario/transformer_fields.cc"});
  EXPECT_EQ(files_with("\"endpoints_per_leaf\""), Files{"network/fat_tree.cc"});
  EXPECT_EQ(files_with("\"fat_tree\""), Files{"network/topologies.cc"});
  EXPECT_EQ(files_with("\"from_astra_sim\""), Files{"scenario/base_keys.h"});
}

TEST(Algorithms, are_named_by_their_row_and_their_own_file) {
  EXPECT_EQ(files_with("halving_doubling"), (Files{"plans/algorithms.h", "plans/halving.cc"}));
  EXPECT_EQ(files_with("\"hierarchical\""), Files{"plans/algorithms.h"});
  EXPECT_EQ(files_with("Algorithm::hierarchical"), Files{"plans/algorithms.h"});
}

TEST(Pairs, are_named_by_their_row) {
  EXPECT_EQ(files_with("gemv_all_reduce"), Files{"scenario/workload_kinds.h"});
  EXPECT_EQ(files_with("gemm_reduce_scatter"), Files{"scenario/workload_kinds.h"});
}

// A model's products of one row are such operators too (fusions.cc, peer_grid.cc).
TEST(Operators, are_named_by_their_rows_their_keys_and_their_own_file) {
  EXPECT_EQ(files_with("operators::gemv"),
            (Files{"models/fusions.cc", "models/operators.cc", "scenario/gemv_operator.cc",
                   "scenario/workload_kinds.h"}));
  EXPECT_EQ(files_with("GemvWork"),
            (Files{"models/operators.cc", "models/peer_grid.cc", "scenario/gemv_operator.cc",
                   "scenario/scenario.h", "scenario/workload_kinds.h", "workloads/gemv.cc",
                   "workloads/gemv.h"}));
}

TEST(Modes, are_named_by_their_row_their_kind_and_what_they_do) {
  EXPECT_EQ(files_with("\"launch_order\""), Files{"scenario/mode_rows.h"});
  EXPECT_EQ(files_with("Mode::launch_order"),
            (Files{"scenario/mode_rows.h", "scenario/modes.cc", "workloads/c3.cc"}));
}

TEST(KindsOfModels, are_named_by_their_row) {
  EXPECT_EQ(files_with("\"dlrm\""), Files{"scenario/workload_kinds.h"});
  EXPECT_EQ(files_with("WorkloadKind::dlrm"), Files{"scenario/workload_kinds.h"});
  EXPECT_EQ(
      files_with("model_kinds::dlrm"),
      (Files{"models/build_model.cc", "scenario/dlrm_model.cc", "scenario/workload_kinds.h"}));
  EXPECT_EQ(files_with("builders::dlrm"), Files{"models/build_model.cc"});
}

TEST(FormatsOfTraces, are_named_by_their_row_their_reader_and_their_keys) {
  EXPECT_EQ(files_with("\"pytorch\""), Files{"scenario/workload_kinds.h"});
  EXPECT_EQ(
      files_with("WorkloadKind::pytorch"),
      (Files{"scenario/trace_fields.cc", "scenario/workload_kinds.h", "traces/load_trace.cc"}));
  EXPECT_EQ(files_with("readers::pytorch"), Files{"traces/load_trace.cc"});
}

}  // namespace
}  // namespace weft::named_once_test
