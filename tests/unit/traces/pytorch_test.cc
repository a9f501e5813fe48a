// A profile and an execution trace of two ranks, written by the test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "sim/models/fusions.h"
#include "sim/models/join_ranks.h"
#include "sim/report/gzip.h"
#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::pytorch_test {
namespace {

using Json = nlohmann::json;

// What the host does, one after another, each 10 us after the last; what is launched runs 5 us
// later.
class Profile {
 public:
  explicit Profile(int rank) : rank_(rank) {}

  Profile& kernel(int stream, double us, int thread = 1) {
    launch(stream, us, "void gemm_kernel<float, 4>(int)", thread);
    return *this;
  }
  // A library's persistent GEMM below aten::mm, C of 1024 x 512 in tiles of 128 x 256. Synthetic.
  Profile& product(double us) {
    events_.push_back(host("cpu_op", "aten::mm", 1, 8));
    events_.back()["args"] = {{"Input Dims", {{1024, 256}, {256, 512}}},
                              {"Input type", {"c10::BFloat16", "c10::BFloat16"}}};
    launch(7, us, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 1);
    return *this;
  }
  Profile& collective(double us = 500, int thread = 1) {
    events_.push_back(host("cpu_op", "record_param_comms", thread, 8));
    launch(90, us, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", thread);
    return *this;
  }
  // Of one rank: the library starts no kernel. What it puts elsewhere is copied on its stream.
  Profile& alone() {
    events_.push_back(host("cpu_op", "record_param_comms", 1, 8));
    now_ += 10;
    return *this;
  }
  Profile& alone_elsewhere(double us) {
    events_.push_back(host("cpu_op", "record_param_comms", 1, 8));
    launch(90, us, "Memcpy DtoD (Device -> Device)", 1);
    events_.back()["cat"] = "gpu_memcpy";
    return *this;
  }
  Profile& wait(int thread = 1) {
    events_.push_back(host("cpu_op", "record_param_comms", thread, 8));
    events_.push_back(host("cuda_runtime", "cudaStreamWaitEvent", thread, 1));
    now_ += 10;
    return *this;
  }
  Profile& runtime(const std::string& name, int thread = 1) {
    events_.push_back(host("cuda_runtime", name, thread, 1));
    now_ += 10;
    return *this;
  }
  [[nodiscard]] std::string text() const {
    return Json{{"schemaVersion", 1},
                {"distributedInfo", {{"rank", rank_}, {"world_size", 2}}},
                {"traceEvents", events_}}
        .dump();
  }
  Json& last() { return events_.back(); }

 private:
  Json host(const std::string& kind, const std::string& name, int thread, double us) {
    return {{"ph", "X"},
            {"cat", kind},
            {"name", name},
            {"tid", thread},
            {"ts", 1000 + now_},
            {"dur", us},
            {"args", {{"correlation", ++correlation_}}}};
  }
  void launch(int stream, double us, const std::string& name, int thread) {
    events_.push_back(host("cuda_runtime", "cudaLaunchKernel", thread, 4));
    events_.push_back({{"ph", "X"},
                       {"cat", "kernel"},
                       {"name", name},
                       {"ts", 1000 + now_ + 5},
                       {"dur", us},
                       {"args",
                        {{"stream", stream},
                         {"correlation", correlation_},
                         {"grid", {6, 2, 1}},
                         {"block", {128, 2, 1}},
                         {"registers per thread", 40},
                         {"shared memory", 512}}}});
    now_ += 10;
  }

  int rank_;
  int correlation_ = 0;
  double now_ = 0;
  Json events_ = Json::array();
};

Json tensor(int elements, int size) { return {1, 2, 0, elements, size, "cuda:0"}; }
Json call(int id, const std::string& name, int sequence, const Json& tensors,
          const Json& splits = Json::array()) {
  Json inputs = {sequence, 4242, 0, name, splits, splits};
  if (!tensors.is_null()) inputs.insert(inputs.begin(), tensors);
  return {{"id", id}, {"name", "record_param_comms"}, {"inputs", inputs}};
}
std::string execution_trace(const Json& nodes) {
  return Json{{"schema", "1.0.1"}, {"nodes", nodes}}.dump();
}

class PytorchTrace : public ::testing::Test {
 protected:
  LoadedTrace load(const std::vector<std::string>& profiles, const std::vector<Json>& calls) {
    for (std::size_t r = 0; r < profiles.size(); ++r) {
      std::filesystem::create_directories(folder_.path("kineto"));
      folder_.write("kineto/worker" + std::to_string(r) + "_step_7.json", profiles[r]);
    }
    for (std::size_t r = 0; r < calls.size(); ++r) {
      std::filesystem::create_directories(folder_.path("et"));
      folder_.write("et/eg_" + std::to_string(r) + ".json", execution_trace(calls[r]));
    }
    TraceWork work;
    work.format = WorkloadKind::pytorch;
    work.path = folder_.path("kineto");
    if (!calls.empty()) work.execution_traces = folder_.path("et");
    LoadedTrace loaded = load_trace(work, 2);
    if (loaded.graph) expect_round_trip(*loaded.graph, 2);
    return loaded;
  }

