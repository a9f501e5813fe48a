// Graphs in files: reads one into a ModelGraph.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/models/fusions.h"
#include "sim/traces/found_blocks.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/graph/load_graph.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/problems.h"
#include "sim/traces/totals.h"

namespace weft {
namespace {

// Of a tree with positions, and of what is read from it, for each byte of text.
constexpr std::int64_t kMemoryOfByte = 100;

// What a file of so many bytes may have when its aliases are expanded: maps lie deeper in one
// another than in other files, and each letter counts once a level.
std::size_t longest_of(std::size_t size) { return std::max(4 * size, kMaxSourceBytes); }

// The first problems, and how many there are.
Diagnostics first_of(const Diagnostics& in_text, const Diagnostics& in_keys,
                     const std::string& file) {
  Diagnostics all = in_text;
  all.append(in_keys);
  const std::size_t found = all.all().size();
  if (found <= TraceProblems::kListed) return all;
  Diagnostics first;
  for (std::size_t i = 0; i < TraceProblems::kListed; ++i) first.add(all.all()[i]);
  Diagnostic more;
  more.at.file = file;
  more.message = fmt::format("{} problems; the first {} are listed", found, TraceProblems::kListed);
  first.add(std::move(more));
  return first;
}

void summarize(const std::string& path, int gpus, const ModelGraph& graph, TraceSummary& summary) {
  summary.trace = path;
  summary.writer = "a graph of operators";
  summary.ranks = static_cast<std::size_t>(gpus);
  summary.nodes = graph.ops.size();
  add_simulated(graph, summary);
  for (auto& [part, total] : summary.by_kind) {
    total.nodes = total.operators;
    total.bytes_found = total.bytes_simulated;
  }
  for (const ModelOp& op : graph.ops) {
    const auto* kernel = std::get_if<RecordedShape>(&op.shape);
    if (kernel == nullptr) continue;
    for (const auto& group : graph.places[op.place].groups) {
      for (std::size_t rank = 0; rank < group.size(); ++rank) {
        add_saturating(summary.recorded, kernel->time);
      }
    }
  }
}

void tell(const GraphRecording& recording, const ModelGraph& graph, TraceSummary& summary) {
  summary.device = {.name = recording.gpu, .cus = recording.cus};
  if (recording.step == Duration{}) return;
  const bool with_host = std::any_of(graph.ops.begin(), graph.ops.end(), is_host_time);
  summary.step = RecordedStep{.time = recording.step,
                              .idle = recording.idle,
                              .unlaunched = recording.unlaunched,
                              .with_host = with_host};
  summary.notes.push_back(to_text(*summary.step));
}

// Reads the file's tree, once it is known.
std::optional<ModelGraph> graph_of_tree(const Node* tree, int gpus, Reading& reading,
                                        TraceSummary& summary) {
  if (tree == nullptr) return std::nullopt;
  if (tree->kind != Node::Kind::map) {
    reading.error(tree->at, "",
                  "a graph must be a map of keys and values, not " + std::string(kind_text(*tree)));
    return std::nullopt;
  }
  GraphFile file;
  read_fields(MapReader(reading, *tree), [&](Fields& map) { fields(map, file); });
  std::optional<ModelGraph> graph = graph_of(file, gpus, reading);
  if (graph && file.recording) tell(*file.recording, *graph, summary);
  return graph;
}

LoadedTrace load_graph(const SourceFiles& files, const Node* tree, const std::string& name,
                       int gpus, const Diagnostics& found) {
  LoadedTrace loaded;
  Reading reading(Reading::Purpose::read, name);
  loaded.graph = graph_of_tree(tree, gpus, reading, loaded.summary);
  if (found.has_errors()) loaded.graph.reset();
  const Diagnostics first = first_of(found, reading.problems(), name);
  loaded.problems = with_lines({&first}, files);
  loaded.inputs = files.inputs();
  if (loaded.graph) {
    loaded.graph->verify();
    summarize(name, gpus, *loaded.graph, loaded.summary);
  }
  return loaded;
}

}  // namespace

LoadedTrace load_graph_text(std::string_view text, int gpus) {
  SourceFiles files(longest_of(text.size()));
  Diagnostics problems;
  const Node* tree = files.tree_of_text(text, "graph.yaml", problems);
  return load_graph(files, tree, "graph.yaml", gpus, problems);
}

namespace readers {

LoadedTrace graph(const TraceWork& work, int gpus, Bytes memory) {
  TraceProblems too_large(work.path, memory);
  std::error_code ignored;  // whoever reads the file says what is wrong with it
  const auto size = std::filesystem::file_size(work.path, ignored);
  if (!ignored && size > kMaxSourceBytes &&
      !too_large.fits(work.path, static_cast<std::int64_t>(size) * kMemoryOfByte)) {
    return {.graph = std::nullopt, .problems = too_large.all(), .summary = {}, .inputs = {}};
  }
  SourceFiles files(longest_of(ignored ? 0 : size));
  Diagnostics problems;
  const Node* tree = files.tree_of(work.path, {.file = work.path}, problems);
  LoadedTrace loaded = load_graph(files, tree, work.path, gpus, problems);
  if (loaded.graph && work.find_blocks) {
    MergedRanks whole{.graph = std::move(*loaded.graph)};
    find_blocks(whole, loaded.summary);
    loaded.graph = std::move(whole.graph);
  }
  return loaded;
}

}  // namespace readers

}  // namespace weft
