// Graphs in files: what is written reads back the same; what makes no sense is said, all at once.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "sim/models/build_model.h"
#include "sim/scenario/load.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/graph/load_graph.h"
#include "sim/traces/import_text.h"
#include "tests/unit/traces/graph_round_trip.h"

namespace weft::graph_test {
namespace {

std::string problems_of(const std::string& operators, int gpus = 4) {
  return load_graph_text(
             "gpus: 4\nplaces:\n  - {name: pairs, groups: [[0, 1], [2, 3]]}\n"
             "operators:\n" +
                 operators,
             gpus)
      .problems.to_text();
}

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, are_the_same_when_read_from_the_file_they_are_written_to) {
  const std::filesystem::path configs = WEFT_SOURCE_DIR "/configs";
  const Loaded loaded =
      load_scenario(configs / "scenarios" / "models" / (std::string(GetParam()) + ".yaml"),
                    {.sets = {}, .config_dirs = {configs}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  expect_round_trip(build_model(*loaded.scenario), loaded.scenario->cluster.gpus());
}

// Tensor parallelism; a pipeline of several stages, with blocks of one name; experts, some with
// more tokens than others, sent by the library, put row by row, and forwarded once a node.
INSTANTIATE_TEST_SUITE_P(Shipped, Models,
                         ::testing::Values("llama3_70b_decode", "llama3_70b_training",
                                           "mixtral_decode", "deepseek_v3_put_h800",
                                           "deepseek_v3_once_h800"));

// Sends in turns begin when both ends are ready, which the file has to say.
TEST(Graph, keeps_that_sends_meet) {
  const std::filesystem::path configs = WEFT_SOURCE_DIR "/configs";
  const Loaded loaded = load_scenario(
      configs / "scenarios" / "models" / "llama3_70b_training.yaml",
      {.sets = {"workload.parallel.schedule=interleaved", "workload.parallel.virtual_stages=2",
                "workload.parallel.sends=in_turns", "workload.sequences=16"},
       .config_dirs = {configs}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const ModelGraph graph = build_model(*loaded.scenario);
  const bool any = std::any_of(graph.ops.begin(), graph.ops.end(), [](const ModelOp& op) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    return call != nullptr && call->meets;
  });
  EXPECT_TRUE(any);
  expect_round_trip(graph, loaded.scenario->cluster.gpus());
}

ModelOp op_of(const char* name, const char* part, OpShape shape, PlaceId place) {
  ModelOp op;
  op.name = name;
  op.part = part;
  op.shape = std::move(shape);
  op.place = place;
  return op;
}

CommunicationShape call_of(CollectiveOp op, std::int64_t size) {
  CommunicationShape call;
  call.op = op;
  call.buffer = bytes(size);
  return call;
}

RecordedShape recorded_gemm() {
  RecordedShape kernel;
  kernel.time = picoseconds(12'345'678);
  kernel.wgs = 77;
  kernel.threads = 128;
  kernel.registers_per_thread = 40;
  kernel.lds = bytes(513);
  kernel.work = RecordedWork{.kind = RecordedKind::gemm,
                             .flops = flops(123'456'789),
                             .read = bytes(1'001),
                             .written = bytes(2'002),
                             .element_bytes = 1,
                             .matrix = true};
  kernel.work->gemm =
      RecordedGemm{.m = 8, .n = 9, .k = 10, .batch = 2, .tile_m = 64, .tile_n = 32, .split_k = 3};
  return kernel;
}

TEST(Graph, keeps_all_that_a_recording_says) {
  ModelGraph graph;
  const PlaceId one = graph.add_place({.groups = {{1}}});
  const PlaceId both = graph.add_place({.groups = {{1, 0}}});
  RecordedShape kernel = recorded_gemm();
  const OpId first = graph.add(op_of("a \"kernel\"", "compute", kernel, one));
  kernel.work = RecordedWork{.kind = RecordedKind::embedding, .rows = 5};
  kernel.beside = true;
  ModelOp second = op_of("a \"kernel\"", "recorded", kernel, one);
  second.stream = 3;
  second.after = {first};
  graph.add(second);
  CommunicationShape call = call_of(CollectiveOp::all_to_all, 64);
  call.pair_bytes = {0, 7, 64, 0};
  graph.add(op_of("call", "all_to_all", call, both));
  call = call_of(CollectiveOp::point_to_point, 9);
  call.root = 1;
  call.target = 0;
  graph.add(op_of("send", "p2p", call, both));
  expect_round_trip(graph, 2);
}

// What no operator says: without it nobody would be told that the GPU is another one, or idle.
TEST(Graph, keeps_what_is_known_of_the_recording) {
  ModelGraph graph;
  const PlaceId one = graph.add_place({.groups = {{0}}});
  graph.add(op_of("gemm", "gemm", recorded_gemm(), one));
  RecordedRun recording{.device = {.name = "NVIDIA H100 80GB HBM3", .cus = 132},
                        .step = RecordedStep{.time = picoseconds(12'345'678'901),
                                             .idle = microseconds(30),
                                             .unlaunched = microseconds(20)}};
  for (const GraphText form : {GraphText::yaml, GraphText::json}) {
    for (const bool host : {false, true}) {
      RecordedShape shape = recorded_gemm();
      shape.host = host;
      graph.ops[OpId(0)].shape = shape;
      const LoadedTrace again = load_graph_text(import_text(graph, 1, form, recording), 1);
      ASSERT_TRUE(again.graph) << again.problems.to_text();
      EXPECT_EQ(again.summary.device.name, "NVIDIA H100 80GB HBM3");
      EXPECT_EQ(again.summary.device.cus, 132);
      ASSERT_TRUE(again.summary.step);
      EXPECT_EQ(again.summary.step->time, recording.step->time);
      EXPECT_EQ(again.summary.step->unlaunched, recording.step->unlaunched);
      EXPECT_EQ(again.summary.step->with_host, host);
    }
  }
  const LoadedTrace wrong = load_graph_text(
      "gpus: 1\nrecording: {step: 1 us, idle: 2 us, unlaunched: 3 us}\n"
      "operators:\n  - {name: a, gpus: [0], recorded: {time: 1 us}}\n",
      1);
  EXPECT_NE(wrong.problems.to_text().find("recording.idle: longer than step"), std::string::npos)
      << wrong.problems.to_text();
  EXPECT_NE(wrong.problems.to_text().find("recording.unlaunched: longer than idle"),
            std::string::npos);
  const LoadedTrace lacking = load_graph_text(
      "gpus: 1\nrecording: {idle: 2 us}\n"
      "operators:\n  - {name: a, gpus: [0], recorded: {time: 1 us}}\n",
      1);
  EXPECT_NE(lacking.problems.to_text().find("recording.idle: needs step"), std::string::npos)
      << lacking.problems.to_text();
}

TEST(Graph, keeps_the_cus_of_a_gpu_without_a_name) {
  ModelGraph graph;
  const PlaceId one = graph.add_place({.groups = {{0}}});
  graph.add(op_of("gemm", "gemm", recorded_gemm(), one));
  const RecordedRun recording{.device = {.name = "", .cus = 132}};
  const LoadedTrace again = load_graph_text(import_text(graph, 1, GraphText::yaml, recording), 1);
  ASSERT_TRUE(again.graph) << again.problems.to_text();
  EXPECT_EQ(again.summary.device.cus, 132);
}

// The warning of an export to Chakra says that a graph keeps it.
TEST(Graph, keeps_receives_that_wait_beside_what_computes) {
  ModelGraph graph;
  const PlaceId one = graph.add_place({.groups = {{0}}});
  ModelOp op = op_of("gemm", "gemm", recorded_gemm(), one);
  op.beside = PostedReceive{.size = bytes(500), .between_nodes = true};
  graph.add(op);
  expect_round_trip(graph, 1);
}

TEST(Graph, is_written_with_units_and_words) {
  ModelGraph graph;
  const PlaceId place = graph.add_place({.groups = {{0, 1}}});
  GemmShape gemm;
  gemm.m = 4'096;
  gemm.n = 512;
  gemm.k = 64;
  const OpId up = graph.add(op_of("up", "gemm", gemm, place));
  ModelOp sum = op_of("sum", "all_reduce", call_of(CollectiveOp::all_reduce, 4 << 20), place);
  sum.stream = 1;
  sum.after = {up};
  graph.add(sum);
  const std::string text = import_text(graph, 2, GraphText::yaml);
  EXPECT_NE(text.find("gpus: 2\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("  - {name: \"up\", gpus: [0, 1], gemm: {m: 4096, n: 512, k: 64, dtype: bf16}}\n"
                "  - {name: \"sum\", gpus: [0, 1], stream: 1, after: [\"up\"], collective: "
                "{op: all_reduce, bytes: 4 MiB}}\n"),
      std::string::npos)
      << text;
}

TEST(Graph, says_all_mistakes_at_once_and_where) {
  const std::string problems = problems_of(
      "  - {name: a, gpus: [0], recorded: {time: 12}}\n"
      "  - {name: b, gpus: [0, 0], gemm: {m: 1, n: 1, kk: 1}}\n"
      "  - {name: c, gpus: [9], memory: {}}\n"
      "  - {name: d, gpus: [0], place: pairs, memory: {}}\n"
      "  - {name: e, place: pear, memory: {}}\n"
      "  - {name: f, gpus: [0], memory: {}, gemm: {m: 1, n: 1, k: 1}}\n"
      "  - {name: g, gpus: [0], stream: 1, collective: {op: all_reduce, bytes: 1 MiB}}\n"
      "  - {name: h, gpus: [1, 2], collective: {op: broadcast, bytes: 1 MiB, target: 1}}\n");
  for (const char* said :
       {"graph.yaml:5:43: error: operators[0].recorded.time: missing unit",
        "operators[1].gpus: GPU 0 is listed twice", "operators[1].gemm.kk: unknown key",
        "operators[2].gpus: there is no GPU 9; the last is 3",
        "operators[3].gpus: an operator has either gpus or a place",
        "operators[4].place: there is no place 'pear'", "operators[5]: an operator has one of",
        "operators[6]: a collective has groups of two GPUs or more",
        "operators[7].collective.target: only for op: point_to_point"}) {
    EXPECT_NE(problems.find(said), std::string::npos) << said << '\n' << problems;
  }
}

TEST(Graph, is_for_so_many_gpus) {
  EXPECT_NE(problems_of("  - {name: a, gpus: [0], memory: {}}\n", 8)
                .find("gpus: the graph is for 4 GPUs, but it is to run on 8"),
            std::string::npos);
}

// What stands after an operator, or on other GPUs, it cannot wait for.
TEST(Graph, waits_for_earlier_operators_of_the_same_gpus) {
  const std::string start =
      "  - {name: a, gpus: [0], memory: {}}\n  - {name: a, gpus: [0], memory: {}}\n"
      "  - {id: 7, name: b, gpus: [1], memory: {}}\n";
  const auto after = [&](const std::string& words) {
    return problems_of(start + "  - {name: c, gpus: [0, 1], after: [" + words +
                       "], memory: {}}\n  - {name: d, gpus: [2], memory: {}}\n"
                       "  - {name: last, gpus: [2], memory: {}}\n");
  };
  EXPECT_EQ(after("7"), "");
  EXPECT_EQ(after("b"), "");
  EXPECT_NE(after("a").find("2 operators are called 'a'"), std::string::npos);
  EXPECT_NE(after("d").find("'d' does not stand before this operator"), std::string::npos);
  EXPECT_NE(after("lost").find("there is no operator with the id or name 'lost'; did you mean "
                               "'last'?"),
            std::string::npos);
  EXPECT_NE(problems_of(start + "  - {name: c, gpus: [3], after: [b], memory: {}}\n")
                .find("'b' runs on none of this operator's GPUs"),
            std::string::npos);
}

TEST(Graph, has_blocks_that_stand_together_or_none) {
  const auto with = [](const char* first, const char* second, const char* third) {
    std::string text;
    for (const char* block : {first, second, third}) {
      text += "  - {name: a, gpus: [0], memory: {}" + std::string(block) + "}\n";
    }
    return problems_of(text);
  };
  EXPECT_EQ(with(", block: x", ", block: x", ", block: y"), "");
  EXPECT_NE(with(", block: x", ", block: y", ", block: x").find("do not stand together"),
            std::string::npos);
  EXPECT_NE(with(", block: x", "", "").find("either all operators of a graph have a block"),
            std::string::npos);
}

TEST(Graph, has_shapes_that_make_sense) {
  const auto of = [](const std::string& shape) {
    return problems_of("  - {name: a, place: pairs, " + shape + "}\n");
  };
  EXPECT_EQ(of("collective: {op: all_to_all, bytes: 4 B, matrix: [[0 B, 4 B], [2 B, 0 B]]}"), "");
  EXPECT_NE(of("collective: {op: all_to_all, bytes: 4 B, matrix: [[0 B, 4 B]]}").find("a square"),
            std::string::npos);
  EXPECT_NE(of("collective: {op: all_to_all, bytes: 4 B, matrix: [[4 B]]}").find("for 1 ranks"),
            std::string::npos);
  EXPECT_NE(
      of("collective: {op: broadcast, bytes: 4 B, root: 2}").find("no rank 2 in a group of 2"),
      std::string::npos);
  EXPECT_NE(of("gemm: {m: 1, n: 8, k: 8, m_by_rank: [1, 2, 3]}").find("for 3 ranks"),
            std::string::npos);
  EXPECT_NE(of("gemm: {m: 1000000000, n: 1000000000, k: 8}").find("more than 64 TiB"),
            std::string::npos);
  EXPECT_NE(of("attention: {heads: 8, kv_heads: 3, head_dim: 64, value_head_dim: 64, queries: 64, "
               "keys: 64}")
                .find("do not divide among 3"),
            std::string::npos);
}

TEST(Graph, sends_rows_once_to_each_node_as_the_matrix_says) {
  const auto of = [](const std::string& puts) {
    return problems_of(
        "  - {name: a, place: pairs, collective: {op: all_to_all, bytes: 8 B, row: 4 B, matrix: "
        "[[0 B, 8 B], [4 B, 0 B]], puts: {made_from: 4 B, " +
        puts + "}}}\n");
  };
  EXPECT_EQ(of("once: {gpus_per_node: 1, to_nodes: [[0, 2], [1, 0]]}"), "");
  EXPECT_EQ(of("once: {gpus_per_node: 2, to_nodes: [[2], [1]]}"), "");
  EXPECT_NE(of("home: true").find("puts.home: requires once"), std::string::npos);
  EXPECT_NE(of("once: {gpus_per_node: 3, to_nodes: [[2], [1]]}").find("2 ranks are not a number"),
            std::string::npos);
  EXPECT_NE(of("once: {gpus_per_node: 1, to_nodes: [[2], [1]]}").find("must have 2 rows"),
            std::string::npos);
  EXPECT_NE(of("once: {gpus_per_node: 2, to_nodes: [[3], [1]]}")
                .find("rank 0 sends 3 rows to node 0, but by the matrix 2 to 2"),
            std::string::npos);
}

// Of whole models and traces, not of single operators.
TEST(Graph, has_no_keys_for_embeddings) {
  const std::filesystem::path configs = WEFT_SOURCE_DIR "/configs";
  const Loaded loaded = load_scenario(configs / "scenarios" / "models" / "dlrm_128_nodes.yaml",
                                      {.sets = {}, .config_dirs = {configs}});
  ASSERT_TRUE(loaded.scenario);
  EXPECT_NE(obstacle_to_writing(build_model(*loaded.scenario)).find("looks up embeddings"),
            std::string::npos);
}

TEST(Graph, has_no_key_that_its_documentation_leaves_out) {
  std::stringstream text;
  text << std::ifstream(WEFT_SOURCE_DIR "/docs/traces.md").rdbuf();
  const std::string page = text.str();
  for (const KeyDoc& key : describe_graph()) {
    const std::string name = key.path.substr(key.path.rfind('.') + 1);
    EXPECT_NE(page.find('`' + name + '`'), std::string::npos) << key.path;
  }
}

}  // namespace
}  // namespace weft::graph_test