  TraceFolder folder_{"pytorch"};
};

TEST_F(PytorchTrace, a_collective_waits_for_its_caller_and_who_waits_for_it) {
  // kernel, all-reduce, kernel beside it, wait, kernel behind it.
  const auto profile = [](int rank) {
    return Profile(rank).kernel(7, 20).collective().kernel(7, 30).wait().kernel(7, 40).text();
  };
  const Json calls =
      Json::array({call(1, "allreduce", 5, tensor(100, 4)), call(2, "wait", 5, nullptr)});
  const LoadedTrace loaded = load({profile(0), profile(1)}, {calls, calls});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 4U);
  expect_first_kernel(*ops[0]);
  EXPECT_EQ(std::get<CommunicationShape>(ops[1]->shape).buffer, bytes(400));
  EXPECT_EQ(ops[1]->after.size(), 2U);  // each rank's first kernel
  EXPECT_TRUE(ops[2]->after.empty());
  ASSERT_EQ(ops[3]->after.size(), 1U);
  EXPECT_EQ(&loaded.graph->ops[ops[3]->after[0]], ops[1]);
  // 500 us of each rank's collective kernel are not what the network took.
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (20 + 30 + 40)));
}

TEST_F(PytorchTrace, gradients_are_waited_for_where_a_stream_waits_for_something) {
  const auto profile = [](int rank) {
    return Profile(rank)
        .kernel(7, 20)
        .collective()
        .kernel(7, 30)
        .runtime("cudaStreamWaitEvent")
        .kernel(7, 40)
        .text();
  };
  const Json calls = Json::array({call(1, "allreduce", 5, tensor(100, 4))});
  const LoadedTrace loaded = load({profile(0), profile(1)}, {calls, calls});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(of_rank(*loaded.graph, 0)[3]->after.size(), 1U);
}

TEST_F(PytorchTrace, what_the_host_has_seen_ended_is_over) {
  // Stream 9's kernel is launched once the host has waited for stream 7.
  const auto profile = [](int rank) {
    return Profile(rank)
        .kernel(7, 20)
        .kernel(7, 21)
        .runtime("cudaStreamSynchronize")
        .kernel(9, 30)
        .text();
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 1);
  ASSERT_EQ(ops[2]->after.size(), 1U);
  EXPECT_EQ(&loaded.graph->ops[ops[2]->after[0]], ops[1]);
  EXPECT_EQ(ops[0]->stream, 0U);
  EXPECT_EQ(ops[2]->stream, 1U);
}

