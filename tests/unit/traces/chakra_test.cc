// Chakra traces of small machines, each written by the test: what they become, what is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/files/checksum.h"
#include "sim/files/file_set.h"
#include "sim/traces/chakra/chakra_file.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/problems.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"

namespace weft::chakra_test {
namespace {

constexpr std::uint64_t kAllReduce = 0;
constexpr std::uint64_t kAllGather = 2;
constexpr std::uint64_t kAllToAll = 6;

class ChakraTrace : public ::testing::Test {
 protected:
  LoadedTrace load(const std::vector<std::string>& ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      folder_.write("t." + std::to_string(r) + ".et", ranks[r]);
    }
    return load_written(static_cast<int>(ranks.size()));
  }
  LoadedTrace load_written(int gpus) {
    work_.path = folder_.path("t");
    LoadedTrace loaded = load_trace(work_, gpus);
    if (loaded.graph) expect_round_trip(*loaded.graph, gpus);
    return loaded;
  }
  // The one message of all, without the folder.
  static std::string problem(const LoadedTrace& loaded) {
    EXPECT_FALSE(loaded.graph.has_value());
    const std::string text = loaded.problems.to_text();
    EXPECT_EQ(loaded.problems.all().size(), 1U) << text;
    return text.substr(text.find("/t.") + 1);
  }

  TraceFolder folder_{"chakra"};
  TraceWork work_;
};

const CommunicationShape& call(const LoadedTrace& loaded, std::uint32_t op) {
  return std::get<CommunicationShape>(loaded.graph->ops[OpId(op)].shape);
}

TEST_F(ChakraTrace, the_collectives_of_all_ranks_become_one_operator) {
  const std::string rank = generated({collective(0, kAllReduce, 4096)});
  const LoadedTrace loaded = load({rank, rank, rank});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_EQ(loaded.graph->ops.size(), 1U);
  EXPECT_EQ(call(loaded, 0).op, CollectiveOp::all_reduce);
  EXPECT_EQ(call(loaded, 0).buffer, bytes(4096));
  EXPECT_EQ(loaded.graph->places[PlaceId(0)].groups,
            (std::vector<std::vector<std::uint32_t>>{{0, 1, 2}}));
  const TraceTotal& total = loaded.summary.by_kind.at("all_reduce");
  EXPECT_EQ(total.nodes, 3U);
  EXPECT_EQ(total.bytes_found, 3 * 4096);
  EXPECT_EQ(total.bytes_simulated, 3 * 4096);
}

TEST_F(ChakraTrace, an_all_gather_names_what_a_rank_puts_in) {
  const std::string rank = generated({collective(0, kAllGather, 1000)});
  EXPECT_EQ(call(load({rank, rank, rank, rank}), 0).buffer, bytes(4000));
  work_.allgather_size_is = AllGatherSize::total;
  EXPECT_EQ(call(load({rank, rank, rank, rank}), 0).buffer, bytes(1000));
}

TEST_F(ChakraTrace, elements_are_counted_in_their_bytes) {
  const std::string rank = generated({collective(0, kAllToAll, 1000)});
  work_.comm_size_unit = CommSizeUnit::elements;
  work_.element_bytes = 4;
  EXPECT_EQ(call(load({rank, rank}), 0).buffer, bytes(4000));
}

TEST_F(ChakraTrace, every_type_of_whole_number_is_a_size) {
  // 300 as int64, uint64 and zigzag sint64; 32-bit types are varints alike.
  for (const auto& [field, value] : {std::pair{AttributeField::int64, 300U},
                                     {AttributeField::uint64, 300U},
                                     {AttributeField::sint64, 600U},
                                     {AttributeField::int32, 300U}}) {
    WrittenNode node = collective(0, kAllReduce, 1);
    node.attributes.back() = number_attribute("comm_size", field, value);
    const std::string rank = generated({node});
    EXPECT_EQ(call(load({rank, rank}), 0).buffer, bytes(300));
  }
}

TEST_F(ChakraTrace, durations_and_dependencies_are_kept) {
  // compute 0 (5 us), then an all-reduce beside compute 2, and compute 3 behind both.
  const std::string rank = generated({compute(0, 5), collective(1, kAllReduce, 64, {0}),
                                      compute(2, 7, {0}), compute(3, 9, {1, 2})});
  const LoadedTrace loaded = load({rank, rank});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_EQ(loaded.graph->ops.size(), 7U);  // three of each rank, one of both
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (5 + 7 + 9)));
  std::vector<const ModelOp*> of_rank_0;
  for (const ModelOp& op : loaded.graph->ops) {
    if (loaded.graph->places[op.place].groups.front().front() == 0) of_rank_0.push_back(&op);
  }
  ASSERT_EQ(of_rank_0.size(), 4U);
  EXPECT_EQ(std::get<RecordedShape>(of_rank_0[0]->shape).time, microseconds(5));
  EXPECT_TRUE(communicates(*of_rank_0[1]));
  EXPECT_EQ(of_rank_0[1]->after.size(), 2U);  // each rank's compute 0
  EXPECT_NE(of_rank_0[1]->stream, of_rank_0[0]->stream);
  EXPECT_TRUE(of_rank_0[2]->after.empty());   // in order of its stream
  EXPECT_EQ(of_rank_0[3]->after.size(), 1U);  // the all-reduce
}

