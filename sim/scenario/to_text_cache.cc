#include "sim/scenario/names.h"
#include "sim/scenario/units.h"
#include "sim/scenario/writer.h"

namespace weft {
namespace {

void write_level(Writer& out, std::string_view key, const cache::LevelSpec& level) {
  out.open(key);
  out.line("capacity", to_text(level.capacity));
  out.line("slices", level.slices);
  out.line("ways", level.ways);
  out.line("mshrs", level.mshrs);
  out.line("bandwidth", to_text(level.bandwidth));
  out.line("latency", to_text(level.latency));
  out.line("replacement", names::word(names::kReplacements, level.replacement));
  out.close();
}

void write_dram(Writer& out, const cache::DramSpec& dram) {
  out.open("dram");
  out.line("channels", dram.channels);
  out.line("banks", dram.banks);
  out.line("row", to_text(dram.row));
  out.line("bandwidth", to_text(dram.bandwidth));
  out.line("latency", to_text(dram.latency));
  out.line("activate", to_text(dram.activate));
  out.line("precharge", to_text(dram.precharge));
  out.line("activate_interval", to_text(dram.activate_interval));
  out.line("close_after", to_text(dram.close_after));
  out.line("queue", dram.queue);
  out.close();
}

}  // namespace

void write_cache_machine(Writer& out, std::string_view key, const cache::Hierarchy& machine) {
  out.open(key);
  out.quoted("name", machine.name);
  out.line("cus", machine.cus);
  out.line("line", to_text(machine.line));
  out.line("sector", to_text(machine.sector));
  out.line("interleave", to_text(machine.interleave));
  write_level(out, "l1", machine.l1);
  write_level(out, "l2", machine.l2);
  out.line("dies", machine.dies);
  if (machine.dies > 1) {
    out.line("l2_dies", names::word(names::kDies, machine.l2_dies));
    out.line("die_to_die", to_text(machine.die_to_die));
  }
  if (machine.side) write_level(out, "side", *machine.side);
  write_dram(out, machine.dram);
  out.close();
}

}  // namespace weft
