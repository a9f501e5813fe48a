// Executes a plan with tokens instead of bytes, in a random order that the plan allows.
//
// A token says which data it is and which ranks have contributed to it. Every rank issues its
// transfers in plan order, each once the arrivals it waits for are there; a transfer takes along
// what its place holds at that moment; messages take any time and overtake each other.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/rng.h"
#include "sim/plans/collective_plan.h"

namespace weft {

struct Token {
  std::uint32_t data = 0;          // the block; of an all-to-all the rank that it is for
  std::uint64_t contributors = 0;  // a bit per rank; 0: nothing is here
  bool operator==(const Token&) const = default;
};

class Tokens {
 public:
  explicit Tokens(const Plan& plan) : plan_(plan) {
    SIM_ASSERT(plan.ranks <= 64);
    for (std::uint32_t r = 0; r < plan.ranks; ++r) {
      for (std::uint32_t b = 0; b < plan.blocks; ++b) places_.push_back(at_start(r, b));
    }
  }

  // The first thing that went wrong; empty if all ranks end with what the collective promises.
  std::string run(const Dependencies& waits, Rng rng) {
    waits_left_ = waits.arrivals;
    for (const FinalReceive& final : waits.finals) waits_left_.push_back(final.arrivals);
    const Programs all = programs(plan_);
    std::vector<std::uint32_t> next(all.first.begin(), all.first.end() - 1);
    // Between messages that hardly ever arrive and such that arrive at once; some ranks are slow.
    const std::int64_t hurry = rng.between(0, 100);
    const std::uint64_t slow = rng() & rng();
    const std::size_t transfers = plan_.transfers.size();
    std::size_t issued = 0;
    std::size_t arrived = 0;
    for (std::size_t idle = 0; problem_.empty() && arrived < transfers;) {
      if (!flying_.empty() && (issued == transfers || rng.between(0, 100) <= hurry)) {
        arrive(waits, rng);
        ++arrived;
        idle = 0;
        continue;
      }
      const auto r = static_cast<std::uint32_t>(rng.between(0, plan_.ranks - 1));
      const bool dawdles = (slow >> r & 1U) != 0 && rng.between(0, 9) != 0;
      if (!dawdles && next[r] < all.first[r + 1] && waits_left_[all.transfers[next[r]]] == 0) {
        issue(all.transfers[next[r]++]);
        ++issued;
        idle = 0;
      } else if (++idle > 1000 + 200 * std::size_t{plan_.ranks} && flying_.empty()) {
        problem_ = "nobody can go on";
      } else if (idle > 50 && !flying_.empty()) {
        arrive(waits, rng);
        ++arrived;
        idle = 0;
      }
    }
    check_end();
    return problem_;
  }

 private:
  struct Message {
    std::uint32_t transfer;
    std::vector<Token> tokens;
  };

  static std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << rank; }
  [[nodiscard]] std::uint64_t everybody() const {
    return plan_.ranks == 64 ? UINT64_MAX : bit(plan_.ranks) - 1;
  }
  Token& at(std::uint32_t rank, std::uint32_t block) {
    return places_[rank * plan_.blocks + block];
  }

  [[nodiscard]] Token at_start(std::uint32_t rank, std::uint32_t block) const {
    switch (plan_.collective) {
      case Collective::all_to_all:
        return {};  // the rows to be sent are a buffer of their own
      case Collective::all_gather:
        return block == rank ? Token{block, bit(rank)} : Token{};
      case Collective::reduce_scatter:
      case Collective::all_reduce:
        return {block, bit(rank)};
      case Collective::broadcast:
      case Collective::point_to_point:
        return rank == plan_.root ? Token{block, bit(rank)} : Token{};
    }
    return {};
  }

  // What must be there in the end; nothing where anything may be.
  [[nodiscard]] Token at_end(std::uint32_t rank, std::uint32_t block) const {
    switch (plan_.collective) {
      case Collective::all_to_all: {
        const bool nothing = !plan_.pair_bytes.empty() &&
                             plan_.pair_bytes[block * std::size_t{plan_.ranks} + rank] == 0;
        return nothing || block == rank ? Token{} : Token{rank, bit(block)};
      }
      case Collective::all_gather:
        return {block, bit(block)};
      case Collective::reduce_scatter:
        return block == rank ? Token{block, everybody()} : Token{};
      case Collective::all_reduce:
        return {block, everybody()};
      case Collective::broadcast:
        return {block, bit(plan_.root)};
      case Collective::point_to_point:
        return rank == plan_.target ? Token{block, bit(plan_.root)} : Token{};
    }
    return {};
  }

  void issue(std::uint32_t t) {
    const Transfer& transfer = plan_.transfers[t];
    Message message{.transfer = t, .tokens = {}};
    for (std::uint32_t b = transfer.block; b < transfer.block + transfer.blocks; ++b) {
      Token token = at(transfer.from, b);
      if (transfer.source == Source::own) {
        token = plan_.collective == Collective::all_to_all ? Token{transfer.to, bit(transfer.from)}
                                                           : at_start(transfer.from, b);
      }
      if (token.contributors == 0) {
        fail(fmt::format("rank {} has no block {} to send in transfer {}", transfer.from, b, t));
      }
      message.tokens.push_back(token);
    }
    flying_.push_back(std::move(message));
  }

  void arrive(const Dependencies& waits, Rng& rng) {
    const auto which =
        static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(flying_.size()) - 1));
    std::swap(flying_[which], flying_.back());
    const Message message = std::move(flying_.back());
    flying_.pop_back();
    const Transfer& transfer = plan_.transfers[message.transfer];
    for (std::uint32_t i = 0; i < transfer.blocks; ++i) {
      Token& place = at(transfer.to, transfer.block + i);
      if (transfer.arrival == Arrival::replaces) {
        place = message.tokens[i];
        continue;
      }
      if (place.data != message.tokens[i].data) fail("different data are added up");
      if ((place.contributors & message.tokens[i].contributors) != 0) {
        fail(fmt::format("transfer {} counts a contribution twice", message.transfer));
      }
      place.contributors |= message.tokens[i].contributors;
    }
    std::uint32_t& left = waits_left_[waits.taken_in_by[message.transfer]];
    if (left > 0) --left;
  }

  void check_end() {
    for (std::uint32_t r = 0; problem_.empty() && r < plan_.ranks; ++r) {
      for (std::uint32_t b = 0; b < plan_.blocks; ++b) {
        const Token end = at_end(r, b);
        if (end.contributors != 0 && at(r, b) != end) {
          fail(fmt::format("rank {} ends with data {} of {:b} in block {}, not with {} of {:b}", r,
                           at(r, b).data, at(r, b).contributors, b, end.data, end.contributors));
        }
      }
    }
    for (const std::uint32_t left : waits_left_) {
      if (left != 0) fail("a waiter waits for ever");
    }
  }

  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  const Plan& plan_;
  std::vector<Token> places_;
  std::vector<std::uint32_t> waits_left_;
  std::vector<Message> flying_;
  std::string problem_;
};

inline std::string problem_of(const Plan& plan, std::uint64_t seed) {
  return Tokens(plan).run(dependencies(plan), Rng(seed, "tokens"));
}

}  // namespace weft
