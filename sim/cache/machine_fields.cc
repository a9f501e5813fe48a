#include "sim/cache/machine_fields.h"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "sim/cache/line_array.h"
#include "sim/cache/sectors.h"
#include "sim/spec/words.h"

namespace weft::cache {
namespace {

constexpr std::array kReplacements = {
    Choice<Replacement>{"lru", Replacement::lru},
    Choice<Replacement>{"random", Replacement::random},
};
constexpr std::array kDies = {
    Choice<Dies>{"home", Dies::home},
    Choice<Dies>{"apart", Dies::apart},
};

constexpr Range<int> kParts{1, 65'536};
constexpr Range<Bytes> kSomeSize{bytes(1), kAnySize.high};

}  // namespace

static void fields(Fields& map, LevelSpec& level) {
  map.add("capacity", level.capacity,
          {.help = "capacity of one cache of this level", .range = kSomeSize});
  map.add(
      "slices", level.slices,
      {.help = "slices of one cache, each with a port and MSHRs", .range = kParts, .fallback = 1});
  map.add("ways", level.ways, {.help = "lines per set", .range = {{1, kMaxWays}}});
  map.add("mshrs", level.mshrs, {.help = "outstanding misses per slice", .range = {{1, 65'535}}});
  map.add("bandwidth", level.bandwidth, {.help = "bandwidth of one cache, all slices together"});
  map.add("latency", level.latency, {.help = "latency of a load that this level answers"});
  map.choice("replacement", level.replacement, kReplacements,
             {.help = "which line of a set is replaced", .fallback = Replacement::lru});
}

static void fields(Fields& map, DramSpec& dram) {
  map.add("channels", dram.channels,
          {.help = "channels that move data concurrently", .range = {{2, 65'536}}});
  map.add("banks", dram.banks,
          {.help = "banks per channel, each with one open row", .range = kParts});
  map.add("row", dram.row, {.help = "size of a row, which a bank holds open", .range = kSomeSize});
  map.add("bandwidth", dram.bandwidth, {.help = "bandwidth of all channels together"});
  map.add("latency", dram.latency, {.help = "latency of a load from an open row"});
  map.add("activate", dram.activate,
          {.help = "time to open a row", .range = {{picoseconds(1), kHardwareTime.high}}});
  map.add("precharge", dram.precharge, {.help = "time to close the previous row"});
  map.add("activate_interval", dram.activate_interval,
          {.help = "least time between activations in a channel"});
  map.add("close_after", dram.close_after,
          {.help = "time after which an idle bank closes its row"});
  map.add(
      "queue", dram.queue,
      {.help = "queued requests of a channel among which the scheduler groups those for one row",
       .range = {{1, 65'536}}});
}

namespace {

bool is_power_of_two(std::int64_t n) {
  return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// What must be so for several keys together.
class Rules {
 public:
  Rules(Fields& map, const Hierarchy& machine) : map_(map), machine_(machine) {}

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
      error_at("sector", "must be a line, half a line or a quarter of a line");
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
    error_at(name + ".capacity",
             "must be slices x ways x line of " + std::to_string(set) +
                 " B, times a power of two of sets; another number of ways may fit");
  }
  void check_slices(const std::string& name, int slices) {
    if (machine_.dram.channels % slices == 0) return;
    error_at(name + ".slices", "there are " + std::to_string(slices) +
                                   " in all home dies; each must serve an equal part of the " +
                                   std::to_string(machine_.dram.channels) + " channels");
  }

  void error_at(const std::string& key, std::string message) { map_.fail(key, std::move(message)); }

  Fields& map_;
  const Hierarchy& machine_;
};

}  // namespace

void fields(Fields& map, Hierarchy& machine) {
  map.name("name", machine.name, "what reports call this machine");
  map.add("cus", machine.cus, {.help = "compute units, each with an L1", .range = {{1, 65'536}}});
  map.add("line", machine.line, {.help = "line size of all levels", .range = kSomeSize});
  map.add("sector", machine.sector,
          {.help = "part of a line that is moved on its own", .range = kSomeSize});
  map.add("interleave", machine.interleave,
          {.help = "consecutive bytes in one channel", .range = kSomeSize});
  map.map("l1", machine.l1, "one per CU");
  map.map("l2", machine.l2, "one per die");
  map.add("dies", machine.dies,
          {.help = "dies with an L2 each; CUs are distributed over them in turn",
           .range = {{1, 1'024}},
           .fallback = 1});
  Fields several = map.only_if(machine.dies > 1, "several dies");
  several.choice("l2_dies", machine.l2_dies, kDies,
                 {.help = "home: each address has a home die, where the others look after their "
                          "own; apart: each die caches for itself"});
  several.add("die_to_die", machine.die_to_die,
              {.help = "added latency of a load that another die answers", .fallback = Duration()});
  map.optional_map("side", machine.side, "memory-side cache of all dies");
  map.map("dram", machine.dram, "the DRAM, after the last cache");
  if (map.reads_well()) Rules(map, machine).check();
}

}  // namespace weft::cache
