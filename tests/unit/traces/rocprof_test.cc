// Files of rocprofv3, written by the test in each of its formats, as workloads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"
#include "tests/unit/traces/rocpd_writer.h"
#include "tests/unit/traces/rocprof_writer.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::rocprof_test {
namespace {

constexpr int kAllReduce = 0;
constexpr int kAllGather = 1;
constexpr int kAllToAll = 2;
constexpr int kGroupEnd = 3;
constexpr int kHost = 1;  // agent

enum class Written { json, tables, tables_with_tracks };

class RocprofFiles {
 protected:
  explicit RocprofFiles(Written written) : written_(written) {}

  void write(RocprofFile file, const std::string& name) const {
    if (written_ == Written::json) return file.write(folder_.path(name + ".json"));
    std::filesystem::remove(folder_.path(name + ".db"));
    RocpdWriter(folder_.path(name + ".db"), written_ == Written::tables_with_tracks, kProcess)
        .add(file.json());
  }
  LoadedTrace load(const std::vector<RocprofFile>& files, const std::string& sizes = "") {
    work_.format = WorkloadKind::rocprof;
    work_.path = folder_.path("");
    for (std::size_t i = 0; i < files.size(); ++i) {
      write(files[i], "rank" + std::to_string(i) + "_results");
    }
    if (!sizes.empty()) {
      work_.collective_sizes = folder_.path("sizes.txt");
      std::ofstream(work_.collective_sizes) << sizes;
    }
    const auto gpus = static_cast<int>(files.size());
    LoadedTrace loaded = load_trace(work_, gpus);
    if (loaded.graph) expect_round_trip(*loaded.graph, gpus);
    return loaded;
  }
  std::string problems(const std::vector<RocprofFile>& files, const std::string& sizes = "") {
    const LoadedTrace loaded = load(files, sizes);
    EXPECT_FALSE(loaded.graph);
    return loaded.problems.to_text();
  }

  static constexpr const char* kProcess = "_01020304_0506_7708_890a_0b0c0d0e0f10";
  Written written_;
  TraceFolder folder_{"rocprof"};
  TraceWork work_;
};

class RocprofTrace : public RocprofFiles, public ::testing::TestWithParam<Written> {
 protected:
  RocprofTrace() : RocprofFiles(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Formats, RocprofTrace,
                         ::testing::Values(Written::json, Written::tables,
                                           Written::tables_with_tracks));

class RocprofJson : public RocprofFiles, public ::testing::Test {
 protected:
  RocprofJson() : RocprofFiles(Written::json) {}
};

class RocprofTables : public RocprofFiles, public ::testing::Test {
 protected:
  RocprofTables() : RocprofFiles(Written::tables) {}
};

std::vector<RocprofFile> two_ranks_that_sum() {
  RocprofFile file;
  file.kernel(7, 20).collective(20, 500, kAllReduce).kernel(7, 30);
  return {file, file};
}

// A grid of 767 x 4 work-items in work-groups of 128 x 2 has 6 x 2 of these.
TEST_P(RocprofTrace, a_file_has_the_kernels_and_collectives_of_a_process) {
  const LoadedTrace loaded = load(two_ranks_that_sum(), "all_reduce 4096 B\n");
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 3U);
  expect_first_kernel(*ops[0]);
  EXPECT_EQ(std::get<CommunicationShape>(ops[1]->shape).buffer, bytes(4096));
  EXPECT_EQ(ops[1]->after.size(), 2U);  // each rank's first kernel
  EXPECT_EQ(loaded.summary.device.name, "AMD Instinct MI300X");
  EXPECT_EQ(loaded.summary.device.cus, 304);
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (20 + 30)));
}

TEST_P(RocprofTrace, sizes_of_collectives_must_be_given) {
  EXPECT_NE(problems(two_ranks_that_sum())
                .find("kernel 'ncclDevKernel_Generic_4 of ncclAllReduce': the profile does not say "
                      "what 1 of them move; rocprofv3 does not record it; give collective_sizes"),
            std::string::npos);
}

