// Profiles of PyTorch as people have them: what is missing or too much is said with what to do.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/gzip.h"
#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::odd_profiles_test {
namespace {

using Json = nlohmann::json;

Json event(const std::string& category, const std::string& name, double at, int correlation) {
  return {
      {"ph", "X"},
      {"cat", category},
      {"name", name},
      {"tid", 1},
      {"ts", at},
      {"dur", 4},
      {"args",
       {{"correlation", correlation}, {"stream", 7}, {"grid", {4, 1, 1}}, {"block", {128, 1, 1}}}}};
}

// A launch and its kernel on this GPU.
std::vector<Json> launched(int device, int correlation, const std::string& name = "gemm") {
  const double at = 1000 + 10 * correlation;
  std::vector<Json> events = {event("cuda_runtime", "cudaLaunchKernel", at, correlation),
                              event("kernel", name, at + 5, correlation)};
  events.back()["args"]["device"] = device;
  return events;
}

// An all-reduce of 4 KiB over both GPUs, as newer profiles describe it.
std::vector<Json> all_reduce(int device, int correlation) {
  auto events = launched(device, correlation, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  events.insert(events.begin(),
                event("cpu_op", "record_param_comms", 1000 + 10 * correlation, 900));
  events.back()["args"].update({{"Collective name", "allreduce"},
                                {"In msg nelems", 1024},
                                {"Out msg nelems", 1024},
                                {"Group size", 2},
                                {"dtype", "Float"},
                                {"Process Group Name", "0"},
                                {"Process Group Ranks", "[0, 1]"}});
  return events;
}

std::string text_of(const std::vector<std::vector<Json>>& parts) {
  Json events = Json::array();
  for (const auto& part : parts) {
    for (const Json& one : part) events.push_back(one);
  }
  return Json{{"schemaVersion", 1}, {"traceEvents", events}}.dump();
}

class OddProfiles : public ::testing::Test {
 protected:
  LoadedTrace load(const std::vector<std::pair<std::string, std::string>>& files, int gpus) {
    for (const auto& [name, text] : files) folder_.write(name, text);
    return load_path(folder_.path(""), gpus);
  }
  static LoadedTrace load_path(const std::string& path, int gpus) {
    TraceWork work;
    work.format = WorkloadKind::pytorch;
    work.path = path;
    return load_trace(work, gpus);
  }
  std::string refused(const std::vector<std::pair<std::string, std::string>>& files, int gpus) {
    const LoadedTrace loaded = load(files, gpus);
    EXPECT_FALSE(loaded.graph);
    return loaded.problems.to_text();
  }
  TraceFolder folder_{"odd_profiles"};
};

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(OddProfiles, of_one_gpu_may_have_any_name) {
  const LoadedTrace loaded = load({{"trace_step7.json", text_of({launched(0, 1)})}}, 1);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(of_rank(*loaded.graph, 0).size(), 1U);
}

TEST_F(OddProfiles, may_be_packed_whatever_their_name) {
  const LoadedTrace loaded = load({{"trace.json", gzipped(text_of({launched(0, 1)}))}}, 1);
  EXPECT_TRUE(loaded.graph) << loaded.problems.to_text();
}

TEST_F(OddProfiles, of_one_process_may_have_collectives_of_its_gpus) {
  const LoadedTrace loaded =
      load({{"trace.json", text_of({all_reduce(0, 1), all_reduce(1, 2)})}}, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(of_rank(*loaded.graph, 1).size(), 1U);
}

TEST_F(OddProfiles, of_several_processes_in_one_file_are_refused) {
  const std::string said = refused({{"trace.json", text_of({launched(0, 1), launched(1, 1)})}}, 2);
  EXPECT_TRUE(
      has(said, "it is of several processes; give the file of each (rank0.json, rank1.json)"))
      << said;
}

TEST_F(OddProfiles, without_kernels_say_how_to_record_them) {
  const std::string said =
      refused({{"rank0.json", text_of({{event("cpu_op", "aten::mm", 1000, 1)}})}}, 1);
  EXPECT_TRUE(has(said, "has no kernel of a GPU; record with activities=")) << said;
}

TEST_F(OddProfiles, of_unknown_ranks_say_what_to_call_them) {
  const std::string text = text_of({launched(0, 1)});
  const std::string said = refused({{"a.json", text}, {"b.json", text}}, 2);
  EXPECT_TRUE(has(said,
                  "a.json: error: rank: neither in the file nor a number in its name; call it "
                  "rank0.json"))
      << said;
}

TEST_F(OddProfiles, are_a_folder) {
  folder_.write("rank0.json", text_of({launched(0, 1)}));
  const LoadedTrace loaded = load_path(folder_.path("rank0.json"), 1);
  EXPECT_TRUE(has(loaded.problems.to_text(), "is a file; give the folder that it is in"))
      << loaded.problems.to_text();
}

TEST_F(OddProfiles, that_end_too_early_are_not_whole) {
  std::string text = text_of({launched(0, 1)});
  text.resize(text.size() / 2);
  EXPECT_TRUE(has(refused({{"rank0.json", text}}, 1), "the file is not whole"));
}

TEST_F(OddProfiles, of_ranks_with_unlike_numbers_of_collectives_are_refused) {
  const std::string said = refused({{"rank0.json", text_of({all_reduce(0, 1), all_reduce(0, 2)})},
                                    {"rank1.json", text_of({all_reduce(1, 1)})}},
                                   2);
  EXPECT_TRUE(has(said, "rank 1 has only 1 of them; both must be recorded over the same steps"))
      << said;
}

}  // namespace
}  // namespace weft::odd_profiles_test
