#include "sim/models/moe_router.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/core/assert.h"
#include "sim/core/rng.h"
#include "sim/models/expert_groups.h"

namespace weft {
namespace {

__extension__ using Wide = unsigned __int128;

// Splits `total` among the parts that `open` names, by their weights.
std::vector<std::int64_t> shares(std::int64_t total, const std::vector<std::int64_t>& weights,
                                 const std::vector<std::size_t>& open) {
  std::int64_t all = 0;
  for (const std::size_t i : open) all += weights[i];
  SIM_ASSERT(all > 0);
  struct Rest {
    std::int64_t remainder;
    std::size_t index;
  };
  std::vector<std::int64_t> parts(weights.size(), 0);
  std::vector<Rest> rests;
  rests.reserve(open.size());
  std::int64_t left = total;
  for (const std::size_t i : open) {
    const Wide scaled = static_cast<Wide>(total) * static_cast<Wide>(weights[i]);
    parts[i] = static_cast<std::int64_t>(scaled / static_cast<Wide>(all));
    left -= parts[i];
    rests.push_back({static_cast<std::int64_t>(scaled % static_cast<Wide>(all)), i});
  }
  std::stable_sort(rests.begin(), rests.end(),
                   [](const Rest& a, const Rest& b) { return a.remainder > b.remainder; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++parts[rests[i].index];
  return parts;
}

}  // namespace

std::vector<std::int64_t> apportion(const Apportionment& what,
                                    const std::vector<std::int64_t>& weights) {
  std::vector<std::size_t> open;  // parts that are not full
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const std::size_t i = (what.first + n) % weights.size();
    if (weights[i] > 0) open.push_back(i);
  }
  std::vector<std::int64_t> parts(weights.size(), 0);
  for (std::int64_t left = what.total; !open.empty();) {
    const std::vector<std::int64_t> tried = shares(left, weights, open);
    const auto fits = [&](std::size_t i) { return tried[i] <= what.most; };
    if (std::all_of(open.begin(), open.end(), fits)) {
      for (const std::size_t i : open) parts[i] = tried[i];
      break;
    }
    for (const std::size_t i : open) {
      if (fits(i)) continue;
      parts[i] = what.most;
      left -= what.most;
    }
    std::erase_if(open, [&](std::size_t i) { return !fits(i); });
  }
  return parts;
}

std::vector<std::int64_t> router_weights(const MoeSpec& moe, int gpus) {
  if (moe.skew == RouterSkew::histogram) return {moe.histogram.begin(), moe.histogram.end()};
  std::vector<std::int64_t> weights(static_cast<std::size_t>(moe.experts), 1);
  if (moe.skew == RouterSkew::uniform) return weights;
  constexpr double kMost = 1e6;  // coarse enough for pow() to give the same weight on any machine
  const int each = moe.experts / gpus;
  for (int i = 0; i < moe.experts; ++i) {
    const int expert = i % gpus * each + i / gpus;
    const double frequency = std::pow(static_cast<double>(i + 1), -moe.exponent);
    weights[static_cast<std::size_t>(expert)] =
        std::max<std::int64_t>(1, std::llround(kMost * frequency));
  }
  return weights;
}

std::int64_t RoutedTokens::received(std::int64_t to) const {
  std::int64_t sum = 0;
  for (std::int64_t from = 0; from < gpus; ++from) {
    sum += sent[static_cast<std::size_t>(from * gpus + to)];
  }
  return sum;
}

std::int64_t RoutedTokens::most_of_a_pair() const {
  return *std::max_element(sent.begin(), sent.end());
}

bool RoutedTokens::even() const {
  return std::all_of(sent.begin(), sent.end(), [&](std::int64_t n) { return n == sent.front(); });
}

namespace {

// The experts in another order: the first of every GPU, then the second of every GPU, and so on, so
// that what rounding leaves over goes to all GPUs in turn.
std::vector<std::int64_t> dealt(const std::vector<std::int64_t>& by_expert, std::size_t gpus) {
  const std::size_t each = by_expert.size() / gpus;
  std::vector<std::int64_t> result;
  result.reserve(by_expert.size());
  for (std::size_t local = 0; local < each; ++local) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) result.push_back(by_expert[gpu * each + local]);
  }
  return result;
}

// The most tokens that one expert takes from each GPU.
std::int64_t capacity_of(const MoeSpec& moe, std::int64_t tokens) {
  if (moe.capacity == 0) return tokens;
  const double even = static_cast<double>(tokens) * moe.top_k / moe.experts;
  return std::min(tokens, static_cast<std::int64_t>(std::ceil(moe.capacity * even)));
}

// Draws experts by their weights, each at most once for a token.
class ExpertDraw {
 public:
  // The experts are as dealt among so many GPUs.
  ExpertDraw(const std::vector<std::int64_t>& weights, const MoeSpec& moe, std::size_t gpus)
      : weights_(weights),
        moe_(moe),
        gpus_(gpus),
        of_gpu_(weights.size() / gpus),
        of_group_(weights.size() / static_cast<std::size_t>(moe.groups)) {
    std::int64_t sum = 0;
    for (const std::int64_t weight : weights) {
      before_.push_back(sum);
      sum += weight;
    }
    all_ = sum;
  }

