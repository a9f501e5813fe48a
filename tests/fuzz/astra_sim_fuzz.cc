// Any bytes as a network file of ASTRA-sim.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/scenario/astra_sim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weft::Diagnostics problems;
  const auto tree = weft::parse_tree({.file = "network.yml", .text = text}, problems);
  if (tree) weft::cluster_of_astra_sim(*tree, "network", problems);
  return 0;
}