TEST_P(RocprofTrace, the_call_that_launched_a_kernel_says_which_collective_it_is) {
  RocprofFile file;
  file.kernel(7, 20).collective(20, 500, kAllGather);
  EXPECT_NE(problems({file, file}, "all_reduce 4096 B\n").find("says all_reduce of 4096 B"),
            std::string::npos);
}

TEST_P(RocprofTrace, ranges_with_shapes_say_what_kernels_compute) {
  RocprofFile file;
  file.in_range("aten::mm, op_id = 40, sizes = [[1024, 256], [256, 512]]", 7, 20,
                "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1");
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& kernel = std::get<RecordedShape>(of_rank(*loaded.graph, 0).at(0)->shape);
  ASSERT_TRUE(kernel.work && kernel.work->gemm);
  EXPECT_EQ(kernel.work->gemm->m, 1024);
  EXPECT_EQ(kernel.work->gemm->n, 512);
}

// A group's kernel, and calls that are no collective of the list's, say nothing or too much.
TEST_P(RocprofTrace, calls_are_compared_with_the_list_where_they_are_known) {
  RocprofFile file;
  file.kernel(7, 20).collective(20, 500, kAllToAll);
  EXPECT_NE(problems({file, file}, "all_reduce 4096 B\n").find("says all_reduce of 4096 B"),
            std::string::npos);
  EXPECT_TRUE(load({file, file}, "all_to_all 4096 B\n").graph);
  RocprofFile group;
  group.kernel(7, 20).collective(20, 500, kGroupEnd);
  EXPECT_TRUE(load({group, group}, "all_reduce 4096 B\n").graph);
}

RocprofFile two_streams_and_a_copy(std::optional<bool> said) {
  RocprofFile file(2);
  if (said != true) file.without_streams(!said);
  file.kernel(7, 20).kernel(8, 20).kernel(7, 20);
  file.copy(7, 30, 1 << 20, kHost, RocprofFile::handle_of(0));
  return file;
}

// Without streams, kernels of one queue of the hardware follow one another, copies none of them.
// Which of the operators before has the same stream, for each: itself, if none has.
TEST_P(RocprofTrace, streams_that_are_not_said_are_queues) {
  const auto streams = [this](std::optional<bool> said) {
    const LoadedTrace loaded = load({two_streams_and_a_copy(said)});
    EXPECT_TRUE(loaded.graph) << loaded.problems.to_text();
    const auto ops = of_rank(*loaded.graph, 0);
    std::vector<std::ptrdiff_t> first;
    first.reserve(ops.size());
    for (const ModelOp* op : ops) {
      first.push_back(
          std::find_if(ops.begin(), ops.end(),
                       [op](const ModelOp* other) { return other->stream == op->stream; }) -
          ops.begin());
    }
    return std::pair(first, loaded.summary.choices.size());
  };
  EXPECT_EQ(streams(true), std::pair(std::vector<std::ptrdiff_t>({0, 1, 0, 0}), std::size_t{1}));
  const std::pair queues(std::vector<std::ptrdiff_t>({0, 1, 0, 3}), std::size_t{2});
  EXPECT_EQ(streams(std::nullopt), queues);
  EXPECT_EQ(streams(false), queues);
}

TEST_P(RocprofTrace, copies_between_gpus_write_and_the_hosts_own_are_left_out) {
  RocprofFile file(2);
  file.kernel(7, 20);
  file.copy(7, 30, 1 << 20, RocprofFile::handle_of(1), RocprofFile::handle_of(0));
  file.copy(7, 30, 1 << 20, RocprofFile::handle_of(0), RocprofFile::handle_of(0));
  file.copy(7, 30, 1 << 20, kHost, kHost);
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 3U);
  const auto& between = *std::get<RecordedShape>(ops[1]->shape).work;
  EXPECT_EQ(between.written, mebibytes(1));
  EXPECT_EQ(between.read, bytes(0));
  EXPECT_EQ(std::get<RecordedShape>(ops[2]->shape).work->read, mebibytes(1));
}

// Of the second step: what it launched, 30 us. A mark is no step.
TEST_P(RocprofTrace, ranges_of_a_thread_are_steps) {
  RocprofFile file;
  file.in_range("ProfilerStep#1", 7, 20, "first").in_range("ProfilerStep#2", 7, 30, "second");
  file.marker("ProfilerStep#2", 1, 0).synchronize();
  work_.step = 2;
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0]->name, "second");
}

