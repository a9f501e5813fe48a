#include <algorithm>
#include <limits>
#include <string>

#include "sim/cache/wg_walk.h"
#include "sim/scenario/read_cache.h"
#include "sim/spec/words.h"

namespace weft {
namespace {

using cache::Access;
using cache::Application;
using cache::Array;
using cache::Gather;
using cache::Kernel;
using cache::Op;
using cache::Walk;
using cache::When;

constexpr std::array kOps{Choice<Op>{"load", Op::load}, Choice<Op>{"store", Op::store}};
constexpr std::array kWhens{Choice<When>{"start", When::start}, Choice<When>{"step", When::step},
                            Choice<When>{"end", When::end}};
constexpr std::array kWalks{Choice<Walk>{"by_row", Walk::by_row},
                            Choice<Walk>{"by_column", Walk::by_column}};
constexpr Range<Bytes> kArraySize{bytes(1), bytes(64'000'000'000)};
constexpr Range<Bytes> kStride{bytes(0), kArraySize.high};
constexpr Range<std::int64_t> kGrid{1, 1'000'000};

Array read_array(MapReader map) {
  Array array{.name = map.name("name", "what accesses call it"),
              .size = map.size("size", "size of the array", kArraySize)};
  map.finish();
  return array;
}

Gather read_gather_access(MapReader map) {
  const Gather gather{
      .table_rows = map.integer("table_rows", kCount, "rows of the table, one pitch apart"),
      .zipf = map.number_or("zipf", 0, {0, 4}, "row x has the weight (x + 1)^-zipf; 0: uniform")};
  map.finish();
  return gather;
}

int read_array_of(MapReader& map, const std::vector<Array>& arrays) {
  const std::string name = map.name("array", "name of one of the arrays");
  std::vector<std::string> known;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name == name) return static_cast<int>(i);
    known.push_back(arrays[i].name);
  }
  if (map.reading().describes() || name.empty()) return 0;
  std::string message = "no array has this name; there are";
  for (const std::string& one : known) message += ' ' + one;
  map.reading().error_at_key(map.path_of("array"), message);
  return 0;
}

std::int64_t stride(MapReader& map, std::string_view key, std::string_view help) {
  return map.size_or(key, bytes(0), help, kStride).count();
}

Access read_access(MapReader map, const std::vector<Array>& arrays) {
  Access access;
  access.op = map.choice<Op>("op", kOps, "whether it loads or stores").value_or(Op::load);
  access.array = read_array_of(map, arrays);
  access.when = map.choice_or<When>("when", When::step, kWhens,
                                    "at the WG's start, in each step, or at its end");
  access.per_row = stride(map, "per_row", "added offset per row of the grid");
  access.per_column = stride(map, "per_column", "added offset per column of the grid");
  access.per_part = stride(map, "per_part", "added offset per part of a grid position");
  access.per_step = stride(map, "per_step", "added offset per step");
  access.per_repeat = stride(map, "per_repeat", "added offset per repetition");
  access.offset = stride(map, "offset", "where in the array the first box begins");
  access.rows = map.integer_or("rows", 1, kCount, "rows of the box, or of a gather");
  access.row = map.size("row", "bytes of a row", kArraySize);
  access.pitch =
      map.size_or("pitch", access.row, "distance from one row to the next; default: row", kStride)
          .count();
  if (auto gather = map.optional_map("gather", "random rows of a table instead of a box")) {
    access.gather = read_gather_access(*gather);
  }
  map.finish();
  return access;
}

Kernel read_kernel(MapReader map, const std::vector<Array>& arrays) {
  Kernel kernel;
  kernel.name = map.name("name", "what reports call it");
  kernel.grid_rows = map.integer("rows", kGrid, "size of the grid of WGs");
  kernel.grid_columns = map.integer_or("columns", 1, kGrid, "size of the grid of WGs");
  kernel.grid_parts = map.integer_or("parts", 1, kGrid, "WGs of each row and column, in turn");
  kernel.walk = map.choice_or<Walk>("walk", Walk::by_row, kWalks, "which WGs start first");
  kernel.group = map.where(kernel.walk == Walk::by_row, "walk: by_row")
                     .integer_or("group", 1, kGrid, "rows walked together, column by column");
  kernel.steps = map.integer_or("steps", 1, kGrid, "steps of each WG");
  kernel.compute = map.duration_or("compute", Duration(),
                                   "compute time of a step, with all resident WGs at work");
  kernel.wgs_per_cu = map.count("wgs_per_cu", {1, 1'024}, "resident");
  kernel.in_flight =
      map.count_or("in_flight", 4, {1, 1'024}, "outstanding memory instructions of a WG");
  kernel.instruction =
      map.size_or("instruction", kibibytes(4), "bytes that one of them touches at most",
                  {bytes(1), mebibytes(1)});
  kernel.beside = map.choice_or("beside", false, names::table(names::kTruths),
                                "runs concurrently with each of the others, until either ends");
  for (MapReader& access : map.maps("accesses", "loads and stores, in their order")) {
    kernel.accesses.push_back(read_access(access, arrays));
  }
  map.finish();
  return kernel;
}

// The first byte that no WG of the kernel touches with this access.
__extension__ using Wide = __int128;
Wide end_of(const Application& application, const Kernel& kernel, const Access& access) {
  const std::int64_t steps = access.when == When::step ? kernel.steps : 1;
  const std::int64_t rows = access.gather ? access.gather->table_rows : access.rows;
  return Wide{access.offset} + Wide{kernel.grid_rows - 1} * access.per_row +
         Wide{kernel.grid_columns - 1} * access.per_column +
         Wide{kernel.grid_parts - 1} * access.per_part + Wide{steps - 1} * access.per_step +
         Wide{application.repeats - 1} * access.per_repeat + Wide{rows - 1} * access.pitch +
         access.row.count();
}

void check_bounds(Reading& reading, const Application& application) {
  for (std::size_t k = 0; k < application.kernels.size(); ++k) {
    const Kernel& kernel = application.kernels[k];
    for (std::size_t a = 0; a < kernel.accesses.size(); ++a) {
      const Access& access = kernel.accesses[a];
      const Array& array = application.arrays[static_cast<std::size_t>(access.array)];
      const Wide end = end_of(application, kernel, access);
      if (end <= array.size.count()) continue;
      const Wide shown = std::min(end, Wide{std::numeric_limits<std::int64_t>::max()});
      reading.error_at_key("kernels[" + std::to_string(k) + "].accesses[" + std::to_string(a) + "]",
                           "reaches byte " + std::to_string(static_cast<std::int64_t>(shown)) +
                               " of " + array.name + ", which has " +
                               std::to_string(array.size.count()));
    }
  }
}

}  // namespace

Application read_cache_application(MapReader map) {
  Application application{
      .name = map.name("name", "what reports call it"),
      .repeats = map.integer_or("repeats", 1, {1, 100'000},
                                "repetitions of all kernels, one after another")};
  for (MapReader& array : map.maps("arrays", "the arrays that the kernels access")) {
    application.arrays.push_back(read_array(array));
  }
  for (MapReader& kernel : map.maps("kernels", "the kernels, run one after another")) {
    application.kernels.push_back(read_kernel(kernel, application.arrays));
  }
  map.finish();
  Reading& reading = map.reading();
  if (reading.describes() || reading.problems().has_errors()) return application;
  check_bounds(reading, application);
  const auto is_beside = [](const Kernel& kernel) { return kernel.beside; };
  if (std::all_of(application.kernels.begin(), application.kernels.end(), is_beside)) {
    reading.error_at_key("kernels", "at least one must not be `beside: true`");
  }
  if (cache::footprint(application.arrays) > kArraySize.high) {
    reading.error_at_key("arrays", "must be at most 64 GB in total");
  }
  return application;
}

}  // namespace weft
