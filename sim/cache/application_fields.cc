#include "sim/cache/application_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/cache/wg_walk.h"
#include "sim/spec/words.h"

namespace weft::cache {
namespace {

constexpr std::array kOps{Choice<Op>{"load", Op::load}, Choice<Op>{"store", Op::store}};
constexpr std::array kWhens{Choice<When>{"start", When::start}, Choice<When>{"step", When::step},
                            Choice<When>{"end", When::end}};
constexpr std::array kWalks{Choice<Walk>{"by_row", Walk::by_row},
                            Choice<Walk>{"by_column", Walk::by_column}};
constexpr Range<Bytes> kArraySize{bytes(1), bytes(64'000'000'000)};
constexpr Range<Bytes> kStride{bytes(0), kArraySize.high};
constexpr Range<std::int64_t> kGrid{1, 1'000'000};

// The names of the arrays as words, each with the array's index.
std::vector<Choice<int>> words_of(const std::vector<Array>& arrays) {
  std::vector<Choice<int>> words;
  words.reserve(arrays.size());
  for (const Array& array : arrays) {
    words.push_back({.name = array.name, .value = static_cast<int>(words.size())});
  }
  return words;
}

// A file gives it as a size; a kernel made in memory may also go backwards.
void stride(Fields& map, std::string_view key, std::int64_t& member, Key<Bytes> row) {
  Bytes size = bytes(member);
  row.range = kStride;
  if (!row.fallback) row.fallback = bytes(0);
  map.add(key, size, row);
  member = size.count();
}

}  // namespace

static void fields(Fields& map, Array& array) {
  map.name("name", array.name, "what accesses call it");
  map.add("size", array.size, {.help = "size of the array", .range = kArraySize});
}

static void fields(Fields& map, Gather& gather) {
  map.add("table_rows", gather.table_rows, {.help = "rows of the table, one pitch apart"});
  map.add(
      "zipf", gather.zipf,
      {.help = "row x has the weight (x + 1)^-zipf; 0: uniform", .range = {{0, 4}}, .fallback = 0});
}

static void fields(Fields& map, Access& access, const std::vector<Choice<int>>& arrays) {
  map.choice("op", access.op, kOps, {.help = "whether it loads or stores"});
  // Without arrays, which is a mistake of its own, no name is known to be wrong.
  map.only_if(arrays.empty() ? std::nullopt : std::optional(true), "")
      .choice("array", access.array, arrays, {.help = "name of one of the arrays"});
  map.choice("when", access.when, kWhens,
             {.help = "at the WG's start, in each step, or at its end", .fallback = When::step});
  stride(map, "per_row", access.per_row, {.help = "added offset per row of the grid"});
  stride(map, "per_column", access.per_column, {.help = "added offset per column of the grid"});
  stride(map, "per_part", access.per_part, {.help = "added offset per part of a grid position"});
  stride(map, "per_step", access.per_step, {.help = "added offset per step"});
  stride(map, "per_repeat", access.per_repeat, {.help = "added offset per repetition"});
  stride(map, "offset", access.offset, {.help = "where in the array the first box begins"});
  map.add("rows", access.rows, {.help = "rows of the box, or of a gather", .fallback = 1});
  map.add("row", access.row, {.help = "bytes of a row", .range = kArraySize});
  stride(map, "pitch", access.pitch,
         {.help = "distance from one row to the next", .fallback = access.row, .means = "row"});
  map.optional_map("gather", access.gather, "random rows of a table instead of a box");
}

static void fields(Fields& map, Kernel& kernel, const std::vector<Choice<int>>& arrays) {
  map.name("name", kernel.name, "what reports call it");
  map.add("rows", kernel.grid_rows, {.help = "size of the grid of WGs", .range = kGrid});
  map.add("columns", kernel.grid_columns,
          {.help = "size of the grid of WGs", .range = kGrid, .fallback = 1});
  map.add("parts", kernel.grid_parts,
          {.help = "WGs of each row and column, in turn", .range = kGrid, .fallback = 1});
  map.choice("walk", kernel.walk, kWalks,
             {.help = "which WGs start first", .fallback = Walk::by_row});
  map.where("walk", {"by_row"})
      .add("group", kernel.group,
           {.help = "rows walked together, column by column", .range = kGrid, .fallback = 1});
  map.add("steps", kernel.steps, {.help = "steps of each WG", .range = kGrid, .fallback = 1});
  map.add(
      "compute", kernel.compute,
      {.help = "compute time of a step, with all resident WGs at work", .fallback = Duration()});
  map.add("wgs_per_cu", kernel.wgs_per_cu, {.help = "resident", .range = {{1, 1'024}}});
  map.add(
      "in_flight", kernel.in_flight,
      {.help = "outstanding memory instructions of a WG", .range = {{1, 1'024}}, .fallback = 4});
  map.add("instruction", kernel.instruction,
          {.help = "bytes that one of them touches at most",
           .range = {{bytes(1), mebibytes(1)}},
           .fallback = kibibytes(4)});
  map.choice(
      "beside", kernel.beside, names::kTruths,
      {.help = "runs concurrently with each of the others, until either ends", .fallback = false});
  map.maps("accesses", kernel.accesses, "loads and stores, in their order",
           [&arrays](Fields& inner, Access& access) { fields(inner, access, arrays); });
}

namespace {

__extension__ using Position = __int128;  // in an array: keys multiply to more than 64 bits

// The first byte that no WG of the kernel touches with this access.
Position end_of(const Application& application, const Kernel& kernel, const Access& access) {
  const std::int64_t steps = access.when == When::step ? kernel.steps : 1;
  const std::int64_t rows = access.gather ? access.gather->table_rows : access.rows;
  return Position{access.offset} + Position{kernel.grid_rows - 1} * access.per_row +
         Position{kernel.grid_columns - 1} * access.per_column +
         Position{kernel.grid_parts - 1} * access.per_part + Position{steps - 1} * access.per_step +
         Position{application.repeats - 1} * access.per_repeat + Position{rows - 1} * access.pitch +
         access.row.count();
}

void check_bounds(Fields& map, const Application& application) {
  for (std::size_t k = 0; k < application.kernels.size(); ++k) {
    const Kernel& kernel = application.kernels[k];
    for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
      const Access& access = kernel.accesses[a];
      const Array& array = application.arrays[static_cast<std::size_t>(access.array)];
      const Position end = end_of(application, kernel, access);
      if (end <= array.size.count()) continue;
      const Position shown = std::min(end, Position{std::numeric_limits<std::int64_t>::max()});
      map.fail("kernels[" + std::to_string(k) + "].accesses[" + std::to_string(a) + "]",
               "reaches byte " + std::to_string(static_cast<std::int64_t>(shown)) + " of " +
                   array.name + ", which has " + std::to_string(array.size.count()));
    }
  }
}

// What must be so for several keys together.
void check(Fields& map, const Application& application) {
  check_bounds(map, application);
  const auto is_beside = [](const Kernel& kernel) { return kernel.beside; };
  if (std::all_of(application.kernels.begin(), application.kernels.end(), is_beside)) {
    map.fail("kernels", "at least one must not be `beside: true`");
  }
  if (footprint(application.arrays) > kArraySize.high) {
    map.fail("arrays", "must be at most 64 GB in total");
  }
}

}  // namespace

void fields(Fields& map, Application& application) {
  map.name("name", application.name, "what reports call it");
  map.add("repeats", application.repeats,
          {.help = "repetitions of all kernels, one after another",
           .range = {{1, 100'000}},
           .fallback = 1});
  map.maps("arrays", application.arrays, "the arrays that the kernels access",
           [](Fields& inner, Array& array) { fields(inner, array); });
  const std::vector<Choice<int>> arrays = words_of(application.arrays);
  map.maps("kernels", application.kernels, "the kernels, run one after another",
           [&arrays](Fields& inner, Kernel& kernel) { fields(inner, kernel, arrays); });
  if (map.reads_well()) check(map, application);
}

}  // namespace weft::cache
