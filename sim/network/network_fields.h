// The keys of a fabric, a NIC and a degraded link (sim/spec/fields.h).
#pragma once

#include "sim/network/network_spec.h"
#include "sim/spec/fields.h"

namespace weft {

void fields(Fields& map, FabricSpec& fabric, Fabric which);
void fields(Fields& map, NicSpec& nic);
void fields(Fields& map, DegradedLink& link);

// Of what is slower than it should be; at 0 nothing would ever end.
constexpr Range<double> kShareLeft{0.001, 1};

// What was measured on a link rests on it: a link half as fast has half of it.
constexpr Range<double> kMeasuredRatio{0.01, 2};

}  // namespace weft
