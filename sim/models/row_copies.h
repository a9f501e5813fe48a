// Rows put in another order, as PyTorch's kernels do it: taken by index, and added up by index.
// Rates and kernels: [M] an H100, calibration/measurements/h100-pytorch-row_copies.jsonl; where it
// says so, a profile of a step.
#pragma once

#include <cstdint>
#include <string>

#include "sim/models/block_writer.h"

namespace weft {

// `rows` rows, each the copy of one of `sources` rows (or what is added to it), as many of them to
// each.
struct RowMove {
  std::string name;
  std::string part;
  std::int64_t rows = 0;
  std::int64_t sources = 0;
  std::int64_t width = 0;  // elements of a row
  Bytes row_size;
  Bytes source_size;
  PlaceId place;
};

// rows = sources[index]: in any order at the speed of the memory, where a source is read once.
void take_rows(BlockWriter& out, const RowMove& move);

// sources[index] = rows (index_put_): no two have the same place, but each element looks it up.
void place_rows(BlockWriter& out, const RowMove& move);

// sources += rows, the way back of sources[index] (index_put_ with accumulate): zeros, the indices
// sorted, then the rows of each source added up one after another.
void add_rows_sorted(BlockWriter& out, const RowMove& move);

// The same by atomic additions (scatter_add_): zeros, then all rows in any order.
void scatter_add_rows(BlockWriter& out, const RowMove& move);

}  // namespace weft