TEST_F(PytorchTrace, splits_make_an_uneven_all_to_all) {
  const auto profile = [](int rank) { return Profile(rank).collective().text(); };
  const LoadedTrace loaded =
      load({profile(0), profile(1)},
           {Json::array({call(1, "all_to_allv", 5, tensor(8, 4), {1, 3})}),  // rows of 2 elements
            Json::array({call(1, "all_to_allv", 5, tensor(10, 4), {5, 5})})});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape).pair_bytes,
            (std::vector<std::int64_t>{8, 24, 20, 20}));
  const TraceTotal& total = loaded.summary.by_kind.at("all_to_all");
  EXPECT_EQ(total.bytes_found, 72);
  EXPECT_EQ(total.bytes_simulated, 72);
}

TEST_F(PytorchTrace, newer_profiles_say_themselves_what_moves) {
  const auto profile = [](int rank) {
    Profile made(rank);
    made.collective();
    made.last()["args"]["Collective name"] = "_allgather_base";
    made.last()["args"]["In msg nelems"] = 100;
    made.last()["args"]["dtype"] = "BFloat16";
    made.last()["args"]["Process Group Name"] = "0";
    made.last()["args"]["Process Group Ranks"] = "[0, 1]";
    return made.text();
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape).buffer, bytes(400));
}

// Each has its own order, which may differ between ranks.
TEST_F(PytorchTrace, two_groups_of_the_same_ranks_are_two) {
  const auto profile = [](int rank) {
    Profile made(rank);
    made.kernel(7, 20);
    for (const int number : {rank, 1 - rank}) {
      made.collective();
      Json& arguments = made.last()["args"];
      arguments["stream"] = 90 + number;
      arguments["Collective name"] = number == 0 ? "allreduce" : "_allgather_base";
      arguments["In msg nelems"] = 100;
      arguments["dtype"] = "BFloat16";
      arguments["Process Group Name"] = number == 0 ? "9" : "10";
      arguments["Process Group Ranks"] = "[0, 1]";
    }
    return made.text();
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->ops.size(), 4U);
}

// 1 MiB do not divide among a grid of 12 WGs; among 16 tiles they do.
TEST_F(PytorchTrace, with_shapes_a_librarys_gemm_is_fused_by_its_tiles) {
  const auto profile = [](int rank) {
    Profile made(rank);
    made.product(20).collective();
    made.last()["args"]["Collective name"] = "_reduce_scatter_base";
    made.last()["args"]["In msg nelems"] = 1024 * 512;
    made.last()["args"]["dtype"] = "BFloat16";
    made.last()["args"]["Process Group Name"] = "0";
    made.last()["args"]["Process Group Ranks"] = "[0, 1]";
    return made.text();
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.summary.by_kind.at("gemm").operators, 2U);
  EXPECT_EQ(loaded.graph->ops[OpId(0)].name,
            "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 1024x512x256");
  GpuSpec gpu;
  gpu.cus = 4;
  gpu.wave_size = 32;
  gpu.cu = {.waves = 64, .registers = 65536, .lds = kibibytes(228), .wgs = 32};
  const std::vector<Fusion> found = find_fusions(join_ranks(*loaded.graph), gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pattern, WorkloadKind::gemm_reduce_scatter);
  EXPECT_EQ(found[0].obstacle, "");
}

// As call(), of the process group of this name.
Json call_of(const std::string& group, int id, const std::string& name, int sequence,
             const Json& tensors) {
  Json made = call(id, name, sequence, tensors);
  made["inputs"][tensors.is_null() ? 1 : 2] = Json::array({group, "a group"});
  return made;
}

Json groups_node() {
  return {{"id", 100},
          {"name", "## process_group:init ##"},
          {"inputs",
           {R"([{"pg_name": "0", "ranks": [0, 1]}, {"pg_name": "1", "ranks": [0]},)"
            R"( {"pg_name": "2", "ranks": [1]}])"}}};
}

