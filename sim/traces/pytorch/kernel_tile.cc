#include "sim/traces/pytorch/kernel_tile.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/round_up.h"

namespace weft {
namespace {

// "256x128", "MT256x256x64", "tilesize128x128x64": the first two numbers.
std::optional<std::pair<int, int>> tile_in(std::string_view word) {
  for (const std::string_view prefix : {"tilesize", "MT"}) {
    if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  }
  std::vector<int> numbers;
  while (!word.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    word.remove_prefix(static_cast<std::size_t>(end - word.data()));
    if (word.empty()) break;
    if (word.front() != 'x' || word.size() == 1) return std::nullopt;
    word.remove_prefix(1);
  }
  const auto fits = [](int size) { return size >= 8 && size <= 512 && size % 8 == 0; };
  if (numbers.size() < 2 || numbers.size() > 3 || !fits(numbers[0]) || !fits(numbers[1])) {
    return std::nullopt;
  }
  return std::pair{numbers[0], numbers[1]};
}

bool of_a_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::optional<std::pair<int, int>> tile_of(std::string_view kernel) {
  for (std::size_t i = 0; i < kernel.size();) {
    std::size_t end = i;
    while (end < kernel.size() && of_a_word(kernel[end])) ++end;
    if (const auto tile = tile_in(kernel.substr(i, end - i))) return tile;
    i = end + 1;
  }
  return std::nullopt;
}

}  // namespace

void add_tile(std::string_view kernel, std::int64_t wgs, RecordedGemm& gemm) {
  constexpr std::int64_t kMostParts = 32;
  const auto tile = tile_of(kernel);
  if (!tile) return;
  gemm.tile_n = tile->first;
  gemm.tile_m = tile->second;
  // If there are a multiple of as many WGs as tiles, k is split. A persistent grid has fewer WGs.
  const std::int64_t rows = round_up(gemm.m, gemm.tile_m);
  // No overflow: C is smaller than any GPU's memory (work_of_operator).
  const std::int64_t tiles = rows * round_up(gemm.n, gemm.tile_n) * gemm.batch;
  if (wgs % tiles == 0 && wgs / tiles <= kMostParts) {
    gemm.split_k = static_cast<int>(std::max<std::int64_t>(1, wgs / tiles));
  }
}

}  // namespace weft
