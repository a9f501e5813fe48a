// How a call's buffer is cut: pieces of an exchange, channels and chunks of a plan of several
// steps.

#include <algorithm>
#include <cmath>

#include "sim/collectives/collective_choice.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// The time of a CPU thread to post this many.
double posting(const Cluster& cluster, double messages) {
  return messages > 0 ? messages * to_seconds(cluster.spec.nic->proxy_operation) : 0;
}

double copying(const Cluster& cluster, double size) {
  return size / to_bytes_per_second(cluster.spec.gpu.collective.channel_rate);
}

// More channels share the copying but make more messages to post: the number of channels that
// minimises copying / channels + posting x channels.
std::int64_t channels_that_pay(double copying, double posting, std::int64_t most) {
  if (posting == 0) return most;
  return std::clamp<std::int64_t>(std::llround(std::sqrt(copying / posting)), 1, most);
}

// A plan that moves every chunk through all steps, or through phases over different links, is a
// pipeline. Filling it takes steps x the copying of a chunk at one of them; then copying or posting
// sets its pace. Where nothing is posted, filling it takes a sixteenth of the time.
std::int64_t chunks_of_pipeline(double copying, double at_a_step, double posting,
                                const PlanCounts& plans) {
  constexpr double kFillings = 16;
  const auto steps = static_cast<double>(plans.steps);
  double chunks = kFillings * steps;
  if (posting > 0) {
    const double pays = std::max(copying / posting, std::sqrt(steps * at_a_step / posting));
    chunks = std::min(chunks, pays);
  }
  return std::llround(std::max(chunks, 1.0));
}

}  // namespace

std::int64_t exchanged_bytes(const CollectiveCall& call, std::int64_t ranks, Algorithm algorithm) {
  if (!call.pair_bytes.empty()) {
    return std::max<std::int64_t>(*std::max_element(call.pair_bytes.begin(), call.pair_bytes.end()),
                                  1);
  }
  const bool whole = spec_of(algorithm).sends_whole || call.op == CollectiveOp::broadcast ||
                     call.op == CollectiveOp::point_to_point;
  return std::max<std::int64_t>(whole ? call.buffer.count() : round_up(call.buffer.count(), ranks),
                                1);
}

Pieces cut_for_peer(std::int64_t total, std::int64_t peers, std::int64_t channels, Bytes chunk) {
  __extension__ using Wide = __int128;
  const std::int64_t least = round_up(total, std::min(chunk.count(), kMostOfMessage));
  // As many as fill whole rounds of the channels: with one more piece a round would be nearly
  // empty. One more round only if that saves a tenth: 4 channels, 3 peers: 4 pieces in 3 rounds.
  const Wide fewest = (Wide{least} * peers + channels - 1) / channels;
  Wide full = fewest * channels / peers;
  Wide rounds = fewest;
  for (Wide more = fewest + 1; more < fewest + 4; ++more) {
    const Wide pieces = more * channels / peers;
    if (more * full * 10 > rounds * pieces * 9) continue;
    full = pieces;
    rounds = more;
  }
  const auto wanted = static_cast<std::int64_t>(std::min<Wide>(full, total / kLeastPiece));
  const std::int64_t pieces = std::max(least, wanted);
  const std::int64_t size = round_up(total, pieces);
  return {.size = size, .pieces = round_up(total, size)};
}

std::int64_t parts_of_sum(std::int64_t channels, const Pieces& pieces, std::int64_t size) {
  const std::int64_t parts = round_up(channels, std::max<std::int64_t>(pieces.pieces, 1));
  return std::clamp<std::int64_t>(size / kLeastPiece, 1, parts);
}

Division divide(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                const PlanCounts& plans, CollectiveChoice choice) {
  const AlgorithmSpec& spec = spec_of(choice.algorithm);
  const std::int64_t buffer = std::max<std::int64_t>(call.buffer.count(), 1);
  const std::int64_t blocks = plans.cut_into > 0 ? plans.cut_into : plans.blocks;
  std::int64_t channels = channels_of(cluster, call);
  // A small call uses fewer channels (NCCL's thread thresholds): each has at least this much.
  const bool simple = choice.protocol == Protocol::simple;
  std::int64_t least = cluster.spec.gpu.collective.channel.threads * (simple ? 64 : 8);
  if (spec.ll_by_block && choice.protocol == Protocol::ll) least *= blocks;
  channels = std::clamp<std::int64_t>(buffer / least, 1, channels);
  const double phases = call.op == CollectiveOp::all_reduce ? 2 : 1;
  const double copied = spec.copied > 0 ? spec.copied : phases;
  const double copies = copying(cluster, copied * static_cast<double>(buffer));
  // A library whose own table is known uses all channels, however much is to be posted.
  if (row_between_nodes(cluster, call, group) == nullptr) {
    double work = copies;
    // One chunk goes down a chain of copies, which only more channels shorten. Not for a library
    // whose table is unknown: NCCL's small calls on H100 take longer than that (validation.md).
    const bool up_and_down = plans.flow == Flow::pipeline && phases > 1;
    if (up_and_down && !call.options.algorithm.of_library) {
      work = std::max(
          work, static_cast<double>(plans.steps) * copying(cluster, static_cast<double>(buffer)));
    }
    channels = channels_that_pay(work, posting(cluster, plans.posted), channels);
  }
  if (channels > plans.plans) channels = channels / plans.plans * plans.plans;
  const std::int64_t step = round_up(buffer, channels * blocks);
  std::int64_t chunk = std::min(cluster.spec.gpu.collective.chunk.count(), kMostOfMessage);
  const bool levels = plans.flow == Flow::levels && !group.one_node;
  if (plans.flow == Flow::pipeline || levels) {
    const auto used = static_cast<double>(channels);
    const std::int64_t chunks =
        chunks_of_pipeline(copies / used, copying(cluster, static_cast<double>(buffer) / used),
                           posting(cluster, plans.posted * used), plans);
    // `simple` signals a chunk with a fence and a flag; the others have a flag with every line.
    const std::int64_t least_chunk = simple ? 32 * 1024 : 8 * 1024;
    chunk = std::min(chunk, std::max(round_up(step, chunks), least_chunk));
  }
  // While a slice is being signalled and received, the next one is sent.
  constexpr std::int64_t kLeastSlice = 32 * 1024;
  std::int64_t slices = 1;
  if (spec.slices && simple && call.op != CollectiveOp::broadcast) {
    slices = cluster.spec.gpu.collective.slices;
  }
  const std::int64_t turns = round_up(step, chunk * slices);
  slices = std::clamp<std::int64_t>(round_up(step, turns * kLeastSlice), 1, slices);
  return {.channels = static_cast<std::uint32_t>(channels),
          .chunks = turns * slices,
          .slices = slices,
          .posted = plans.posted * static_cast<double>(channels * turns * slices)};
}

}  // namespace weft
