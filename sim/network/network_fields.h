// The keys of a fabric, a NIC and a degraded link (sim/spec/fields.h).
#pragma once

#include "sim/network/network_spec.h"
#include "sim/spec/fields.h"

namespace weft {

void fields(Fields& map, FabricSpec& fabric, Fabric which);
void fields(Fields& map, NicSpec& nic);
void fields(Fields& map, DegradedLink& link);

// For what is slower than it should be; at 0 no run would ever end.
constexpr Range<double> kShareLeft{0.001, 1};

// For a measured rate given as a ratio to a link's bandwidth: on a link half as fast it is half.
constexpr Range<double> kMeasuredRatio{0.01, 2};

}  // namespace weft
