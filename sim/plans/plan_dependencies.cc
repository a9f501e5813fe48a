#include <algorithm>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"

namespace weft {
namespace {

std::size_t place(const Plan& plan, std::uint32_t rank, std::uint32_t block) {
  return std::size_t{rank} * plan.blocks + block;
}

std::int64_t cut(const Plan& plan, std::uint32_t block, Bytes buffer) {
  __extension__ using Wide = unsigned __int128;
  std::int64_t product = 0;  // mostly fits: a division of 128 bits takes ten times as long
  if (!__builtin_mul_overflow(buffer.count(), block, &product)) return product / plan.blocks;
  return static_cast<std::int64_t>(static_cast<Wide>(buffer.count()) * block / plan.blocks);
}

}  // namespace

std::size_t place_of_arrival(const Plan& plan, const Transfer& transfer) {
  const std::uint32_t rank = transfer.to % plan.ranks;
  const std::uint32_t earlier = transfer.to - rank;
  return place(plan, rank, (transfer.block + plan.blocks - earlier % plan.blocks) % plan.blocks);
}

Dependencies dependencies(const Plan& plan) {
  constexpr std::uint32_t kNobody = UINT32_MAX;
  const std::size_t transfers = plan.transfers.size();
  SIM_ASSERT(transfers < kNobody / 2);  // waiters have 32 bits
  Dependencies result;
  result.taken_in_by.resize(transfers);
  result.arrivals.resize(transfers);
  // Backwards through the plan: the next waiter of each place. Numbers of final receives, counted
  // from the end of the plan here, are above those of all transfers, so the least is the first.
  std::vector<std::uint32_t> next(std::size_t{plan.ranks} * plan.blocks, kNobody);
  for (std::size_t t = transfers; t-- > 0;) {
    const Transfer& transfer = plan.transfers[t];
    SIM_ASSERT(transfer.from < plan.ranks && transfer.from != transfer.to && transfer.blocks > 0);
    SIM_ASSERT(transfer.block + transfer.blocks <= plan.blocks);
    const auto arrives =
        next.begin() + static_cast<std::ptrdiff_t>(place_of_arrival(plan, transfer));
    std::uint32_t waiter = *std::min_element(arrives, arrives + transfer.blocks);
    if (waiter == kNobody) {
      waiter = static_cast<std::uint32_t>(transfers + result.finals.size());
      result.finals.push_back({.rank = transfer.to % plan.ranks, .arrivals = 0});
    }
    result.taken_in_by[t] = waiter;
    if (waiter < transfers) {
      ++result.arrivals[waiter];
    } else {
      ++result.finals[waiter - transfers].arrivals;
      std::replace(arrives, arrives + transfer.blocks, kNobody, waiter);
    }
    if (transfer.source == Source::held) {
      const auto read =
          next.begin() + static_cast<std::ptrdiff_t>(place(plan, transfer.from, transfer.block));
      std::fill(read, read + transfer.blocks, static_cast<std::uint32_t>(t));
    }
  }
  std::reverse(result.finals.begin(), result.finals.end());
  const auto last = static_cast<std::uint32_t>(transfers + result.finals.size() - 1);
  for (std::uint32_t& waiter : result.taken_in_by) {
    if (waiter >= transfers) waiter = static_cast<std::uint32_t>(last - (waiter - transfers));
  }
  return result;
}

std::uint32_t steps(const Plan& plan) {
  std::vector<std::uint32_t> chain(std::size_t{plan.ranks} * plan.blocks);
  std::uint32_t longest = 0;
  for (const Transfer& transfer : plan.transfers) {
    std::uint32_t before = 0;
    if (transfer.source == Source::held) {
      const auto read =
          chain.begin() + static_cast<std::ptrdiff_t>(place(plan, transfer.from, transfer.block));
      before = *std::max_element(read, read + transfer.blocks);
    }
    longest = std::max(longest, before + 1);
    const std::size_t arrives = place_of_arrival(plan, transfer);
    for (std::size_t b = arrives; b < arrives + transfer.blocks; ++b) {
      chain[b] = std::max(chain[b], before + 1);
    }
  }
  return longest;
}

Programs programs(const Plan& plan) {
  Programs result;
  result.first.resize(plan.ranks + std::size_t{1});
  for (const Transfer& transfer : plan.transfers) ++result.first[transfer.from + std::size_t{1}];
  for (std::size_t r = 0; r < plan.ranks; ++r) result.first[r + 1] += result.first[r];
  std::vector<std::uint32_t> end = result.first;
  result.transfers.resize(plan.transfers.size());
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
    result.transfers[end[plan.transfers[t].from]++] = t;
  }
  return result;
}

Bytes bytes_of(const Plan& plan, const Transfer& transfer, Bytes buffer) {
  if (!plan.pair_bytes.empty()) {
    return bytes(plan.pair_bytes[std::size_t{transfer.from} * plan.ranks + transfer.to]);
  }
  return bytes(cut(plan, transfer.block + transfer.blocks, buffer) -
               cut(plan, transfer.block, buffer));
}

std::vector<RankBytes> rank_bytes(const Plan& plan, Bytes buffer) {
  std::vector<RankBytes> result(plan.ranks);
  for (const Transfer& transfer : plan.transfers) {
    const Bytes size = bytes_of(plan, transfer, buffer);
    result[transfer.from].sent += size;
    result[transfer.to].received += size;
  }
  return result;
}

}  // namespace weft
