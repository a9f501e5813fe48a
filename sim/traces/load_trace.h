// A recorded trace, from its files to a ModelGraph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/models/model_graph.h"
#include "sim/models/recorded_step.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/trace_work.h"
#include "sim/traces/problems.h"

namespace weft {

// What the files say of one kind of node, and what of it will be simulated.
struct TraceTotal {
  std::size_t nodes = 0;  // on all ranks
  std::size_t operators = 0;
  std::int64_t bytes_found = 0;  // as meant by the files, in bytes; messages count at their senders
  std::int64_t bytes_simulated = 0;  // buffers of all GPUs that take part
};

struct TraceSummary {
  std::string trace;
  std::string writer;  // "recorded by PyTorch, schema 1.0.1"
  std::size_t ranks = 0;
  std::size_t nodes = 0;
  std::map<std::string, TraceTotal> by_kind;  // "all_reduce", "compute"
  Duration recorded;                          // of all kernels of all ranks together
  std::optional<RecordedStep> step = {};      // if the recording has starts of kernels
  RecordedDevice device = {};
  std::vector<std::string> choices;  // what was chosen where writers differ
  std::vector<std::string> notes;    // what was left out, and how often
};

std::string to_text(const TraceSummary& summary);
// As one of its notes.
std::string to_text(const RecordedStep& step);

struct LoadedTrace {
  std::optional<ModelGraph> graph;  // absent: the problems say why
  Diagnostics problems;
  TraceSummary summary;
  std::vector<InputFile> inputs;  // every file that was read
};

// The trace on this many GPUs, one per rank. Reading it takes at most `memory`.
LoadedTrace load_trace(const TraceWork& work, int gpus, Bytes memory = kTraceMemory);

}  // namespace weft