// A tensor-parallel group of one, as Megatron has them: reduced in place, nothing is started.
TEST_F(PytorchTrace, a_collective_of_one_rank_has_no_kernel) {
  const auto profile = [](int rank) {
    return Profile(rank).kernel(7, 20).alone().kernel(7, 30).wait().collective().text();
  };
  const auto calls = [](int rank) {
    const std::string own = std::to_string(rank + 1);
    return Json::array({groups_node(), call_of(own, 1, "allreduce", 5, tensor(100, 4)),
                        call_of(own, 2, "wait", 5, nullptr),
                        call_of("0", 3, "allreduce", 6, tensor(50, 4))});
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {calls(0), calls(1)});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(of_rank(*loaded.graph, 0).size(), 3U);
  EXPECT_EQ(loaded.summary.by_kind.at("all_reduce").bytes_found, 2 * 200);
  const std::string said = to_text(loaded.summary);
  EXPECT_NE(said.find("2 collectives of a single rank"), std::string::npos) << said;
  EXPECT_EQ(said.find("of the step before"), std::string::npos) << said;
}

TEST_F(PytorchTrace, what_a_collective_of_one_rank_copies_is_in_its_place) {
  const auto profile = [](int rank) {
    return Profile(rank).kernel(7, 20).alone_elsewhere(5).wait().kernel(7, 30).text();
  };
  const auto calls = [](int rank) {
    const std::string own = std::to_string(rank + 1);
    return Json::array({groups_node(), call_of(own, 1, "_allgather_base", 5, tensor(100, 4)),
                        call_of(own, 2, "wait", 5, nullptr)});
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {calls(0), calls(1)});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(ops[1]->part, "copy");
  ASSERT_EQ(ops[1]->after.size(), 1U);
  EXPECT_EQ(&loaded.graph->ops[ops[1]->after[0]], ops[0]);
  ASSERT_EQ(ops[2]->after.size(), 1U);
  EXPECT_EQ(&loaded.graph->ops[ops[2]->after[0]], ops[1]);
}

TEST_F(PytorchTrace, packed_profiles_are_read_and_folders_of_one_rank_each) {
  for (const int rank : {0, 1}) {
    const std::string folder = "ranks/rank" + std::to_string(rank);
    std::filesystem::create_directories(folder_.path(folder));
    folder_.write(folder + "/trace.json.gz", gzipped(Profile(rank).kernel(7, 20).text()));
  }
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("ranks");
  const LoadedTrace loaded = load_trace(work, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->ops.size(), 2U);
  // One that is cut off, and one that is no such file.
  const std::string packed = gzipped(Profile(1).kernel(7, 20).text());
  folder_.write("ranks/rank1/trace.json.gz", packed.substr(0, packed.size() / 2));
  EXPECT_NE(load_trace(work, 2).problems.to_text().find(
                "rank1/trace.json.gz: error: not a whole gzip file: it ends too early"),
            std::string::npos);
  folder_.write("ranks/rank1/trace.json.gz", "{}");
  EXPECT_NE(load_trace(work, 2).problems.to_text().find("not a gzip file"), std::string::npos);
  // What would be too large unpacked is not unpacked.
  folder_.write("ranks/rank1/trace.json.gz", gzipped(std::string(3'000'000, ' ')));
  EXPECT_NE(load_trace(work, 2, bytes(1'000'000)).problems.to_text().find("unpacked, it is larger"),
            std::string::npos);
}

// Two steps of two kernels: 20 and 30 us, then 26 and 34.
std::string two_steps(int rank, double last = 34) {
  Profile made(rank);
  made.kernel(7, 20).kernel(7, 30).kernel(7, 26).kernel(7, last);
  Json text = Json::parse(made.text());
  for (const int step : {3, 4}) {
    text["traceEvents"].push_back({{"ph", "X"},
                                   {"cat", "user_annotation"},
                                   {"name", "ProfilerStep#" + std::to_string(step)},
                                   {"ts", 1000 + (step - 3) * 20},
                                   {"dur", 19}});
  }
  return text.dump();
}

