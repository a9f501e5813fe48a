// By what a part of a model is known before it is lowered.
#include "sim/models/piece_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

#include "sim/engine/run_key.h"
#include "sim/models/sustained_run.h"
#include "tests/unit/models/built.h"
#include "tests/unit/models/hand_made.h"

namespace weft::piece_key_test {
namespace {

Cluster cluster_of(int nodes) {
  const std::string data = std::to_string(nodes);
  const std::string workload = "{base: models/llama3_8b, phase: prefill, sequences: " + data +
                               ", sequence_length: 512, microbatch: 1, "
                               "parallel: {tensor: 8, data: " +
                               data + "}}";
  return build_cluster(models_testing::scenario_of(workload, nodes).cluster);
}

// An operator of each shape, with all that it may have, and how they are lowered.
struct Part {
  HandMadeModel model;
  std::vector<Fusion> fusions = std::vector<Fusion>(1);
  std::vector<PairWay> ways = std::vector<PairWay>(1);
  std::vector<OpId> exits = {OpId(1)};
  OverlapOptions options;
  Mode mode = Mode::mixed;
  RunOptions limits;
  DigestValue machine;
  Cluster cluster = cluster_of(1);

  Part() {
    const PlaceId place = model.groups(0, 8, 4);
    model.add("product", "mlp", product(1, 2, 3), place, {});
    model.add("attention", "attention", AttentionShape{}, place, {OpId(0)});
    CommunicationShape sum;
    sum.puts = PutRows{};
    sum.puts->reached = Reached{};
    model.add("sum", "all_reduce", sum, place, {OpId(1)}, 1);
    model.add("lookup", "embedding", EmbeddingShape{}, place, {});
    model.add("norm", "norm", StreamShape{}, place, {});
    RecordedShape recorded;
    recorded.work = RecordedWork{};
    recorded.work->gemm = RecordedGemm{};
    recorded.work->attention = RecordedAttention{};
    model.add("recorded", "mlp", recorded, place, {});
    op(4).beside = PostedReceive{};
  }
  ModelOp& op(std::uint32_t number) { return model.graph.ops[OpId(number)]; }
  template <class Shape>
  Shape& shape(std::uint32_t number) {
    return std::get<Shape>(op(number).shape);
  }
  [[nodiscard]] DigestValue key() const {
    const auto key = piece_key(machine, model.graph,
                               {.options = options,
                                .cluster = cluster,
                                .mode = mode,
                                .fusions = fusions,
                                .ways = ways,
                                .exits = exits},
                               limits);
    EXPECT_TRUE(key);
    return key.value_or(DigestValue{});
  }
};

TEST(PieceKey, is_that_of_the_same_part_made_again) { EXPECT_EQ(Part().key(), Part().key()); }

TEST(PieceKey, has_members_of_each_part) {
  using Change = std::function<void(Part&)>;
  const std::vector<Change> changes = {
      [](Part& part) { part.machine.high = 1; },
      [](Part& part) { part.mode = Mode::fused; },
      [](Part& part) { part.fusions[0].pattern = WorkloadKind::all_gather_gemm; },
      [](Part& part) { part.limits.max_time = picoseconds(5); },
      [](Part& part) { part.exits.emplace_back(2U); },
      [](Part& part) { part.fusions[0].scatters = true; },
      [](Part& part) { part.fusions[0].through = OpId(1); },
      [](Part& part) { part.ways[0].mode = Mode::kernel; },
      [](Part& part) { part.ways[0].options.fused.slice_wgs = 3; },
      [](Part& part) { part.options.fused.add = FusedAdd::with_own; },
      [](Part& part) { part.options.fused.add_load = bytes(1); },
      [](Part& part) { part.options.kernel.chunks = 9; },
      [](Part& part) { part.options.seed = 9; },
      [](Part& part) { part.options.launch = LaunchKind::host; },
      [](Part& part) { part.options.collective.algorithm.named = Algorithm{}; },
      [](Part& part) { part.options.collective.channels = 2; },
      [](Part& part) { part.op(0).name = "other"; },
      [](Part& part) { part.op(0).stream = 2; },
      [](Part& part) { part.op(3).after = {OpId(0)}; },
      [](Part& part) { part.op(4).beside->size = bytes(1); },
      [](Part& part) { part.model.groups(0, 8, 2); },
      [](Part& part) {
        part.shape<GemmShape>(0).m_of_each = {1, 2};
      },
      [](Part& part) { part.shape<GemmShape>(0).sums = Fp8Sums::in_fp32; },
      [](Part& part) { part.shape<AttentionShape>(1).window = 7; },
      [](Part& part) { part.shape<CommunicationShape>(2).pair_bytes = {1}; },
      [](Part& part) { part.shape<CommunicationShape>(2).puts->reached->nodes = {1}; },
      [](Part& part) { part.shape<CommunicationShape>(2).puts->experts = 8; },
      [](Part& part) { part.shape<CommunicationShape>(2).puts->at_once = 8; },
      [](Part& part) { part.shape<CommunicationShape>(2).puts.reset(); },
      [](Part& part) { part.shape<CommunicationShape>(2).own = CollectiveOptions{}; },
      [](Part& part) { part.shape<EmbeddingShape>(3).work.zipf = 1e-9; },
      [](Part& part) { part.shape<EmbeddingShape>(3).work.wg.threads = 1; },
      [](Part& part) { part.shape<StreamShape>(4).most_wgs = 1; },
      [](Part& part) {
        part.shape<RecordedShape>(5).by_rank = {{.time = picoseconds(1), .wgs = 1}};
      },
      [](Part& part) {
        part.shape<RecordedShape>(5).by_rank = {{.time = picoseconds(1), .wgs = 2}};
      },
      [](Part& part) {
        part.shape<RecordedShape>(5).by_rank = {
            {.time = picoseconds(1), .wgs = 1, .work = RecordedWork{}}};
      },
      [](Part& part) { part.shape<RecordedShape>(5).work->gemm->split_k = 2; },
      [](Part& part) { part.shape<RecordedShape>(5).work->attention->causal = true; },
  };
  std::set<DigestValue> keys{Part().key()};
  for (const Change& change : changes) {
    Part part;
    change(part);
    EXPECT_TRUE(keys.insert(part.key()).second) << keys.size();
  }
}

// Rules of pairs of which none fits, and the block that it was cut from.
TEST(PieceKey, leaves_out_what_no_lowering_depends_on) {
  Part part;
  part.op(0).layer_rules = 3;
  part.op(0).block = BlockId(7);
  part.limits.cores = 9;
  EXPECT_EQ(part.key(), Part().key());
}

TEST(PieceKey, is_none_of_a_kernel_that_a_scenario_describes) {
  Part part;
  part.op(0).described = DescribedKernel{.kind = &operators::gemm};
  const Cluster cluster = cluster_of(1);
  EXPECT_FALSE(piece_key({}, part.model.graph, {.options = {}, .cluster = cluster}, RunOptions{}));
}

// Representatives of four nodes are not four nodes, nor a node at a lower clock one at its own.
TEST(MachineKey, has_what_a_cluster_stands_for_and_what_chooses_its_collectives) {
  const Cluster four = cluster_of(4);
  const Cluster eight = cluster_of(8);
  std::set<DigestValue> keys{machine_key(four), machine_key(eight)};
  Cluster stands = four;
  stands.whole = &eight;
  stands.representatives = {.all = 8, .kept = 4, .gpus_per_node = 8};
  keys.insert(machine_key(stands));
  stands.representatives.all = 16;
  keys.insert(machine_key(stands));
  Cluster slow = four;
  GpuSpec full = four.spec.gpu;
  full.memory.latency += picoseconds(1);
  slow.gpu_of_choices = &full;
  keys.insert(machine_key(slow));
  keys.insert(machine_key(four, machine_key(four)));
  EXPECT_EQ(keys.size(), 6U);
  EXPECT_EQ(machine_key(four), machine_key(build_cluster(four.spec)));
}

}  // namespace
}  // namespace weft::piece_key_test
