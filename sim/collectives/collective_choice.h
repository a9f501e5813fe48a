// By which algorithm and protocol a collective is run, and over which ranks.
#pragma once

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
  bool operator==(const CollectiveChoice&) const = default;
};

// What the options say; where they leave it open, what the library is taken to choose, or the
// fastest of all: by trying (collective_trials.h). All-to-all and point to point are direct, and
// simple unless a protocol is given.
CollectiveChoice choose(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);

// What the library's own table has for this call: the row of the most nodes that are not more than
// the group's; null where it has none, is not asked, or the group is not of whole nodes.
const BetweenNodesSpec* row_between_nodes(const Cluster& cluster, const CollectiveCall& call,
                                          const RankGroup& group);

// All that choose() may come to, found without trying any.
std::vector<CollectiveChoice> possible_choices(const Cluster& cluster, const CollectiveCall& call,
                                               const RankGroup& group);

// A closed form (docs/model.md, "Which algorithm"), as the tuning tables of NCCL and RCCL are:
// latency of the steps + the longer of channels' and links' time. In seconds.
double predicted_time(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                      CollectiveChoice choice);

// "ring, simple".
std::string text_of(CollectiveChoice choice);

// What an algorithm has to know of a call. It looks into the call's pair_bytes.
PlanRequest plan_request(const Cluster& cluster, const CollectiveCall& call,
                         const RankGroup& group);
// The same as the algorithm's own answers (sim/plans/algorithm.h).
std::vector<Plan> plans_of(const Cluster& cluster, const CollectiveCall& call,
                           const RankGroup& group, Algorithm algorithm);
PlanCounts count_plans(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                       Algorithm algorithm);
// Whether it does such a collective at all, and for these ranks.
bool is_possible(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                 Algorithm algorithm);

// All is there in one step, nobody waits for anybody.
bool is_exchange(CollectiveOp op, Algorithm algorithm);

// Channels that a call gets: as many as it is given and as fit on the CUs.
std::uint32_t channels_of(const Cluster& cluster, const CollectiveCall& call);

// A kernel is as late as its last channel. Of channels that start at any moment of `spread`, each
// as likely, the first of one is there after half of it, the last of many at its end: more by
// spread (1 - 1/channels), in which the half of one is left to `startup`.
Duration startup_of(const CollectiveSpec& library, Duration startup, std::int64_t channels);

// Where the library's channels are divided among the peers of an all-to-all (GpuSpec,
// PeerPartSpec): their number is a power of two, and each peer's part, of `size` bytes, is cut into
// so many.
bool has_peer_parts(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group);
std::uint32_t peer_channels(const Cluster& cluster, const CollectiveCall& call);
std::int64_t parts_of_peer(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
                           std::int64_t size);

// Below 4 KiB of payload a message's latency outweighs its bytes: an exchange is not cut further.
constexpr std::int64_t kLeastPiece = 4096;
constexpr std::int64_t kMostOfMessage = std::int64_t{1} << 29U;  // sizes have 32 bits, LL doubles

// How a part of a buffer of `total` bytes is cut: `pieces` of `size`, the last one shorter.
struct Pieces {
  std::int64_t size = 1;
  std::int64_t pieces = 1;
  [[nodiscard]] std::int64_t bytes_of(std::int64_t piece, std::int64_t total) const {
    return piece + 1 < pieces ? size : total - piece * size;
  }
};
// Of an exchange: what one rank has for one of `peers`.
std::int64_t exchanged_bytes(const CollectiveCall& call, std::int64_t ranks, Algorithm algorithm);
Pieces cut_for_peer(std::int64_t total, std::int64_t peers, std::int64_t channels, Bytes chunk);
// Where what arrives is added up: parts of a piece, for channels that have none else.
std::int64_t parts_of_sum(std::int64_t channels, const Pieces& pieces, std::int64_t size);

// Of a plan of several steps: `channels` parts of the buffer, each moved in `chunks` turns.
struct Division {
  std::uint32_t channels = 1;
  std::int64_t chunks = 1;  // a multiple of the slices
  std::int64_t slices = 1;  // of a turn: sent one behind the other, each taken in when it is there
  double posted = 0;        // messages that the busiest GPU has posted at its NIC, about
};
// Of an all-reduce by the nodes' switches and trees between them: pieces that a channel has.
std::int64_t in_switch_tree_turns(const Cluster& cluster, const CollectiveCall& call,
                                  const RankGroup& group);
Division divide(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                const PlanCounts& plans, CollectiveChoice choice);

}  // namespace weft
