// WgWalk: the requests of each WG of a kernel, one memory instruction at a time.
//
// What a WG requests depends only on its position in the grid, random rows included: on no other
// WG, and not on the order in which WGs run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/cache/accesses.h"
#include "sim/cache/level.h"
#include "sim/cache/rows.h"

namespace weft::cache {

// Where each array begins: one after another, each at a multiple of 4 KiB.
std::vector<std::int64_t> layout(std::span<const Array> arrays);
// The bytes of all arrays, as laid out.
Bytes footprint(std::span<const Array> arrays);

// Requests of one memory instruction. None of them: the compute of a step.
struct Turn {
  static constexpr std::uint32_t kMax = 32;
  Op op = Op::load;
  std::uint8_t instruction = 0;
  std::uint32_t count = 0;
  std::array<Line, kMax> lines{};
  std::array<std::uint8_t, kMax> sectors{};
};

struct WalkOptions {
  Bytes line;
  Bytes sector;
  std::uint64_t seed = 1;
  std::int64_t repeat = 0;
  std::uint32_t first_instruction = 0;
};

class WgWalk {
 public:
  WgWalk(const Kernel& kernel, std::span<const std::int64_t> begins, const WalkOptions& options);

  struct Cursor {
    std::int32_t row = 0;  // of the grid
    std::int32_t column = 0;
    std::int32_t part = 0;
    std::int32_t step = 0;    // -1: start; kernel.steps: end
    std::int32_t access = 0;  // of this step
    std::int64_t box_row = 0;
    std::int64_t at = 0;  // address in the row; `end`: a new row begins
    std::int64_t end = 0;
    std::int64_t box = 0;    // address of the box
    std::uint64_t bits = 0;  // random, of the WG
  };
  [[nodiscard]] std::int64_t wgs() const {
    return kernel_.grid_rows * kernel_.grid_columns * kernel_.grid_parts;
  }
  // The WG that starts as the n-th.
  [[nodiscard]] Cursor begin(std::int64_t n) const;
  // The next instruction of a WG; false: it has ended.
  bool next(Cursor& cursor, Turn& turn) const;

 private:
  struct Instruction {
    Access access;
    std::int64_t begin = 0;  // address of the array, offset and repeat included
    std::uint8_t number = 0;
    std::optional<RowDraw> draw{};  // of a gather
  };
  [[nodiscard]] const std::vector<Instruction>& list_at(std::int64_t step) const {
    return lists_[step < 0 ? 0 : step < kernel_.steps ? 1 : 2];
  }
  void begin_row(const Instruction& instruction, Cursor& cursor) const;
  void add_lines(Cursor& cursor, std::int64_t& room, Turn& turn) const;

  Kernel kernel_;
  std::uint64_t seed_;
  unsigned line_bits_;
  unsigned sector_bits_;
  std::array<std::vector<Instruction>, 3> lists_;  // start, step, end
};

}  // namespace weft::cache