TEST_F(RocprofJson, a_file_may_have_several_processes) {
  RocprofFile first;
  RocprofFile second;
  first.kernel(7, 20);
  second.kernel(7, 40);
  const nlohmann::json both = {{"rocprofiler-sdk-tool", {first.json(), second.json()}}};
  work_.format = WorkloadKind::rocprof;
  work_.path = folder_.path("all.json");
  std::ofstream(work_.path) << both;
  const LoadedTrace loaded = load_trace(work_, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 1).at(0)->shape).time, microseconds(40));
}

TEST_F(RocprofJson, takes_no_more_memory_than_allowed) {
  RocprofFile file;
  for (int i = 0; i < 100; ++i) file.kernel(7, 20);
  file.write(folder_.path("rank0.json"));
  work_.format = WorkloadKind::rocprof;
  work_.path = folder_.path("rank0.json");
  EXPECT_TRUE(load_trace(work_, 1, mebibytes(16)).graph);
  EXPECT_FALSE(load_trace(work_, 1, kibibytes(100)).graph);
}

TEST_P(RocprofTrace, gpus_are_numbered_by_their_nodes) {
  RocprofFile second(2, 1);
  second.kernel(7, 40);
  RocprofFile first(2, 0);
  first.kernel(7, 20);
  const LoadedTrace loaded = load({first, second});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 1).at(0)->shape).time, microseconds(40));
}

TEST_P(RocprofTrace, kernels_do_not_end_before_they_start) {
  RocprofFile backwards;
  backwards.kernel(7, 20);
  backwards.json()["buffer_records"]["kernel_dispatch"][0]["end_timestamp"] = 5;
  EXPECT_NE(problems({backwards}).find("'gemm_kernel(int)': start_timestamp, end_timestamp"),
            std::string::npos);
}

TEST_F(RocprofJson, says_what_is_wrong_with_a_file) {
  RocprofFile nothing;
  EXPECT_NE(problems({nothing}).find("no kernels: nothing ran on a GPU, or kernels were not "
                                     "traced (--kernel-trace)"),
            std::string::npos);
  RocprofFile elsewhere;
  elsewhere.kernel(7, 20);
  elsewhere.json()["agents"].clear();
  EXPECT_NE(problems({elsewhere}).find("agent_id: 1000 is no GPU that agents lists"),
            std::string::npos);
  RocprofFile empty;
  empty.kernel(7, 20);
  empty.json()["buffer_records"]["kernel_dispatch"][0]["dispatch_info"]["grid_size"]["y"] = 0;
  EXPECT_NE(problems({empty}).find("grid_size, workgroup_size: must be three sizes above 0"),
            std::string::npos);
  RocprofFile huge;
  huge.kernel(7, 20);
  huge.json()["buffer_records"]["kernel_dispatch"][0]["dispatch_info"]["grid_size"]["x"] =
      INT64_MAX;
  huge.json()["kernel_symbols"][1]["arch_vgpr_count"] = INT64_MAX;
  EXPECT_NE(problems({huge}).find("grid_size, workgroup_size: must be"), std::string::npos);
  RocprofFile unknown;
  unknown.kernel(7, 20);
  unknown.json()["kernel_symbols"].clear();
  EXPECT_NE(problems({unknown}).find("kernel_id: 1 is not in kernel_symbols"), std::string::npos);
  RocprofFile twice;
  twice.kernel(7, 20);
  twice.json()["agents"].push_back(twice.json()["agents"][1]);
  EXPECT_NE(problems({twice}).find("agents: id 1000 is missing or there twice"), std::string::npos);
  std::ofstream(folder_.path("rank0_results.json")) << R"({"rocprofiler-sdk-tool": [1]})";
  EXPECT_NE(load_trace(work_, 1).problems.to_text().find("must be a list of objects"),
            std::string::npos);
  std::ofstream(folder_.path("rank0_results.json")) << R"({"traceEvents": []})";
  EXPECT_NE(load_trace(work_, 1).problems.to_text().find(
                "rocprofiler-sdk-tool: missing; this is no JSON file of rocprofv3"),
            std::string::npos);
}