// Without distributedInfo: one process, of which each GPU is a rank.
TEST_F(PytorchTrace, one_profile_may_have_several_gpus) {
  Profile made(0);
  made.kernel(7, 20);
  made.last()["args"]["device"] = 2;
  made.kernel(7, 30);
  made.last()["args"]["device"] = 5;
  Json text = Json::parse(made.text());
  text.erase("distributedInfo");
  const LoadedTrace loaded = load({text.dump()}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto ops = of_rank(*loaded.graph, rank);
    ASSERT_EQ(ops.size(), 1U);
    const auto& kernel = std::get<RecordedShape>(ops[0]->shape);
    EXPECT_EQ(kernel.time, microseconds(20 + 10 * rank));
    EXPECT_FALSE(kernel.beside);  // both on stream 7, each of its GPU
  }
}

TEST_F(PytorchTrace, some_steps_can_be_chosen) {
  load({two_steps(0), two_steps(1)}, {});
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("kineto");
  work.step = 3;
  work.last_step = 4;
  EXPECT_EQ(of_rank(*load_trace(work, 2).graph, 0).size(), 4U);
  work.steps = StepsAs::mean;
  EXPECT_EQ(of_rank(*load_trace(work, 2).graph, 0).size(), 2U);
  work.last_step = 5;
  EXPECT_NE(
      load_trace(work, 2).problems.to_text().find("not each step from #3 to #5; it has #3 #4"),
      std::string::npos);
  work.last_step = 2;
  EXPECT_NE(load_trace(work, 2).problems.to_text().find("must come after step"), std::string::npos);
}

TEST_F(PytorchTrace, a_step_can_be_chosen) {
  const auto profile = [](int rank) {
    Profile made(rank);
    made.kernel(7, 20).kernel(7, 30);
    Json text = Json::parse(made.text());
    for (const int step : {3, 4}) {  // kernels are launched at 1000 and 1010 us
      text["traceEvents"].push_back({{"ph", "X"},
                                     {"cat", "user_annotation"},
                                     {"name", "ProfilerStep#" + std::to_string(step)},
                                     {"ts", 1000 + (step - 3) * 10},
                                     {"dur", 9}});
    }
    return text.dump();
  };
  const LoadedTrace both = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(both.graph) << both.problems.to_text();
  EXPECT_EQ(both.graph->ops.size(), 4U);
  EXPECT_NE(to_text(both.summary).find("2 steps, #3 to #4, are replayed"), std::string::npos);
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("kineto");
  work.step = 4;
  const LoadedTrace one = load_trace(work, 2);
  ASSERT_TRUE(one.graph) << one.problems.to_text();
  ASSERT_EQ(one.graph->ops.size(), 2U);
  EXPECT_EQ(std::get<RecordedShape>(one.graph->ops[OpId(0)].shape).time, microseconds(30));
  work.step = 7;
  EXPECT_NE(load_trace(work, 2).problems.to_text().find("no step #7; it has #3 #4"),
            std::string::npos);
}

// Rank 1 has more left than rank 0 of what ran before; neither belongs to this step.
TEST_F(PytorchTrace, what_was_launched_before_the_profile_is_left_out) {
  const auto profile = [](int rank) {
    Profile made(rank);
    for (int before = 0; before <= rank; ++before) {
      made.kernel(7, 20);
      made.last()["args"]["correlation"] = 1'000 + before;
    }
    return made.kernel(7, 30).text();
  };
  const LoadedTrace loaded = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_EQ(loaded.graph->ops.size(), 2U);
  EXPECT_EQ(std::get<RecordedShape>(loaded.graph->ops[OpId(0)].shape).time, microseconds(30));
  EXPECT_NE(to_text(loaded.summary).find("3 kernels and copies that were launched before"),
            std::string::npos);
}

