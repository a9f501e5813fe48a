// Any bytes as a graph of four GPUs: what is accepted is written and reads back the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/models/join_ranks.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/graph/load_graph.h"
#include "sim/traces/import_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kGpus = 4;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const weft::LoadedTrace loaded = weft::load_graph_text(text, kGpus);
  if (!loaded.graph) return 0;
  weft::join_ranks(*loaded.graph).verify();
  const std::string written = weft::import_text(*loaded.graph, kGpus, weft::GraphText::yaml);
  const weft::LoadedTrace again = weft::load_graph_text(written, kGpus);
  SIM_ASSERT(again.graph.has_value());
  SIM_ASSERT(weft::import_text(*again.graph, kGpus, weft::GraphText::yaml) == written);
  return 0;
}