TEST_F(RocprofTables, a_file_may_have_several_processes) {
  for (const auto& [id, us] : {std::pair("_b", 40.0), std::pair("_a", 20.0)}) {
    RocprofFile process;
    process.kernel(7, us);
    RocpdWriter(folder_.path("all.db"), false, id).add(process.json());
  }
  work_.format = WorkloadKind::rocprof;
  work_.path = folder_.path("all.db");
  const LoadedTrace loaded = load_trace(work_, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& said = loaded.summary.choices;
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& choice) {
    return choice.find("in which they began: pid 4097, 4098") != std::string::npos;
  }));
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 1).at(0)->shape).time, microseconds(40));
}

TEST_F(RocprofTables, says_what_is_wrong_with_a_file) {
  RocprofFile nothing;
  EXPECT_NE(problems({nothing}).find("rocpd_kernel_dispatch: no kernels: nothing ran on a GPU"),
            std::string::npos);
  RocprofFile unknown;
  unknown.kernel(7, 20);
  unknown.json()["kernel_symbols"].clear();
  EXPECT_NE(problems({unknown}).find("kernel_id: 1 is not in info_kernel_symbol"),
            std::string::npos);
  std::filesystem::remove(folder_.path("rank0_results.db"));
  sqlite3* base = nullptr;
  ASSERT_EQ(sqlite3_open(folder_.path("rank0_results.db").c_str(), &base), SQLITE_OK);
  sqlite3_exec(base, "CREATE TABLE rocpd_kernel_dispatch_1 (id)", nullptr, nullptr, nullptr);
  sqlite3_close(base);
  const std::string said = load_trace(work_, 1).problems.to_text();
  EXPECT_NE(said.find("rocpd_kernel_dispatch_1: has no column kernel_id; weft reads schemas 3 and "
                      "4.1 of rocpd"),
            std::string::npos)
      << said;
}

// rocprofv3 writes several formats at once if it is asked to.
TEST_F(RocprofTables, of_two_formats_one_is_read) {
  RocprofFile file;
  file.kernel(7, 20);
  file.write(folder_.path("rank0_results.json"));
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& said = loaded.summary.choices;
  EXPECT_NE(std::find(said.begin(), said.end(),
                      "files *.json are left out, as there are files *.db beside them"),
            said.end());
}

TEST_F(RocprofTables, other_formats_are_refused) {
  work_.format = WorkloadKind::rocprof;
  const auto problem_of = [this](const char* name, const char* bytes) {
    work_.path = folder_.path(name);
    std::ofstream(work_.path) << bytes;
    return load_trace(work_, 1).problems.to_text();
  };
  EXPECT_NE(problem_of("results.pftrace", "\x0a\x1f\x08").find("a Perfetto trace"),
            std::string::npos);
  EXPECT_NE(problem_of("long.pftrace", "\x0a{\x08\x01").find("a Perfetto trace"),
            std::string::npos);  // a first packet of 123 B
  EXPECT_NE(problem_of("kernel_trace.csv", "\"Kind\",\"Agent_Id\"\n")
                .find("neither a database nor JSON of rocprofv3: record with"),
            std::string::npos);
}

// PyTorch's copies to the host: the call comes back when the copy has ended.
TEST_P(RocprofTrace, a_copy_that_is_waited_for_comes_before_what_is_launched_next) {
  RocprofFile file;
  file.kernel(7, 20);
  file.copy(7, 30, 1 << 20, RocprofFile::handle_of(0), kHost, 4).kernel(8, 10);
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 3U);
  ASSERT_EQ(ops[2]->after.size(), 1U);
  EXPECT_EQ(&loaded.graph->ops[ops[2]->after[0]], ops[1]);
}

TEST_P(RocprofTrace, files_are_in_the_order_of_their_numbers) {
  std::vector<RocprofFile> files(11);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].kernel(7, 10 + static_cast<double>(i));
  const LoadedTrace loaded = load(files);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 10).at(0)->shape).time,
            microseconds(20));
}

}  // namespace
}  // namespace weft::rocprof_test