TEST_F(PytorchTrace, steps_have_a_mean_if_they_are_alike) {
  load({two_steps(0), two_steps(1)}, {});
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("kineto");
  work.steps = StepsAs::mean;
  const LoadedTrace mean = load_trace(work, 2);
  ASSERT_TRUE(mean.graph) << mean.problems.to_text();
  const auto ops = of_rank(*mean.graph, 0);
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(std::get<RecordedShape>(ops[0]->shape).time, microseconds(23));
  EXPECT_EQ(std::get<RecordedShape>(ops[1]->shape).time, microseconds(32));
  // Kernels start 10 us after one another: 10 + 30 us and 10 + 34 us, never without a kernel.
  EXPECT_EQ(mean.summary.step->time, microseconds(42));
  EXPECT_EQ(mean.summary.step->idle, Duration{});
  EXPECT_NE(to_text(mean.summary).find("replayed as one"), std::string::npos);
  // The second step has another kernel.
  Json other = Json::parse(two_steps(1));
  for (Json& event : other["traceEvents"]) {
    if (event["cat"] == "kernel" && event["dur"] == 34) event["name"] = "another";
  }
  folder_.write("kineto/worker1_step_7.json", other.dump());
  EXPECT_NE(load_trace(work, 2).problems.to_text().find(
                "steps #3 and #4 have 'void gemm_kernel<float, 4>(int)' and 'another' in the "
                "same place"),
            std::string::npos)
      << load_trace(work, 2).problems.to_text();
  folder_.write("kineto/worker1_step_7.json", Profile(1).kernel(7, 20).text());
  EXPECT_NE(load_trace(work, 2).problems.to_text().find("the profile has no ProfilerStep"),
            std::string::npos);
}

// Launched at 0, 10 and 20 us, started 5 us later: kernels of 2, 9 and 3 us. The GPU is idle from 7
// to 15, until the second call returns or its kernel starts, and from 24 to 25, launched before.
// So 1 us is what the GPU itself leaves, and of the first gap 8 - 1 us are the host's.
std::string slow_host(int rank) {
  Json profile = Json::parse(Profile(rank).kernel(7, 2).kernel(7, 9).kernel(7, 3).text());
  profile["traceEvents"][2]["dur"] = 6;  // the second call, of 10 us
  return profile.dump();
}

