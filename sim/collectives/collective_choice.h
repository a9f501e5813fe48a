// Which algorithm and protocol a collective is run by, and over which ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/core/round_up.h"
#include "sim/plans/algorithm.h"

namespace weft {

struct CollectiveChoice {
  Algorithm algorithm = Algorithm::direct;
  Protocol protocol = Protocol::simple;
  bool of_engine = false;  // an inference engine's kernel, which has no protocol
  bool operator==(const CollectiveChoice&) const = default;
};

// By what the switch's work is described: the library's numbers, or the engine's.
inline const std::optional<InSwitchSpec>& in_switch_of(const CollectiveSpec& gpu, bool of_engine) {
  return of_engine ? gpu.engine->in_switch : gpu.in_switch;
}

// What the options name; where they leave it open, what the library is assumed to choose, or the
// fastest of all, found by trying (collective_trials.h). All-to-all and point to point are direct,
// and simple unless a protocol is given.
CollectiveChoice choose(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);

// The row of the library's own table for this call: the one with the most nodes, up to the group's;
// null where there is none, where another choice is asked for, or where the group is not of whole
// nodes.
const BetweenNodesSpec* row_between_nodes(const Cluster& cluster, const CollectiveCall& call,
                                          const RankGroup& group);

// All choices that choose() may return, found without trying any.
std::vector<CollectiveChoice> possible_choices(const Cluster& cluster, const CollectiveCall& call,
                                               const RankGroup& group);

// A closed form (docs/model.md, "Which algorithm"), like the tuning tables of NCCL and RCCL:
// latency of the steps + the longer of channels' and links' time. In seconds.
double predicted_time(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                      CollectiveChoice choice);

// Whether the call is one between nodes by rings that no rank differs in, whatever choose() takes,
// found without trying any: the first ranks can stand for all (CollectiveCall::turns).
bool goes_in_turns(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);
// Whether blocks of all chunks of such a call have as many bytes, so that the first ranks do
// exactly what all do.
bool has_equal_blocks(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);

// "ring, simple".
std::string text_of(CollectiveChoice choice);

// What an algorithm has to know of a call. It refers to the call's pair_bytes.
PlanRequest plan_request(const Cluster& cluster, const CollectiveCall& call,
                         const RankGroup& group);
// The algorithm's answers to that request (sim/plans/algorithm.h).
std::vector<Plan> plans_of(const Cluster& cluster, const CollectiveCall& call,
                           const RankGroup& group, Algorithm algorithm);
PlanCounts count_plans(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                       Algorithm algorithm);
// Whether the algorithm can do this collective at all, and for these ranks.
bool is_possible(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                 Algorithm algorithm);

// Whether all data moves in one step, in which nobody waits for anybody.
bool is_exchange(CollectiveOp op, Algorithm algorithm);

// Channels that a call gets: as many as it asks for, or as fit on its CUs.
std::uint32_t channels_of(const Cluster& cluster, const CollectiveCall& call);

// A kernel is as late as its last channel, and channels do not start all at once: the last of many
// starts spread (1 - 1/channels) later than a single one, whose time is `startup`.
Duration startup_of(const CollectiveSpec& library, Duration startup, std::int64_t channels);
// That of a protocol: two ranks of a node have one neighbour to agree with.
Duration startup_of(const CollectiveSpec& library, const ProtocolSpec& protocol,
                    const RankGroup& group, std::int64_t channels);

// Whether the library's channels are divided among the peers of an all-to-all (PeerPartSpec); the
// number of channels then, a power of two; and the number of parts into which the `size` bytes for
// a peer are cut.
bool has_peer_parts(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);
std::uint32_t peer_channels(const Cluster& cluster, const CollectiveCall& call);
std::int64_t parts_of_peer(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
                           std::int64_t size);

// Below 4 KiB of payload a message's latency outweighs its bytes: an exchange is not cut further.
constexpr std::int64_t kLeastPiece = 4096;
// Sizes have 32 bits, and `ll` doubles them.
constexpr std::int64_t kMostOfMessage = std::int64_t{1} << 29U;

// How a part of a buffer of `total` bytes is cut: `pieces` of `size`, the last one shorter.
struct Pieces {
  std::int64_t size = 1;
  std::int64_t pieces = 1;
  [[nodiscard]] std::int64_t bytes_of(std::int64_t piece, std::int64_t total) const {
    return piece + 1 < pieces ? size : total - piece * size;
  }
};
// In an exchange: what one rank has for one peer, and how it is cut.
std::int64_t exchanged_bytes(const CollectiveCall& call, std::int64_t ranks, Algorithm algorithm);
Pieces cut_for_peer(std::int64_t total, std::int64_t peers, std::int64_t channels, Bytes chunk);
// Where what arrives is added up: into how many parts a piece is cut, so that no channel is idle.
std::int64_t parts_of_sum(std::int64_t channels, const Pieces& pieces, std::int64_t size);

// How a plan of several steps is cut: `channels` parts of the buffer, each moved in `chunks`
// chunks.
struct Division {
  std::uint32_t channels = 1;
  std::int64_t chunks = 1;  // a multiple of the slices
  std::int64_t slices = 1;  // chunks of a turn: sent back to back, each received when it arrives
  double posted = 0;        // about how many messages are posted for the busiest GPU at its NIC
};
// For an all-reduce by the nodes' switches and trees between them: pieces per channel.
std::int64_t in_switch_tree_turns(const Cluster& cluster, const CollectiveCall& call,
                                  const RankGroup& group);
Division divide(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                const PlanCounts& plans, CollectiveChoice choice);

}  // namespace weft
