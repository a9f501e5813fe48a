// What a kernel reads and writes, and in what order: enough to make the addresses of every WG.
//
// A WG runs the accesses at its `start`, then `steps` times those of each step, then those at its
// `end`. An access is one load or store instruction: a box of rows,
//
//   address = array + i row_of_grid + j column_of_grid + p part + s step + r pitch,
//   r = 0 .. rows - 1
//
// of `row` bytes each. A stream is a box of one row, a stride one whose pitch is longer than its
// row, a tile of a GEMM operand a box that moves along k with the steps. A gather takes random
// rows of a table instead: r pitch becomes x pitch, x drawn from the rows of the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.h"

namespace weft::cache {

struct Array {
  std::string name{};
  Bytes size{};
};

enum class Op : std::uint8_t { load, store };
enum class When : std::uint8_t { start, step, end };

// Random rows of a table. Row x has a weight of (x + 1) ^ -zipf; 0 is uniform.
struct Gather {
  std::int64_t table_rows = 0;
  double zipf = 0;
};

struct Access {
  Op op = Op::load;
  When when = When::step;
  int array = 0;  // index into the arrays
  // How far the box moves; may be negative.
  std::int64_t per_row = 0;     // with the WG's row in the grid
  std::int64_t per_column = 0;  // with its column
  std::int64_t per_part = 0;    // with its part of them
  std::int64_t per_step = 0;
  std::int64_t per_repeat = 0;  // with each repetition of the kernels
  std::int64_t offset = 0;
  std::int64_t rows = 1;
  Bytes row{};  // bytes of a row
  std::int64_t pitch = 0;
  std::optional<Gather> gather{};
};

// The order in which the WGs of a grid start.
enum class Walk : std::uint8_t { by_row, by_column };

struct Kernel {
  std::string name{};
  std::int64_t grid_rows = 1;
  std::int64_t grid_columns = 1;
  std::int64_t grid_parts = 1;  // WGs of one row and column, that start one after another
  Walk walk = Walk::by_row;
  std::int64_t group = 1;  // by_row: so many rows together, column by column
  std::int64_t steps = 1;
  Duration compute{};   // of a WG, each step, with all its neighbours at work
  int wgs_per_cu = 1;   // resident
  int in_flight = 8;    // memory instructions of a WG's waves that may wait at once
  Bytes instruction{};  // what one of them touches at most
  // Runs concurrently with each of the others, from the other's start until either ends.
  bool beside = false;
  std::vector<Access> accesses{};
};

// Kernels that run one after another, all of them `repeats` times; those `beside` them each time.
struct Application {
  std::string name{};
  std::vector<Array> arrays{};
  std::vector<Kernel> kernels{};
  std::int64_t repeats = 1;
};

}  // namespace weft::cache