TEST_F(PytorchTrace, it_is_said_how_long_the_gpu_had_nothing_to_do) {
  const LoadedTrace loaded = load({slow_host(0), slow_host(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_TRUE(loaded.summary.step);
  EXPECT_EQ(loaded.summary.step->time, microseconds(23));
  EXPECT_EQ(loaded.summary.step->idle, microseconds(8 + 1));
  EXPECT_EQ(loaded.summary.step->unlaunched, microseconds(8 - 1));
  EXPECT_NE(to_text(loaded.summary).find("for 39 % of them its GPU had no kernel, for 30 %"),
            std::string::npos)
      << to_text(loaded.summary);
}

TEST_F(PytorchTrace, the_hosts_time_can_be_kept) {
  // Two kernels, a wait of 1 us for the stream, a third.
  const auto profile = [](int rank) {
    return Profile(rank)
        .kernel(7, 2)
        .kernel(7, 7)
        .runtime("cudaStreamSynchronize")
        .kernel(9, 3)
        .text();
  };
  load({profile(0), profile(1)}, {});
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("kineto");
  work.host = HostTime::recorded;
  const LoadedTrace loaded = load_trace(work, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  expect_round_trip(*loaded.graph, 2);
  const auto ops = of_rank(*loaded.graph, 0);
  // kernel, from 5 us on; host 5 us, kernel; host 10 us until it waits; 9 us after the wait, kernel
  ASSERT_EQ(ops.size(), 6U);
  const auto host_us = [&](std::size_t i) {
    const auto& shape = std::get<RecordedShape>(ops[i]->shape);
    return shape.host ? to_microseconds(shape.time) : -1;
  };
  EXPECT_EQ(host_us(0), -1);
  EXPECT_EQ(host_us(1), 5);
  EXPECT_EQ(host_us(3), 10);
  EXPECT_EQ(host_us(4), 9);
  const auto waits_for = [&](std::size_t i, std::size_t other) {
    return std::any_of(ops[i]->after.begin(), ops[i]->after.end(),
                       [&](OpId before) { return &loaded.graph->ops[before] == ops[other]; });
  };
  EXPECT_TRUE(waits_for(2, 1));
  EXPECT_TRUE(waits_for(4, 2));  // the host went on when the kernel had ended
  EXPECT_TRUE(waits_for(5, 4));
}

// Moments of a clock that jumped: 2^61 ns from one launch to the next.
TEST_F(PytorchTrace, a_host_that_takes_more_than_a_day_is_refused) {
  const auto profile = [](int rank) {
    Json text = Json::parse(Profile(rank).kernel(7, 20).kernel(7, 30).text());
    for (Json& event : text["traceEvents"]) {
      if (event["ts"] > 1008) event["ts"] = 2'300'000'000'000'000;
    }
    return text.dump();
  };
  const LoadedTrace dropped = load({profile(0), profile(1)}, {});
  ASSERT_TRUE(dropped.graph) << dropped.problems.to_text();
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = folder_.path("kineto");
  work.host = HostTime::recorded;
  EXPECT_NE(load_trace(work, 2).problems.to_text().find("nothing for more than a day"),
            std::string::npos);
}

TEST_F(PytorchTrace, the_gpu_that_was_recorded_is_named) {
  Json profile = Json::parse(slow_host(0));
  profile["deviceProperties"] = {{{"id", 0}, {"name", "Tesla V100-SXM2-32GB"}, {"numSms", 80}}};
  const LoadedTrace loaded = load({profile.dump(), slow_host(1)}, {});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.summary.device.name, "Tesla V100-SXM2-32GB");
  EXPECT_EQ(loaded.summary.device.cus, 80);
  EXPECT_NE(to_text(loaded.summary).find("recorded on: Tesla V100-SXM2-32GB"), std::string::npos);
}

TEST_F(PytorchTrace, what_ran_beside_a_collective_is_replayed_as_recorded) {
  // The second kernel starts while the collective's runs, 500 us of it.
  const auto profile = [](int rank) {
    Profile made(rank);
    made.kernel(7, 5).collective().kernel(7, 30);
    return made.text();
  };
  const Json calls = Json::array({call(1, "allreduce", 5, tensor(100, 4))});
  const LoadedTrace loaded = load({profile(0), profile(1)}, {calls, calls});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  EXPECT_FALSE(std::get<RecordedShape>(ops[0]->shape).beside);
  EXPECT_TRUE(std::get<RecordedShape>(ops[2]->shape).beside);
  EXPECT_NE(to_text(loaded.summary).find("2 kernels, 0.060 ms over all ranks, shared their GPU"),
            std::string::npos);
}

TEST_F(PytorchTrace, what_does_not_belong_together_is_refused) {
  const auto profile = [](int rank) { return Profile(rank).collective().text(); };
  const auto says = [](const LoadedTrace& loaded, const char* words) {
    EXPECT_FALSE(loaded.graph);
    EXPECT_NE(loaded.problems.to_text().find(words), std::string::npos)
        << loaded.problems.to_text();
  };
  says(load({profile(0), profile(1)}, {}), "the profile does not say what it moves");
  says(load({profile(0), profile(0)}, {}), "worker1_step_7.json: error: rank: 0, like ");
  const Json good = Json::array({call(1, "allreduce", 5, tensor(1, 4))});
  says(load({profile(0), profile(1)}, {good, Json::array()}), "0 calls of record_param_comms");
  says(load({profile(0), profile(1)}, {good, Json::array({call(1, "wait", 5, nullptr)})}),
       "'wait', but call 1 in the profile");
  const auto silent = [](int rank) { return Profile(rank).kernel(7, 1).alone().text(); };
  says(load({silent(0), silent(1)}, {good, good}), "'allreduce', but call 1 in the profile");
  says(load({profile(0), profile(1)}, {good, Json::array({call(1, "allreduce", 5, tensor(0, 4))})}),
       "size: 0 elements");
  says(load({profile(0), profile(1)}, {good, Json::array({call(1, "reduce", 5, tensor(4, 4))})}),
       "'reduce': weft simulates");
  says(load({profile(0), "{\"traceEvents\": ["}, {good, good}), "not JSON");
  says(load({profile(0), "{}"}, {good, good}), "not a Kineto profile");
}

}  // namespace
}  // namespace weft::pytorch_test
