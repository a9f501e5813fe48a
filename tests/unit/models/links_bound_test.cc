// What collectives have to send at least, by hand.
#include "sim/models/links_bound.h"

#include <gtest/gtest.h>

#include "sim/scenario/load.h"
#include "tests/unit/models/hand_made.h"

namespace weft::links_bound_test {
namespace {

// Two nodes of four GPUs, each with a link of 1 GB/s to each of the other three; two NICs of 1
// GB/s.
NetworkSpec network() {
  const Loaded loaded = load_scenario_text(
      "name: links\n"
      "cluster: {base: clusters/node_4x_mi210, scale_up: {link: {bandwidth: 1 GB/s}}}\n"
      "workload: {kind: collective, op: all_reduce, bytes: 1 MiB}\n",
      "links.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  NetworkSpec made;
  made.nodes = 2;
  made.gpus_per_node = 4;
  made.scale_up = loaded.scenario->cluster.scale_up;
  made.scale_up->link.engine_ratio = 1;
  made.nic.emplace();
  made.nic->per_node = 2;
  made.nic->bandwidth = Bandwidth::from_count(1'000'000'000);
  return made;
}

// 12 MB.
CommunicationShape collective(CollectiveOp op) {
  CommunicationShape call;
  call.op = op;
  call.buffer = bytes(12'000'000);
  return call;
}

double bound(const CommunicationShape& call, std::uint32_t first, std::uint32_t gpus) {
  HandMadeModel model;
  model.add("sent", "sent", call, model.groups(first, gpus, gpus), {});
  return links_bound_us(model.graph, network());
}

// Three of four blocks, 9 MB, on three links: 3 ms; a broadcast's 12 MB: 4 ms.
TEST(LinksBound, in_a_node_is_what_each_gpu_has_to_send_or_receive) {
  for (const CollectiveOp op : {CollectiveOp::all_to_all, CollectiveOp::all_gather,
                                CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    EXPECT_DOUBLE_EQ(bound(collective(op), 0, 4), 3000);
  }
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::broadcast), 0, 4), 4000);
}

// Sums and copies of four of eight blocks, 6 MB, pass the two NICs once: 3 ms. In an exchange each
// of the four GPUs has its own 6 MB: 12 ms.
TEST(LinksBound, between_nodes_is_what_each_node_has_to_send_or_receive) {
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::all_gather), 0, 8), 3000);
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::all_reduce), 0, 8), 3000);
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::broadcast), 0, 8), 6000);
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::all_to_all), 0, 8), 12000);
}

// 12 MB from GPU 3 to GPU 4, of the other node, by two NICs: 6 ms. To GPU 5 from 4: three links.
TEST(LinksBound, of_a_message_is_its_own_bytes) {
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::point_to_point), 3, 2), 6000);
  EXPECT_DOUBLE_EQ(bound(collective(CollectiveOp::point_to_point), 4, 2), 4000);
}

TEST(LinksBound, adds_up_what_all_collectives_send) {
  HandMadeModel model;
  const PlaceId node = model.groups(0, 4, 4);
  model.add("one", "sent", collective(CollectiveOp::all_reduce), node, {});
  model.add("other", "sent", collective(CollectiveOp::reduce_scatter), node, {}, 1);
  EXPECT_DOUBLE_EQ(links_bound_us(model.graph, network()), 6000);
}

TEST(LinksBound, leaves_out_what_may_be_sent_once_for_many) {
  CommunicationShape call = collective(CollectiveOp::all_to_all);
  call.turns = 2;
  EXPECT_EQ(bound(call, 0, 4), 0);
}

}  // namespace
}  // namespace weft::links_bound_test
