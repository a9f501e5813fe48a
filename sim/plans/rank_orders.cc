#include "sim/plans/rank_orders.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "sim/core/assert.h"

namespace weft {
namespace {

// Seven rings over eight ranks that use each of the 56 links once, found by a search. (Tillson, A
// Hamiltonian decomposition of K*_2m, 2m >= 8, J. Combin. Theory B 29, 1980: there are such rings
// for every even number of ranks except 4 and 6.)
constexpr std::array<std::array<std::uint32_t, 8>, 7> kRingsOfEight = {{{0, 1, 4, 5, 7, 2, 3, 6},
                                                                        {0, 2, 5, 4, 6, 1, 7, 3},
                                                                        {0, 3, 4, 2, 7, 1, 6, 5},
                                                                        {0, 4, 7, 5, 6, 3, 1, 2},
                                                                        {0, 5, 1, 3, 2, 6, 7, 4},
                                                                        {0, 6, 2, 4, 1, 5, 3, 7},
                                                                        {0, 7, 6, 4, 3, 5, 2, 1}}};

// All rings over four ranks: each link is in two of the six.
constexpr std::array<std::array<std::uint32_t, 4>, 6> kRingsOfFour = {
    {{0, 1, 2, 3}, {0, 3, 2, 1}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 2, 1, 3}, {0, 3, 1, 2}}};

template <class Table>
std::vector<RankOrder> from_table(const Table& table) {
  std::vector<RankOrder> all;
  all.reserve(table.size());
  for (const auto& ring : table) all.emplace_back(ring.begin(), ring.end());
  return all;
}

// first, + 1, - 1, + 2, - 2 ...: the steps between neighbours are all different where n is even.
RankOrder zigzag(std::uint32_t first, std::uint32_t ranks) {
  RankOrder way;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::uint32_t away = (i + 1) / 2;
    way.push_back((first + (i % 2 == 1 ? away : ranks - away)) % ranks);
  }
  return way;
}

std::uint32_t coprime_below(std::uint32_t n) {
  std::uint32_t count = 0;
  for (std::uint32_t shift = 1; shift < n; ++shift) count += std::gcd(shift, n) == 1 ? 1U : 0U;
  return count;
}

}  // namespace

RankOrder identity_order(std::uint32_t ranks) {
  RankOrder order(ranks);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<RankOrder> rings(std::uint32_t ranks, Wiring wiring) {
  SIM_ASSERT(ranks > 0);
  if (wiring == Wiring::shared || ranks == 1) return {identity_order(ranks)};
  if (ranks == 4) return from_table(kRingsOfFour);
  if (ranks == 8) return from_table(kRingsOfEight);
  if (ranks % 2 == 0 && coprime_below(ranks) < ranks / 2) {
    return ways_through(ranks, Wiring::all_pairs);
  }
  std::vector<RankOrder> all;
  for (std::uint32_t shift = 1; shift < ranks; ++shift) {
    if (std::gcd(shift, ranks) != 1) continue;
    RankOrder ring;
    for (std::uint64_t i = 0; i < ranks; ++i) {
      ring.push_back(static_cast<std::uint32_t>(i * shift % ranks));
    }
    all.push_back(ring);
  }
  return all;
}

std::vector<RankOrder> ways_through(std::uint32_t ranks, Wiring wiring) {
  std::vector<RankOrder> ways;
  for (std::uint32_t first = 0; first < ranks; ++first) {
    if (wiring == Wiring::all_pairs) {
      ways.push_back(zigzag(first, ranks));
    } else {
      RankOrder& way = ways.emplace_back(identity_order(ranks));
      std::rotate(way.begin(), way.begin() + first, way.end());
    }
  }
  return ways;
}

RankOrder snake_order(const std::vector<int>& sizes) {
  RankOrder order{0};
  std::uint32_t slab = 1;  // ranks of the dimensions so far
  for (const int size : sizes) {
    const RankOrder before = order;
    for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(size); ++i) {
      for (std::uint32_t k = 0; k < slab; ++k) {
        order.push_back(i * slab + before[i % 2 == 0 ? k : slab - 1 - k]);
      }
    }
    slab *= static_cast<std::uint32_t>(size);
  }
  return order;
}

std::uint32_t spreading_stride(std::uint32_t ranks) {
  auto stride = static_cast<std::uint32_t>(std::uint64_t{ranks} * 618 / 1000);
  while (std::gcd(stride, ranks) != 1) ++stride;
  return stride;
}

std::vector<RankOrder> tree_orders(std::uint32_t ranks) {
  const RankOrder first = identity_order(ranks);
  RankOrder second = first;
  if (ranks % 2 == 0) {
    std::reverse(second.begin(), second.end());
  } else if (ranks > 1) {
    std::rotate(second.begin(), second.begin() + 1, second.end());
  }
  return {first, second};
}

std::uint32_t tree_parent(std::uint32_t position, std::uint32_t ranks) {
  SIM_ASSERT(position > 0 && position < ranks);
  const std::uint32_t bit = position & (~position + 1);
  const std::uint32_t without = position ^ bit;
  const std::uint32_t parent = without | (bit << 1U);
  return parent < ranks ? parent : without;
}

std::vector<std::uint32_t> tree_upwards(std::uint32_t ranks) {
  // A parent has more trailing zeros than its child.
  std::vector<std::uint32_t> upwards;
  for (std::uint64_t bit = 1; bit < ranks; bit *= 2) {
    for (std::uint64_t i = bit; i < ranks; i += 2 * bit) {
      upwards.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return upwards;
}

RankTree tree_of_chains(const RankOrder& nodes, const RankOrder& way) {
  const auto n = static_cast<std::uint32_t>(nodes.size());
  const auto local = static_cast<std::uint32_t>(way.size());
  RankTree tree;
  tree.parent.resize(std::size_t{n} * local);
  const auto rank = [&](std::uint32_t node, std::uint32_t i) { return node * local + way[i]; };
  for (std::uint32_t i = local; i-- > 1;) {
    for (std::uint32_t node = 0; node < n; ++node) {
      tree.parent[rank(node, i)] = rank(node, i - 1);
      tree.upwards.push_back(rank(node, i));
    }
  }
  tree.parent[rank(nodes[0], 0)] = rank(nodes[0], 0);
  for (const std::uint32_t position : tree_upwards(n)) {
    const std::uint32_t head = rank(nodes[position], 0);
    tree.parent[head] = rank(nodes[tree_parent(position, n)], 0);
    tree.upwards.push_back(head);
  }
  return tree;
}

}  // namespace weft
