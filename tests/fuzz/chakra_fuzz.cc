// Any bytes as a Chakra trace of a rank that stands for four GPUs: never a crash, a hang, or more
// memory than a small multiple of the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/traces/chakra/chakra_rank.h"
#include "sim/traces/chakra/process_groups.h"
#include "sim/traces/import_text.h"

namespace {

void read_as(std::string_view text, const weft::ChakraMeaning& meaning) {
  weft::TraceProblems problems("fuzz");
  const weft::ChakraFile file = weft::read_chakra(text, "fuzz.0.et", problems);
  if (problems.any()) return;
  weft::TraceSummary summary;
  weft::ChakraSums sums{.summary = summary, .counts = {}};
  weft::TraceGroups groups = weft::groups_of_all(1);
  for (const weft::ChakraNode& node : file.nodes) {
    if (!node.inputs.empty()) weft::take_listed_groups(node.inputs, 1, groups);
  }
  const weft::RankTrace rank = weft::read_rank(file, meaning, groups, sums, problems);
  if (problems.any()) return;
  const weft::MergedRanks merged = weft::merge_ranks({rank}, groups, meaning.gpus, problems);
  if (problems.any()) return;
  merged.graph.verify();
  weft::import_text(merged.graph, meaning.gpus, weft::GraphText::yaml);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weft::ChakraMeaning meaning{.gpus = 4, .one_for_all = true};
  read_as(text, meaning);
  meaning.cpu_ops = weft::CpuOps::run;
  meaning.waits_for = weft::WaitFor::blocking_collectives;
  read_as(text, meaning);
  return 0;
}