TEST_F(ChakraTrace, work_without_a_time_is_a_roofline) {
  WrittenNode node = compute(0, 0);
  node.attributes = {number_attribute("num_ops", AttributeField::int64, 2'000),
                     number_attribute("tensor_size", AttributeField::uint64, 512)};
  const LoadedTrace loaded = load({generated({node})});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& shape = std::get<StreamShape>(loaded.graph->ops[OpId(0)].shape);
  EXPECT_EQ(shape.flops, flops(2'000));
  EXPECT_EQ(shape.read, bytes(512));
}

WrittenNode message(std::uint64_t id, int type, int source, int target, std::uint64_t size) {
  return {.id = id,
          .name = type == 5 ? "send" : "receive",
          .type = type,
          .attributes = {
              number_attribute("comm_src", AttributeField::int32, static_cast<unsigned>(source)),
              number_attribute("comm_dst", AttributeField::int32, static_cast<unsigned>(target)),
              number_attribute("comm_size", AttributeField::int64, size)}};
}

TEST_F(ChakraTrace, a_send_and_its_receive_are_one_message) {
  const LoadedTrace loaded =
      load({generated({message(0, 5, 0, 1, 100), message(1, 5, 0, 1, 200)}),
            generated({message(0, 6, 0, 1, 100), message(1, 6, 0, 1, 200)})});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_EQ(loaded.graph->ops.size(), 2U);
  EXPECT_EQ(call(loaded, 0).op, CollectiveOp::point_to_point);
  EXPECT_EQ(call(loaded, 1).buffer, bytes(200));
  EXPECT_EQ(loaded.graph->places[PlaceId(0)].groups.front(), (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(ChakraTrace, groups_come_from_a_file_and_have_streams_of_their_own) {
  const auto in_group = [](std::uint64_t id, const std::string& group) {
    WrittenNode node = collective(id, kAllReduce, 64);
    node.attributes.push_back(text_attribute("pg_name", group));
    return node;
  };
  folder_.write("groups.json", R"({"a": [0, 1], "b": [2, 3]})");
  work_.groups = folder_.path("groups.json");
  const std::string low = generated({in_group(0, "a"), collective(1, kAllReduce, 128)});
  const std::string high = generated({in_group(0, "b"), collective(1, kAllReduce, 128)});
  const LoadedTrace loaded = load({low, low, high, high});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  ASSERT_EQ(loaded.graph->ops.size(), 3U);
  EXPECT_EQ(loaded.graph->ops[OpId(0)].stream, loaded.graph->ops[OpId(1)].stream);
  EXPECT_NE(loaded.graph->ops[OpId(0)].stream, loaded.graph->ops[OpId(2)].stream);
}

// As an export leaves them: the file beside the trace is taken, and that is said.
TEST_F(ChakraTrace, groups_are_found_beside_the_trace) {
  WrittenNode node = collective(0, kAllReduce, 64);
  node.attributes.push_back(text_attribute("pg_name", "a"));
  const std::string pair = generated({node});
  const std::string none = generated({compute(0, 5)});
  const LoadedTrace without = load({pair, pair, none});
  EXPECT_NE(without.problems.to_text().find("as PREFIX.groups.json"), std::string::npos)
      << without.problems.to_text();
  folder_.write("t.groups.json", R"({"a": [0, 1]})");
  const LoadedTrace loaded = load_written(3);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->places[loaded.graph->ops[OpId(0)].place].groups.front().size(), 2U);
  EXPECT_NE(to_text(loaded.summary).find("t.groups.json (found beside the trace)"),
            std::string::npos);
}

TEST_F(ChakraTrace, one_rank_may_stand_for_all) {
  work_.one_for_all = true;
  folder_.write("t.0.et", generated({compute(0, 5), collective(1, kAllGather, 8, {0})}));
  const LoadedTrace loaded = load_written(4);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->places[loaded.graph->ops[OpId(0)].place].groups.size(), 4U);
  EXPECT_EQ(loaded.graph->places[loaded.graph->ops[OpId(1)].place].groups.front().size(), 4U);
  EXPECT_EQ(call(loaded, 1).buffer, bytes(32));
}

// PyTorch's recorder: operators of the CPU (1, 3) launch kernels (2, 4) and a collective (6).
TEST_F(ChakraTrace, what_waits_for_the_cpu_waits_for_what_it_launched) {
  const auto flag = [](WrittenNode node, unsigned cpu, unsigned stream) {
    node.attributes.insert(node.attributes.begin(),
                           {number_attribute("is_cpu_op", AttributeField::truth, cpu),
                            number_attribute("tid", AttributeField::int64, stream)});
    return node;
  };
  WrittenNode start = flag(compute(5, 50, {3}), 1, 1);
  start.type = 7;          // c10d::allreduce_, without a size
  start.ctrl_deps = {77};  // its caller, which is not in the file
  const std::string rank = recorded(
      {flag(compute(1, 30), 1, 1), flag(compute(2, 4, {1}), 0, 7), flag(compute(3, 30, {1}), 1, 1),
       flag(compute(4, 6, {3, 1}), 0, 7), start, collective(6, kAllReduce, 64, {5, 3}),
       flag(compute(7, 30, {5}), 1, 1), flag(compute(8, 2, {7}), 0, 7)},
      "1.0.1");
  const LoadedTrace loaded = load({rank, rank});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (4 + 6 + 2)));
  ASSERT_EQ(loaded.graph->ops.size(), 7U);
  for (const ModelOp& op : loaded.graph->ops) {
    // The collective waits for kernel 4 of both ranks; nothing waits for it.
    EXPECT_EQ(op.after.size(), communicates(op) ? 2U : 0U);
  }
  work_.waits_for = WaitFor::blocking_collectives;
  const LoadedTrace blocking = load({rank, rank});
  ASSERT_TRUE(blocking.graph) << blocking.problems.to_text();
  EXPECT_EQ(blocking.graph->ops[OpId(6)].after.size(), 1U);  // kernel 8
}

TEST_F(ChakraTrace, a_collective_without_a_size_is_refused) {
  WrittenNode node = collective(7, kAllReduce, 1);
  node.attributes.pop_back();
  const std::string good = generated({collective(7, kAllReduce, 8)});
  EXPECT_EQ(problem(load({good, generated({node})})),
            "t.1.et: error: node 7 'coll': comm_size: missing; a communication needs its size, in "
            "this trace's unit\n");
  EXPECT_NE(problem(load({good, generated({collective(7, kAllReduce, 0)})})).find("comm_size: 0;"),
            std::string::npos);
}

// As an export leaves them that was killed after two of its four files.
TEST_F(ChakraTrace, ranks_and_groups_are_those_of_one_export) {
  const std::string rank = generated({compute(0, 1)});
  const std::string other = generated({compute(0, 2)});
  folder_.write("t.0.et", rank);
  folder_.write("t.1.et", rank);
  folder_.write("t.groups.json", "{}");
  const auto list = [&](const std::string& second, const std::string& groups) {
    folder_.write("t.files.json", to_json({{"t.0.et", checksum_of(rank)},
                                           {"t.1.et", checksum_of(second)},
                                           {"t.groups.json", checksum_of(groups)}}));
  };
  list(rank, "{}");
  EXPECT_TRUE(load_written(2).graph);
  list(other, "{}");
  EXPECT_NE(problem(load_written(2)).find("t.1.et: error: does not match t.files.json"),
            std::string::npos);
  list(rank, "{\"1\": [0]}");
  EXPECT_NE(problem(load_written(2)).find("t.groups.json: error: does not match t.files.json"),
            std::string::npos);
  folder_.write("t.files.json", "{");
  EXPECT_NE(problem(load_written(2)).find("t.files.json: error: damaged"), std::string::npos);
}

TEST_F(ChakraTrace, a_missing_rank_is_named) {
  folder_.write("t.0.et", generated({compute(0, 1)}));
  EXPECT_EQ(problem(load_written(2)).substr(0, 33), "t.1.et: error: no such file; on 2");
}

TEST_F(ChakraTrace, more_ranks_than_gpus_are_refused) {
  const std::string rank = generated({compute(0, 1)});
  folder_.write("t.2.et", rank);
  EXPECT_EQ(problem(load({rank, rank})),
            "t.2.et: error: the trace has more ranks than the cluster's 2 GPUs\n");
}

TEST_F(ChakraTrace, a_dependency_on_nothing_is_refused) {
  EXPECT_EQ(problem(load({generated({compute(0, 1), compute(3, 1, {9})})})),
            "t.0.et: error: node 3 'compute': data_deps: waits for node 9, which is not in this "
            "file\n");
}

TEST_F(ChakraTrace, a_truncated_file_is_refused_at_every_byte) {
  const std::string whole = generated({compute(0, 1), collective(1, kAllReduce, 8, {0})});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const LoadedTrace loaded = load({whole.substr(0, size)});
    // Behind a whole message the file is a shorter trace.
    if (!loaded.graph) {
      EXPECT_TRUE(loaded.problems.has_errors()) << size;
    }
  }
  EXPECT_NE(problem(load({whole.substr(0, whole.size() - 1)})).find("truncated?"),
            std::string::npos);
}

TEST_F(ChakraTrace, an_unknown_group_is_refused) {
  WrittenNode node = collective(0, kAllReduce, 8);
  node.attributes.push_back(text_attribute("pg_name", "7"));
  const std::string rank = generated({node});
  EXPECT_NE(problem(load({rank})).find("pg_name: process group '7': the trace lists no groups"),
            std::string::npos);
}

TEST_F(ChakraTrace, ranks_that_disagree_are_refused) {
  const std::string one = generated({collective(0, kAllReduce, 8)});
  EXPECT_EQ(problem(load({one, generated({collective(5, kAllReduce, 9)})})),
            "t.1.et: error: node 5 'coll': comm_size: 9 B, but node 0 'coll' of rank 0 has 8 B\n");
  EXPECT_EQ(problem(load({one, generated({collective(5, kAllGather, 4)})})),
            "t.1.et: error: node 5 'coll': comm_type: all_gather, but node 0 'coll' of rank 0 is "
            "all_reduce\n");
  EXPECT_EQ(
      problem(load({one, generated({compute(5, 9)})})),
      "t.0.et: error: node 0 'coll': collective: number 1 of group 'all' on rank 0, but rank 1 "
      "has only 0 of them; both must be recorded over the same steps\n");
  EXPECT_EQ(problem(load({generated({message(0, 5, 0, 1, 8)}), generated({compute(0, 1)})})),
            "t.0.et: error: node 0 'send': comm_dst: rank 1 never receives it (tag 0)\n");
}

TEST_F(ChakraTrace, circles_are_refused) {
  const LoadedTrace within = load({generated({compute(0, 1, {1}), compute(1, 1, {0})})});
  EXPECT_EQ(within.problems.all().size(), 2U) << within.problems.to_text();
  // Each rank comes to the other's first collective only after its own: they never meet.
  folder_.write("groups.json", R"({"a": [0, 1], "b": [0, 1]})");
  work_.groups = folder_.path("groups.json");
  const auto in_group = [](std::uint64_t id, const std::string& group,
                           std::vector<std::uint64_t> after) {
    WrittenNode node = collective(id, kAllReduce, 64, std::move(after));
    node.attributes.push_back(text_attribute("pg_name", group));
    return node;
  };
  const LoadedTrace across = load({generated({in_group(0, "a", {}), in_group(1, "b", {0})}),
                                   generated({in_group(0, "b", {}), in_group(1, "a", {0})})});
  EXPECT_FALSE(across.graph);
  EXPECT_EQ(across.problems.all().size(), 4U) << across.problems.to_text();
}

TEST_F(ChakraTrace, the_listing_of_problems_ends_somewhere) {
  std::vector<WrittenNode> nodes;
  for (std::uint64_t i = 0; i < 100; ++i) nodes.push_back(collective(i, kAllReduce, 0));
  const LoadedTrace loaded = load({generated(nodes)});
  EXPECT_EQ(loaded.problems.all().size(), TraceProblems::kListed + 1);
  EXPECT_NE(loaded.problems.to_text().find("100 problems; the first 25 are listed"),
            std::string::npos);
}

constexpr const char* kFeeder = R"({"workload_graph": [
  {"Id": 1, "Name": "a", "NodeType": 4, "ctrlDeps": [], "data_deps": [], "runtime": 5,
   "is_cpu_op": false},
  {"Id": 2, "Name": "b", "NodeType": 7, "ctrl_deps": [], "dataDeps": ["1"], "runtime": 5,
   "is_cpu_op": false, "comm_type": 0, "comm_size": 64}]})";