  // The experts of one token.
  std::vector<std::size_t> draw(Rng& rng) const {
    std::vector<std::size_t> drawn;  // in ascending order
    std::vector<std::size_t> taken;  // of them, those whose group counts
    std::vector<std::size_t> groups;
    std::int64_t left = all_;
    while (taken.size() < static_cast<std::size_t>(moe_.top_k) && left > 0) {
      const std::size_t expert = next(drawn, left, rng);
      left -= weights_[expert];
      if (counts(expert, groups)) taken.push_back(expert);
    }
    return taken;
  }

 private:
  const std::vector<std::int64_t>& weights_;
  // One that was not drawn yet. `left`: weights of these.
  std::size_t next(std::vector<std::size_t>& drawn, std::int64_t left, Rng& rng) const {
    std::int64_t at = rng.between(0, left - 1);
    auto place = drawn.begin();
    for (; place != drawn.end() && at >= before_[*place]; ++place) at += weights_[*place];
    // The last that begins there or before: one without weight never is.
    const auto behind = std::upper_bound(before_.begin(), before_.end(), at);
    const auto found = static_cast<std::size_t>(behind - before_.begin()) - 1;
    drawn.insert(place, found);
    return found;
  }

  // Whether its group is among the first that appear.
  bool counts(std::size_t expert, std::vector<std::size_t>& groups) const {
    if (moe_.groups == 1) return true;
    const std::size_t number = expert % gpus_ * of_gpu_ + expert / gpus_;
    const std::size_t group = number / of_group_;
    if (std::find(groups.begin(), groups.end(), group) != groups.end()) return true;
    if (groups.size() == static_cast<std::size_t>(moe_.top_groups)) return false;
    groups.push_back(group);
    return true;
  }

  const MoeSpec& moe_;
  std::size_t gpus_;
  std::size_t of_gpu_;                // experts
  std::size_t of_group_;              // experts
  std::vector<std::int64_t> before_;  // sums of the weights of those before
  std::int64_t all_ = 0;
};

bool is_once(const MoeSpec& moe) { return moe.exchange == TokenExchange::once; }

// What one GPU's tokens ask for: by expert and, where they are sent once, each once by GPU and by
// node.
struct Asked {
  std::vector<std::int64_t> experts;
  std::vector<std::int64_t> gpus;
  std::vector<std::int64_t> nodes;
};

// The i-th expert, as dealt, is on GPU i % gpus.
Asked drawn_from(std::size_t gpu, const MoeSpec& moe, const RoutedTokens& among,
                 std::int64_t tokens, std::uint64_t seed,
                 const std::vector<std::int64_t>& weights) {
  const auto gpus = static_cast<std::size_t>(among.gpus);
  const std::size_t per_node = among.reached.per_node;
  Asked asked{.experts = std::vector<std::int64_t>(weights.size()),
              .gpus = std::vector<std::int64_t>(gpus),
              .nodes = std::vector<std::int64_t>(gpus / per_node)};
  const ExpertDraw draw(weights, moe, gpus);
  Rng rng(seed, "moe/router", gpu);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const std::vector<std::size_t> experts = draw.draw(rng);
    for (const std::size_t expert : experts) ++asked.experts[expert];
    if (!is_once(moe)) continue;
    std::vector<bool> at(gpus);
    std::vector<bool> at_node(gpus / per_node);
    for (const std::size_t expert : experts) {
      at[expert % gpus] = at_node[expert % gpus / per_node] = true;
    }
    for (std::size_t i = 0; i < gpus; ++i) asked.gpus[i] += at[i] ? 1 : 0;
    for (std::size_t i = 0; i < at_node.size(); ++i) asked.nodes[i] += at_node[i] ? 1 : 0;
  }
  return asked;
}

