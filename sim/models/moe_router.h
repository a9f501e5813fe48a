// Where the tokens of a layer of experts go: expected counts, as whole tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario/model_spec.h"

namespace weft {

// `total` in parts as large as their weights, whole, none above `most`: the largest remainders get
// what rounding down leaves; equal ones in their order from `first` on, wrapping. What parts above
// `most` lose goes to the others by their weights, while these have room.
struct Apportionment {
  std::int64_t total = 0;
  std::int64_t most = 0;
  std::size_t first = 0;
};
std::vector<std::int64_t> apportion(const Apportionment& what,
                                    const std::vector<std::int64_t>& weights);

// How often each expert is asked for, in parts of a million of the most frequent. Experts of a GPU
// follow one another; the i-th most frequent of Zipf's are dealt to the GPUs in turn.
std::vector<std::int64_t> router_weights(const MoeSpec& moe, int gpus);

// Tokens that each of `gpus` GPUs sends to each, where every one has `tokens` and each token goes
// to moe.top_k experts, once to each.
struct RoutedTokens {
  std::int64_t gpus = 1;
  std::vector<std::int64_t> sent;  // [from * gpus + to]
  std::int64_t busy = 1;           // experts of a GPU that have tokens, at most

  [[nodiscard]] std::int64_t received(std::int64_t to) const;
  [[nodiscard]] std::int64_t most_of_a_pair() const;
  [[nodiscard]] bool even() const;
};
RoutedTokens route(const MoeSpec& moe, int gpus, std::int64_t tokens);

}  // namespace weft