constexpr const char* kPrinted = R"({"version": "0.0.4"}
{"name": "a", "type": "COMP_NODE", "durationMicros": "5"}
{"id": "2", "name": "b", "type": "COMM_COLL_NODE", "dataDeps": ["0"],
 "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "comm_type", "int64Val": "0"},
          {"name": "comm_size", "uint64Val": "64"}]})";

TEST_F(ChakraTrace, both_forms_of_json_say_the_same) {
  for (const char* text : {kFeeder, kPrinted}) {
    folder_.write("t.0.json", text);
    folder_.write("t.1.json", text);
    const LoadedTrace loaded = load_written(2);
    ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
    ASSERT_EQ(loaded.graph->ops.size(), 3U);
    EXPECT_EQ(std::get<RecordedShape>(loaded.graph->ops[OpId(0)].shape).time, microseconds(5));
    EXPECT_EQ(call(loaded, 2).buffer, bytes(64));
    EXPECT_EQ(loaded.graph->ops[OpId(2)].after.size(), 2U);
  }
}

TEST_F(ChakraTrace, broken_json_is_refused) {
  folder_.write("t.0.json", "{\"workload_graph\": [{\"Id\": 1,");
  EXPECT_NE(problem(load_written(1)).find("not JSON"), std::string::npos);
}

