// Chakra traces whose nodes say in which of the model's blocks they are.
#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"

namespace weft::chakra_blocks_test {
namespace {

constexpr std::uint64_t kAllReduce = 0;

class ChakraBlocks : public ::testing::Test {
 protected:
  LoadedTrace load(const std::vector<std::string>& ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      folder_.write("t." + std::to_string(r) + ".et", ranks[r]);
    }
    TraceWork work;
    work.path = folder_.path("t");
    LoadedTrace loaded = load_trace(work, static_cast<int>(ranks.size()));
    if (loaded.graph) expect_round_trip(*loaded.graph, static_cast<int>(ranks.size()));
    return loaded;
  }
  // All messages, without the folder.
  std::string problem(const std::vector<std::string>& ranks) {
    const LoadedTrace loaded = load(ranks);
    EXPECT_FALSE(loaded.graph.has_value());
    std::string text = loaded.problems.to_text();
    const std::string folder = folder_.path("");
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

  TraceFolder folder_{"chakra_blocks"};
};

WrittenNode in_block(WrittenNode node, std::uint64_t block) {
  node.attributes.push_back(number_attribute("model_block", AttributeField::int64, block));
  return node;
}

WrittenNode on_stream(WrittenNode node, std::uint64_t stream) {
  node.attributes.push_back(number_attribute("stream", AttributeField::int64, stream));
  return node;
}

TEST_F(ChakraBlocks, blocks_are_of_all_and_in_order) {
  const auto first = in_block(compute(0, 5), 3);
  const auto sum = [&](std::uint64_t block) {
    return in_block(collective(1, kAllReduce, 64, {0}), block);
  };
  const std::string good = generated({first, sum(5)});
  const LoadedTrace loaded = load({good, good});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->blocks.size(), 2U);
  const std::string none = generated({first, collective(1, kAllReduce, 64, {0})});
  EXPECT_EQ(problem({good, none}),
            "t.1.et: error: node 1 'coll': model_block: missing, but others have one: either all "
            "have a block, or none\n");
  EXPECT_EQ(problem({good, generated({first, sum(6)})}),
            "t.1.et: error: node 1 'coll': model_block: 6, but node 1 'coll' of rank 0, with which "
            "it meets, is in 5: id and block must be the same\n");
  const std::string falls = generated({first, in_block(compute(2, 5), 2), sum(5)});
  EXPECT_NE(problem({good, falls})
                .find("model_block: 2, after id 0 of block 3: ids and blocks must rise"),
            std::string::npos);
}

constexpr const char* kMustRun =
    ": nodes with blocks must stand in an order in which they can run\n";

// Elsewhere B overtakes A (MergedRanks::out_of_order). In blocks A would stand first all the same,
// and what it waits for would be lost: there is no order of the stream in which it comes later.
TEST_F(ChakraBlocks, nodes_of_a_stream_stand_in_an_order_in_which_they_run) {
  const auto plain = generated({compute(0, 5, {1}), compute(1, 7)});
  const LoadedTrace loaded = load({plain});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& first = std::get<RecordedShape>(loaded.graph->ops[OpId(0)].shape);
  EXPECT_EQ(first.time, microseconds(7));
  EXPECT_EQ(problem({generated({in_block(compute(0, 5, {1}), 0), in_block(compute(1, 7), 0)})}),
            std::string("t.0.et: error: node 1 'compute': model_block: can run only before node 0 "
                        "'compute', which is ahead of it on its stream") +
                kMustRun);
}

// The same on two streams, where nothing is overtaken.
TEST_F(ChakraBlocks, a_node_waits_for_earlier_ones) {
  const auto rank = [](std::uint64_t us) {
    return generated(
        {in_block(on_stream(compute(0, 5, {1}), 0), 2), in_block(on_stream(compute(1, us), 1), 3)});
  };
  const auto wrong = [](const std::string& file) {
    return file +
           ": error: node 0 'compute': model_block: 2, waits for node 1 'compute' of block 3, "
           "which is later" +
           kMustRun;
  };
  EXPECT_EQ(problem({rank(7), rank(8)}), wrong("t.0.et") + wrong("t.1.et"));
}

// The first of those that meet has no block: only that is a problem, not that others have one.
TEST_F(ChakraBlocks, a_node_without_a_block_is_the_only_one_named) {
  EXPECT_EQ(problem({generated({collective(1, kAllReduce, 64)}),
                     generated({in_block(collective(1, kAllReduce, 64), 0)})}),
            "t.0.et: error: node 1 'coll': model_block: missing, but others have one: either all "
            "have a block, or none\n");
}

// A node that takes no time has no block, and its id may be any.
TEST_F(ChakraBlocks, a_node_of_no_time_may_have_any_id) {
  const std::uint64_t large = std::uint64_t{1} << 40U;
  const std::string rank = generated({in_block(compute(0, 5), 0), compute(large, 0)});
  const LoadedTrace loaded = load({rank});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->ops.size(), 1U);
  EXPECT_EQ(problem({generated({in_block(compute(large, 5), 0)})}),
            "t.0.et: error: node 1099511627776 'compute': model_block: id and block must be at "
            "most 4294967294\n");
}

// What ranks do at one place of the model is one operator only if it does the same on different
// GPUs and waits for the same.
TEST_F(ChakraBlocks, unlike_operators_of_a_place_stay_apart) {
  const auto operators = [&](const std::string& a, const std::string& b) {
    const LoadedTrace loaded = load({a, b});
    EXPECT_TRUE(loaded.graph) << loaded.problems.to_text();
    return loaded.graph ? loaded.graph->ops.size() : 0;
  };
  const auto rank = [](std::uint64_t us, const std::vector<std::uint64_t>& after) {
    return generated({in_block(on_stream(compute(0, 5), 1), 0),
                      in_block(on_stream(compute(1, us, after), 0), 0)});
  };
  EXPECT_EQ(operators(rank(7, {0}), rank(7, {0})), 2U);
  EXPECT_EQ(operators(rank(7, {0}), rank(8, {0})), 3U);  // does something else
  EXPECT_EQ(operators(rank(7, {0}), rank(7, {})), 3U);   // does not wait for stream 1
}

}  // namespace
}  // namespace weft::chakra_blocks_test