// Of so many tokens, those with an expert among these: all but those whose top_k experts, drawn one
// after another without putting back, are others. `part`: of all weights, in experts.
std::int64_t expected_at(double part, const MoeSpec& moe, std::int64_t tokens) {
  double elsewhere = 1;
  if (moe.groups > 1) {
    elsewhere = chance_of_none(moe, static_cast<int>(std::lround(part)));
    return std::llround(static_cast<double>(tokens) * (1 - elsewhere));
  }
  for (int i = 0; i < moe.top_k; ++i) {
    elsewhere *= std::max(0.0, (moe.experts - part - i) / (moe.experts - i));
  }
  return std::llround(static_cast<double>(tokens) * (1 - elsewhere));
}

Asked expected_from(const MoeSpec& moe, const RoutedTokens& among, std::int64_t tokens,
                    const std::vector<std::int64_t>& weights, std::vector<std::int64_t> experts) {
  const auto gpus = static_cast<std::size_t>(among.gpus);
  const std::size_t per_node = among.reached.per_node;
  Asked asked{.experts = std::move(experts), .gpus = {}, .nodes = {}};
  if (!is_once(moe)) return asked;
  std::vector<std::int64_t> of_gpu(gpus);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    of_gpu[i % gpus] += weights[i];
    all += weights[i];
  }
  const auto at = [&](std::int64_t weight) {
    const double part = static_cast<double>(weight) / static_cast<double>(all) * moe.experts;
    return expected_at(part, moe, tokens);
  };
  for (std::size_t first = 0; first < gpus; first += per_node) {
    std::int64_t of_node = 0;
    for (std::size_t i = first; i < first + per_node; ++i) {
      asked.gpus.push_back(at(of_gpu[i]));
      of_node += of_gpu[i];
    }
    asked.nodes.push_back(at(of_node));
  }
  return asked;
}

}  // namespace

RoutedTokens route(const MoeSpec& moe, int gpus, std::int64_t tokens, std::uint64_t seed,
                   int per_node) {
  const auto n = static_cast<std::size_t>(gpus);
  const std::vector<std::int64_t> weights = dealt(router_weights(moe, gpus), n);
  const std::int64_t capacity = capacity_of(moe, tokens);
  RoutedTokens routed{.gpus = gpus, .sent = std::vector<std::int64_t>(n * n, 0)};
  routed.reached.per_node = static_cast<std::uint32_t>(per_node);
  std::vector<std::int64_t> of_expert(weights.size(), 0);
  for (std::size_t from = 0; from < n; ++from) {
    // The leftovers of each source begin where those of the previous source ended.
    const std::int64_t asked = tokens * moe.top_k;
    const std::size_t first =
        static_cast<std::size_t>(static_cast<std::int64_t>(from) * (asked % moe.experts)) %
        weights.size();
    const Asked by =
        moe.routing == Routing::drawn
            ? drawn_from(from, moe, routed, tokens, seed, weights)
            : expected_from(moe, routed, tokens, weights,
                            apportion({.total = asked, .most = tokens, .first = first}, weights));
    const std::vector<std::int64_t>& parts = by.experts;
    Reached& reached = routed.reached;
    reached.gpus.insert(reached.gpus.end(), by.gpus.begin(), by.gpus.end());
    reached.nodes.insert(reached.nodes.end(), by.nodes.begin(), by.nodes.end());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t taken = std::min(parts[i], capacity);
      of_expert[i] += taken;
      routed.sent[from * n + i % n] += taken;
    }
  }
  std::vector<std::int64_t> busy(n, 0);
  for (std::size_t i = 0; i < of_expert.size(); ++i) busy[i % n] += of_expert[i] > 0 ? 1 : 0;
  routed.busy = std::max<std::int64_t>(1, *std::max_element(busy.begin(), busy.end()));
  return routed;
}

}  // namespace weft