// An empty message for each byte: 2.8 GB of nodes once.
TEST_F(ChakraTrace, a_file_of_zeros_is_read_no_further_than_its_mistakes_are_told) {
  TraceProblems problems("t");
  const ChakraFile file = read_chakra(std::string(5'000'000, '\0'), "t.0.et", problems);
  EXPECT_LE(file.nodes.size(), kChakraProblemsMost + 1);
  EXPECT_NE(problems.all().to_text().find("type: missing or unknown"), std::string::npos);
}

// 100,000 nodes of a few bytes: 200 MB until they are operators.
TEST_F(ChakraTrace, is_read_within_the_memory_that_it_may_take) {
  std::vector<WrittenNode> nodes;
  for (std::uint64_t id = 0; id < 100'000; ++id) nodes.push_back(compute(id, 1));
  folder_.write("t.0.et", generated(nodes));
  work_.path = folder_.path("t");
  EXPECT_TRUE(load_trace(work_, 1, bytes(400'000'000)).graph);
  const LoadedTrace loaded = load_trace(work_, 1, bytes(50'000'000));
  EXPECT_EQ(
      problem(loaded),
      "t.0.et: error: reading the trace up to here needs more memory than the 47 MiB that are "
      "allowed; a scenario allows more with run.max_memory\n");
}

TEST_F(ChakraTrace, a_tree_of_json_takes_no_more_than_it_may) {
  std::string lists = R"({"workload_graph": [[])";
  for (int i = 0; i < 1'000'000; ++i) lists += ",[]";
  TraceProblems problems("t", bytes(100'000'000));
  read_chakra(lists + "]}", "t.0.json", problems);
  EXPECT_NE(problems.all().to_text().find("more memory than the 95 MiB that are allowed"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::chakra_test
