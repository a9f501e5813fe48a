#include "sim/models/norm_backward.h"

#include "sim/core/round_up.h"

namespace weft {
namespace {

// torch/_inductor/scheduler.py, MixOrderReduction: from so many elements and rows on, up to so many
// columns, and if there are so many times as many rows as columns.
constexpr std::int64_t kLeastElements = 5 * 1024 * 1024;
constexpr std::int64_t kLeastRows = 4096;
constexpr std::int64_t kMostColumns = 16'384;
constexpr std::int64_t kRowsOfColumns = 2;
constexpr std::int64_t kRowsOfWg = 16;
// The kernel that adds up (PyTorch's own): 128 columns a WG, of 128 threads with four loads of 16 B
// in flight; from 1,024 rows on, 64 rows a WG.
constexpr std::int64_t kColumnsOfSum = 128;
constexpr std::int64_t kRowsToSplit = 1024;
constexpr std::int64_t kRowsOfSum = 64;

bool finds_both_at_once(std::int64_t rows, std::int64_t width) {
  return rows >= kLeastRows && width <= kMostColumns && rows >= kRowsOfColumns * width &&
         rows * width >= kLeastElements;
}

StreamShape sum_of(std::int64_t parts, std::int64_t width, DataType type) {
  const std::int64_t splits = parts >= kRowsToSplit ? round_up(parts, kRowsOfSum) : 1;
  StreamShape sum{.read = bytes_of(parts * width, DataType::fp32),
                  .written = bytes_of(width, type),
                  .flops = flops(parts * width)};
  sum.loads_in_flight = 2;  // of a WG of 256 threads: as many bytes
  sum.most_wgs = round_up(width, kColumnsOfSum) * splits;
  return sum;
}

}  // namespace

NormBackward norm_backward_of(std::int64_t rows, std::int64_t width, std::int64_t read,
                              DataType type) {
  constexpr std::int64_t kInputs = 9;   // operations per element
  constexpr std::int64_t kWeights = 4;  // the same
  const std::int64_t elements = rows * width;
  NormBackward backward;
  backward.at_once = finds_both_at_once(rows, width);
  const std::int64_t operations = backward.at_once ? kInputs + kWeights : kInputs;
  backward.inputs =
      stream_of({.elements = elements, .read = read, .written = 1, .operations = operations}, type);
  if (!backward.at_once) {
    backward.weights = stream_of(
        {.elements = elements, .read = 2, .operations = kWeights, .down_columns = true}, type);
    return backward;
  }
  const std::int64_t parts = round_up(rows, kRowsOfWg);
  backward.inputs.written += bytes_of(parts * width, DataType::fp32);
  backward.weights = sum_of(parts, width, type);
  return backward;
}

}  // namespace weft
