// Units of the fields of results, and how values are shown to people.
#pragma once

#include <span>

namespace weft {

// A share is a fraction from 0 to 1, a ratio says how many times as much.
enum class Unit {
  text,
  count,
  share,
  ratio,
  us,
  s,
  gpu_hours,
  price,  // in the currency of run.gpu_hour_price
  bytes,
  flops,
  tflops_per_s,
  bytes_per_s,
  per_s
};

// How tables and charts write a value: a time in the unit that suits it, a share in percent.
enum class ShownAs { text, number, time, share, ratio };

const char* name_of(Unit unit);  // in files: "us"; "" where the field's meaning says it
ShownAs shown_as(Unit unit);
const char* name_of(ShownAs as);

// Times are shown in the largest of these that leaves a number of at least 1.
struct TimeScale {
  double us;
  const char* unit;
};
std::span<const TimeScale> time_scales();

// The unit that the end of an axis's name stands for (sim/scenario/axis_values.cc).
struct AxisUnit {
  const char* suffix;
  const char* unit;
};
std::span<const AxisUnit> axis_units();

}  // namespace weft
