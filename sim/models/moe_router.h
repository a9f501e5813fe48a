// Where the tokens of a layer of experts go, as whole tokens: expected counts, or drawn ones.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario/model_spec.h"
#include "sim/workloads/row_forwards.h"

namespace weft {

// Splits `total` into whole parts proportional to their weights, none above `most`. What rounding
// down leaves goes to the largest remainders, equal ones in order from `first` on, wrapping around.
// What is cut off above `most` goes to the others by their weights, as long as they have room.
struct Apportionment {
  std::int64_t total = 0;
  std::int64_t most = 0;
  std::size_t first = 0;
};
std::vector<std::int64_t> apportion(const Apportionment& what,
                                    const std::vector<std::int64_t>& weights);

// How often each expert is chosen, relative to the others. Experts of a GPU have consecutive
// numbers; the frequencies of Zipf's law (the largest is a million) are dealt to the GPUs in turn.
std::vector<std::int64_t> router_weights(const MoeSpec& moe, int gpus);

// Tokens that each of `gpus` GPUs sends to each. Every GPU has `tokens`, and each token goes to
// moe.top_k experts, once to each.
struct RoutedTokens {
  std::int64_t gpus = 1;
  std::vector<std::int64_t> sent;  // [from * gpus + to]
  std::int64_t busy = 1;           // the most experts of one GPU that have tokens

  Reached reached = {};  // where tokens are sent once (moe.exchange)

  [[nodiscard]] std::int64_t received(std::int64_t to) const;
  [[nodiscard]] std::int64_t most_of_a_pair() const;
  [[nodiscard]] bool even() const;
};
// Which experts they go to is expected, or drawn from `seed` (moe.routing). `per_node`: GPUs of a
// node among them.
RoutedTokens route(const MoeSpec& moe, int gpus, std::int64_t tokens, std::uint64_t seed,
                   int per_node = 1);

}  // namespace weft
