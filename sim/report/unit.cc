#include "sim/report/unit.h"

#include <array>

#include "sim/core/assert.h"

namespace weft {
namespace {

struct UnitRow {
  Unit unit;
  const char* name;
  ShownAs as;
};
constexpr auto kUnits = std::to_array<UnitRow>({
    {Unit::text, "", ShownAs::text},
    {Unit::count, "", ShownAs::number},
    {Unit::share, "", ShownAs::share},
    {Unit::ratio, "", ShownAs::ratio},
    {Unit::us, "us", ShownAs::time},
    {Unit::s, "s", ShownAs::number},
    {Unit::gpu_hours, "GPU h", ShownAs::number},
    {Unit::price, "currency", ShownAs::number},
    {Unit::bytes, "B", ShownAs::number},
    {Unit::flops, "FLOP", ShownAs::number},
    {Unit::tflops_per_s, "TFLOP/s", ShownAs::number},
    {Unit::bytes_per_s, "B/s", ShownAs::number},
    {Unit::per_s, "1/s", ShownAs::number},
});

constexpr auto kTimeScales = std::to_array<TimeScale>({{1e6, "s"}, {1e3, "ms"}, {1, "us"}});

constexpr auto kAxisUnits = std::to_array<AxisUnit>({{"_us", "us"},
                                                     {"_bytes", "bytes"},
                                                     {"_gbps", "Gb/s"},
                                                     {"_tflops", "TFLOP/s"},
                                                     {"_m_per_s", "million/s"}});

const UnitRow& unit_row(Unit unit) {
  for (const UnitRow& row : kUnits) {
    if (row.unit == unit) return row;
  }
  SIM_ASSERT(false);
}

}  // namespace

const char* name_of(Unit unit) { return unit_row(unit).name; }

ShownAs shown_as(Unit unit) { return unit_row(unit).as; }

const char* name_of(ShownAs as) {
  switch (as) {
    case ShownAs::text:
      return "text";
    case ShownAs::number:
      return "number";
    case ShownAs::time:
      return "time";
    case ShownAs::share:
      return "share";
    case ShownAs::ratio:
      return "ratio";
  }
  SIM_ASSERT(false);
}

std::span<const TimeScale> time_scales() { return kTimeScales; }

std::span<const AxisUnit> axis_units() { return kAxisUnits; }

}  // namespace weft
