#include "sim/models/beginning.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace weft {
namespace {

// By name, when the first kernel of an operator begins. One that is overlapped has another name, as
// have its parts.
using Starts = std::map<std::string, SimTime, std::less<>>;

Starts starts_in(const RunResult& alone) {
  Starts starts;
  for (const OperatorUse& use : alone.operators) {
    const auto [known, added] = starts.try_emplace(use.name, use.first_start);
    if (!added) known->second = std::min(known->second, use.first_start);
  }
  return starts;
}

// On each of its GPUs, for this operator or for one that does.
bool waits_for(const ModelOp& later, const ModelGraph& piece, std::uint32_t op) {
  const ModelOp& first = piece.ops[OpId(op)];
  if (later.stream == first.stream && later.place == first.place) return true;
  return std::any_of(later.after.begin(), later.after.end(),
                     [op](OpId before) { return before.value >= op; });
}

bool all_later_wait_for(std::uint32_t op, const ModelGraph& piece) {
  for (std::uint32_t later = op + 1; later < piece.ops.size(); ++later) {
    if (!waits_for(piece.ops[OpId(later)], piece, op)) return false;
  }
  return true;
}

}  // namespace

std::uint32_t beginning_of(const ModelGraph& piece, const RunResult& alone, Duration until) {
  const Starts starts = starts_in(alone);
  const auto all = static_cast<std::uint32_t>(piece.ops.size());
  for (std::uint32_t op = 1; op < all; ++op) {
    // What a collective brings may be worked on as it comes.
    if (communicates(piece.ops[OpId(op)]) || communicates(piece.ops[OpId(op - 1)])) continue;
    const auto start = starts.find(piece.ops[OpId(op)].name);
    if (start == starts.end() || start->second - SimTime{} < until) continue;
    if (all_later_wait_for(op, piece)) return op;
  }
  return all;
}

ModelGraph first_operators_of(const ModelGraph& piece, std::uint32_t operators) {
  ModelGraph first;
  first.places = piece.places;
  for (std::uint32_t op = 0; op < operators; ++op) first.add(piece.ops[OpId(op)]);
  return first;
}

}  // namespace weft
