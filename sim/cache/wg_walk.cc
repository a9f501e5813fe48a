#include "sim/cache/wg_walk.h"

#include <algorithm>
#include <bit>

#include "sim/core/assert.h"
#include "sim/core/rng.h"

namespace weft::cache {
namespace {

constexpr std::int64_t kAlignment = 4096;

std::int64_t aligned(std::int64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

unsigned bits_of(Bytes power_of_two) {
  const auto count = static_cast<std::uint64_t>(power_of_two.count());
  SIM_ASSERT(std::has_single_bit(count));
  return static_cast<unsigned>(std::countr_zero(count));
}

}  // namespace

std::vector<std::int64_t> layout(std::span<const Array> arrays) {
  std::vector<std::int64_t> begins;
  std::int64_t next = 0;
  for (const Array& array : arrays) {
    begins.push_back(next);
    next += aligned(array.size.count());
  }
  return begins;
}

Bytes footprint(std::span<const Array> arrays) {
  Bytes all;
  for (const Array& array : arrays) all += bytes(aligned(array.size.count()));
  return all;
}

WgWalk::WgWalk(const Kernel& kernel, std::span<const std::int64_t> begins,
               const WalkOptions& options)
    : kernel_(kernel),
      seed_(mix64(options.seed) ^ mix64(static_cast<std::uint64_t>(options.repeat) + 1)),
      line_bits_(bits_of(options.line)),
      sector_bits_(bits_of(options.sector)) {
  std::uint32_t number = options.first_instruction;
  for (const Access& access : kernel.accesses) {
    const std::int64_t begin = begins[static_cast<std::size_t>(access.array)] + access.offset +
                               options.repeat * access.per_repeat;
    Instruction instruction{.access = access,
                            .begin = begin,
                            .number = static_cast<std::uint8_t>(number++ % kInstructions)};
    if (access.gather) instruction.draw.emplace(*access.gather);
    lists_[static_cast<std::size_t>(access.when)].push_back(instruction);
  }
}

WgWalk::Cursor WgWalk::begin(std::int64_t n) const {
  Cursor cursor;
  cursor.part = static_cast<std::int32_t>(n % kernel_.grid_parts);
  n /= kernel_.grid_parts;
  if (kernel_.walk == Walk::by_column) {
    cursor.row = static_cast<std::int32_t>(n % kernel_.grid_rows);
    cursor.column = static_cast<std::int32_t>(n / kernel_.grid_rows);
  } else {
    const std::int64_t in_group = kernel_.group * kernel_.grid_columns;
    const std::int64_t first = n / in_group * kernel_.group;
    const std::int64_t rows = std::min(kernel_.group, kernel_.grid_rows - first);
    cursor.row = static_cast<std::int32_t>(first + n % in_group % rows);
    cursor.column = static_cast<std::int32_t>(n % in_group / rows);
  }
  cursor.step = -1;
  const std::int64_t place = cursor.row * kernel_.grid_columns + cursor.column;
  const auto wg = static_cast<std::uint64_t>(place * kernel_.grid_parts + cursor.part);
  cursor.bits = mix64(seed_ + wg * 0x9E3779B97F4A7C15ULL);
  return cursor;
}

void WgWalk::begin_row(const Instruction& instruction, Cursor& cursor) const {
  const Access& access = instruction.access;
  const std::int64_t step = access.when == When::step ? cursor.step : 0;
  if (cursor.box_row == 0) {
    cursor.box = instruction.begin + cursor.row * access.per_row +
                 cursor.column * access.per_column + cursor.part * access.per_part +
                 step * access.per_step;
  }
  std::int64_t row = cursor.box_row;
  if (instruction.draw) {
    const auto nth = static_cast<std::uint64_t>(step * access.rows + row);
    row = instruction.draw->row(mix64(cursor.bits ^ (nth * kInstructions + instruction.number)));
  }
  cursor.at = cursor.box + row * access.pitch;
  cursor.end = cursor.at + access.row.count();
}

// Lines of the present row, as many as the instruction still has room for.
void WgWalk::add_lines(Cursor& cursor, std::int64_t& room, Turn& turn) const {
  const std::int64_t line_size = std::int64_t{1} << line_bits_;
  while (cursor.at < cursor.end && room > 0 && turn.count < Turn::kMax) {
    const std::int64_t line = cursor.at >> line_bits_;
    const std::int64_t from = cursor.at & (line_size - 1);
    const std::int64_t until = std::min(cursor.end - (line << line_bits_), line_size);
    const auto first = static_cast<unsigned>(from >> sector_bits_);
    const auto last = static_cast<unsigned>((until - 1) >> sector_bits_);
    turn.lines[turn.count] = static_cast<Line>(line);
    turn.sectors[turn.count] = static_cast<std::uint8_t>((2U << last) - (1U << first));
    ++turn.count;
    room -= until - from;
    cursor.at += until - from;
  }
}

bool WgWalk::next(Cursor& cursor, Turn& turn) const {
  turn.count = 0;
  while (cursor.access == std::ssize(list_at(cursor.step))) {
    const bool computes = 0 <= cursor.step && cursor.step < kernel_.steps;
    if (++cursor.step > kernel_.steps) return false;
    cursor.access = 0;
    if (computes && kernel_.compute > Duration()) return true;
  }
  const Instruction& instruction = list_at(cursor.step)[static_cast<std::size_t>(cursor.access)];
  turn.op = instruction.access.op;
  turn.instruction = instruction.number;
  std::int64_t room = kernel_.instruction.count();
  while (room > 0 && turn.count < Turn::kMax) {
    if (cursor.at == cursor.end) begin_row(instruction, cursor);
    add_lines(cursor, room, turn);
    if (cursor.at < cursor.end) break;
    if (++cursor.box_row == instruction.access.rows) {
      cursor.box_row = 0;
      ++cursor.access;
      break;
    }
  }
  return true;
}

}  // namespace weft::cache
