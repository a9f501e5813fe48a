// What operators have in common, and where a sequence of them repeats itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

using Kind = std::uint32_t;  // of what an operator does, on one of its GPUs

// Numbers what operators do, whatever numbers their names have: "layer12_mlp" is "layer#_mlp".
class Kinds {
 public:
  explicit Kinds(const ModelGraph& graph) : graph_(graph) {}

  // The first operator that does the same as this one.
  OpId first_alike(OpId id);
  // As `rank` of a group of so many.
  Kind of(OpId first, std::size_t group, std::size_t rank);

 private:
  const ModelGraph& graph_;
  std::map<std::pair<std::string, std::int64_t>, std::vector<OpId>> by_name_;  // and size
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t>, Kind> numbers_;
};

// Cuts a sequence where a part of it, of at least four, recurs at once.
class Cuts {
 public:
  explicit Cuts(const std::vector<Kind>& kinds);

  // Appends the starts of the parts of [begin, end).
  void cut(std::uint32_t begin, std::uint32_t end, std::vector<std::uint32_t>& starts) const;

 private:
  [[nodiscard]] std::uint64_t hash(std::uint32_t first, std::uint32_t count) const;
  [[nodiscard]] bool same(std::uint32_t a, std::uint32_t b, std::uint32_t count) const;
  [[nodiscard]] std::uint32_t period_at(std::uint32_t at, std::uint32_t end) const;

  std::vector<std::uint64_t> sums_;  // of what comes before
  std::vector<std::uint64_t> powers_;
};

}  // namespace weft
