// The file of `kind: graph`: operators in order, as text that people and scripts read and write.
//
//   gpus: 2
//   recording: {gpu: NVIDIA H100 80GB HBM3, cus: 132, step: 17.6 ms, idle: 1 ms}     # optional
//   operators:
//     - {name: up, gpus: [0, 1], gemm: {m: 4096, n: 8192, k: 4096}}
//     - {name: sum, gpus: [0, 1], stream: 1, after: [up], collective: {op: all_reduce, bytes: 64
//     MiB}}
//
// It holds all of a ModelGraph but embeddings and kernels that are described down to their WGs. One
// list of keys reads it, writes it, and describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/models/recorded_step.h"
#include "sim/spec/fields.h"

namespace weft {

struct GraphPlace {
  std::string name;
  Fields::Table groups;
};

struct GraphOperator {
  std::int64_t id = -1;  // -1: it is known by its name
  std::string name;
  std::string part;                // empty: by its shape
  std::vector<std::int64_t> gpus;  // of one group; empty: as `place` says
  std::string place;
  std::int64_t stream = 0;
  std::vector<std::string> after;  // ids or names
  std::string block;               // empty: none
  std::optional<PostedReceive> beside;
  // One of these.
  std::optional<RecordedShape> recorded;
  std::optional<GemmShape> gemm;
  std::optional<AttentionShape> attention;
  std::optional<StreamShape> memory;
  std::optional<CommunicationShape> collective;
};

// Of the recording that the graph was imported from: RecordedRun, but for `with_host`, which its
// operators tell.
struct GraphRecording {
  std::string gpu;       // empty: unknown
  std::int64_t cus = 0;  // 0: unknown
  Duration step;         // 0: unknown
  Duration idle;
  Duration unlaunched;
};

struct GraphFile {
  int gpus = 0;
  std::optional<GraphRecording> recording;
  std::vector<GraphPlace> places;
  std::vector<GraphOperator> operators;
};

// Its keys; each shape's are in shape_fields.cc.
void fields(Fields& map, GraphFile& file);
void fields(Fields& map, RecordedShape& kernel);
void fields(Fields& map, GemmShape& gemm);
void fields(Fields& map, AttentionShape& attention);
void fields(Fields& map, StreamShape& stream);
void fields(Fields& map, CommunicationShape& call);

// What each key means.
std::vector<KeyDoc> describe_graph();
std::string graph_schema();  // as JSON Schema

// The graph that a file describes; nothing and at least one error in `reading` if it makes no sense
// on this many GPUs.
std::optional<ModelGraph> graph_of(const GraphFile& file, int gpus, Reading& reading);

// What is wrong with an operator whose keys were read without a mistake, on groups that are good.
void check_shape(const GraphOperator& op, const Groups& place, const std::string& path,
                 Reading& reading);

// Why a graph cannot be written as such a file; empty: it can.
std::string obstacle_to_writing(const ModelGraph& graph);
GraphFile file_of(const ModelGraph& graph, int gpus, const RecordedRun& recording = {});

// The part that an operator counts as if it does not say one.
std::string usual_part(const OpShape& shape);

}  // namespace weft
