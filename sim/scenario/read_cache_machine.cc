#include <bit>
#include <string>
#include <utility>

#include "sim/cache/line_array.h"
#include "sim/cache/sectors.h"
#include "sim/scenario/names.h"
#include "sim/scenario/read_cache.h"

namespace weft {
namespace {

using cache::Dies;
using cache::DramSpec;
using cache::Hierarchy;
using cache::LevelSpec;
using cache::Replacement;

constexpr Range<std::int64_t> kParts{1, 65'536};
constexpr Range<Bytes> kSomeSize{bytes(1), kAnySize.high};

LevelSpec read_level(MapReader map) {
  LevelSpec level{
      .capacity = map.size("capacity", "of one cache of this level", kSomeSize),
      .slices = map.count_or("slices", 1, kParts, "of one cache, each with a port and MSHRs"),
      .ways = map.count("ways", {1, cache::kMaxWays}, "lines of a set"),
      .mshrs = map.count("mshrs", {1, 65'535}, "misses of a slice that wait for their data"),
      .bandwidth = map.bandwidth("bandwidth", "of one cache, all its slices together"),
      .latency = map.duration("latency", "of a load that this level answers"),
      .replacement = map.choice_or<Replacement>("replacement", Replacement::lru,
                                                names::kReplacements, "which line of a set goes")};
  map.finish();
  return level;
}

DramSpec read_dram(MapReader map) {
  DramSpec dram{
      .channels = map.count("channels", {2, 65'536}, "that move data at the same time"),
      .banks = map.count("banks", kParts, "of a channel, each with a row open"),
      .row = map.size("row", "what a bank holds open", kSomeSize),
      .bandwidth = map.bandwidth("bandwidth", "of all channels together"),
      .latency = map.duration("latency", "of a load that the DRAM answers from an open row"),
      .activate = map.duration("activate", "opening a row", {picoseconds(1), kHardwareTime.high}),
      .precharge = map.duration("precharge", "closing the row before it"),
      .activate_interval = map.duration("activate_interval", "between two rows of a channel"),
      .close_after = map.duration("close_after", "an idle bank closes its row"),
      .queue = map.count("queue", {1, 65'536},
                         "requests of a channel among which the scheduler"
                         " groups those of one row")};
  map.finish();
  return dram;
}

bool is_power_of_two(std::int64_t n) {
  return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// What must be so for several keys together.
class Rules {
 public:
  Rules(MapReader& map, const Hierarchy& machine) : map_(map), machine_(machine) {}

  void check() {
    check_sizes();
    check_level("l1", machine_.l1);
    check_level("l2", machine_.l2);
    if (machine_.side) check_level("side", *machine_.side);
    if (machine_.l1.slices != 1) {
      error_at("l1.slices", "an L1 is one slice");
    }
    const bool homes = machine_.dies > 1 && machine_.l2_dies == Dies::home;
    check_slices("l2", machine_.l2.slices * (homes ? machine_.dies : 1));
    if (machine_.side) check_slices("side", machine_.side->slices);
    if (!is_power_of_two(machine_.dram.banks)) {
      error_at("dram.banks", "must be a power of two");
    }
  }

 private:
  void check_sizes() {
    const std::int64_t line = machine_.line.count();
    const std::int64_t sector = machine_.sector.count();
    if (!is_power_of_two(line) || line < 32) {
      error_at("line", "must be a power of two of bytes, 32 B or more");
    }
    if (!is_power_of_two(sector) || line % sector != 0 || line / sector > cache::kMaxSectors) {
      error_at("sector", "must be a line, a half or a quarter of it");
    }
    if (!is_power_of_two(machine_.interleave.count()) || machine_.interleave < machine_.line) {
      error_at("interleave", "must be a power of two of lines");
    }
    const std::int64_t row = machine_.dram.row.count();
    if (!is_power_of_two(row) || row < line || row > 64 * line) {
      error_at("dram.row", "must be 1, 2, 4 ... 64 lines");
    }
  }
  void check_level(const std::string& name, const LevelSpec& level) {
    const std::int64_t set = machine_.line.count() * level.ways * level.slices;
    if (level.capacity.count() % set == 0 && is_power_of_two(level.capacity.count() / set)) return;
    error_at(name + ".capacity", "must be slices x ways x lines of " + std::to_string(set) +
                                     " B in all, times a power of two of sets; other ways may do");
  }
  void check_slices(const std::string& name, int slices) {
    if (machine_.dram.channels % slices == 0) return;
    error_at(name + ".slices", "there are " + std::to_string(slices) +
                                   " in all dies that are home; each must serve an"
                                   " equal part of the " +
                                   std::to_string(machine_.dram.channels) + " channels");
  }

  void error_at(const std::string& key, std::string message) {
    map_.reading().error_at_key(map_.path_of(key), std::move(message));
  }

  MapReader& map_;
  const Hierarchy& machine_;
};

}  // namespace

Hierarchy read_cache_machine(MapReader map) {
  Hierarchy machine{
      .name = map.name("name", "what reports call this machine"),
      .cus = map.count("cus", {1, 65'536}, "compute units, an L1 each"),
      .line = map.size("line", "of all levels", kSomeSize),
      .sector = map.size("sector", "part of a line that is moved by itself", kSomeSize),
      .interleave = map.size("interleave", "consecutive bytes of one channel", kSomeSize),
      .l1 = read_level(map.map("l1", "one of each CU")),
      .l2 = read_level(map.map("l2", "one of each die")),
      .dies = map.count_or("dies", 1, {1, 1'024}, "L2s; CUs are dealt to them in turn")};
  MapReader several = map.where(machine.dies > 1, "several dies");
  machine.l2_dies = several
                        .choice<Dies>("l2_dies", names::kDies,
                                      "home: each address has a die where the others look after"
                                      " it; apart: each caches for itself")
                        .value_or(Dies::home);
  machine.die_to_die =
      several.duration_or("die_to_die", Duration(), "more latency of a load that another answers");
  if (auto side = map.optional_map("side", "memory-side cache of all dies")) {
    machine.side = read_level(*side);
  }
  machine.dram = read_dram(map.map("dram", "behind the last cache"));
  map.finish();
  Reading& reading = map.reading();
  if (!reading.describes() && !reading.problems().has_errors()) Rules(map, machine).check();
  return machine;
}

}  // namespace weft
