// Fabrics as a scenario says them.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/network/network_fields.h"
#include "sim/spec/tree.h"

namespace weft {

// Of `shape` with the keys beside it, "torus, dims: [4, 3]". Round numbers for worked examples: 1
// GB/s is one byte a nanosecond.
inline FabricSpec fabric(const std::string& shape, Duration latency = nanoseconds(0)) {
  Reading reading(Reading::Purpose::read);
  Diagnostics mistakes;
  const std::string text = "{shape: " + shape + ", link: {bandwidth: 1 GB/s, latency: 0 ns}}";
  const auto root = parse_tree({.file = "fabric", .text = text}, mistakes);
  if (!root) throw std::invalid_argument(mistakes.to_text());
  FabricSpec spec;
  read_fields(MapReader(reading, *root),
              [&spec](Fields& map) { fields(map, spec, Fabric::scale_up); });
  if (reading.problems().has_errors()) throw std::invalid_argument(reading.problems().to_text());
  spec.link.latency = latency;
  return spec;
}

}  // namespace weft
