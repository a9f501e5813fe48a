// The keys of a graph and of its operators.
#include "sim/scenario/names.h"
#include "sim/spec/json_schema.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/trace_limits.h"

namespace weft {

constexpr Range<Bytes> kBytesOfReceive{bytes(1), bytes(std::int64_t{1} << 40)};

static void fields(Fields& map, GraphPlace& place) {
  map.name("name", place.name, "what operators call it");
  map.counts_table("groups", place.groups, {0, 1'048'575},
                   "the GPUs of each group, in rank order; a collective runs in each of them");
}

static void fields(Fields& map, PostedReceive& receive) {
  map.add("bytes", receive.size, {.help = "what it will receive", .range = kBytesOfReceive});
  map.choice("between_nodes", receive.between_nodes, names::kTruths,
             {.help = "it comes from another node", .fallback = false, .quiet = true});
}

static void fields(Fields& map, GraphOperator& op) {
  constexpr std::int64_t kMostStreams = 65'535;
  map.add("id", op.id,
          {.help = "a number of its own, by which others wait for it",
           .range = {{0, 1'000'000'000}},
           .fallback = -1,
           .means = "none: they wait for it by its name",
           .quiet = true});
  map.name("name", op.name, "what reports call it; operators of one name are added up");
  map.name_or_none("part", op.part, "what reports count it as; default: its shape, or its op");
  map.list_or_none("gpus", op.gpus, {0, 1'048'575}, "the GPUs that do it, as one group");
  map.name_or_none("place", op.place, "instead of gpus: one of the places");
  map.add("stream", op.stream,
          {.help = "a GPU's operators of one stream run in the order of the file",
           .range = {{0, kMostStreams}},
           .fallback = 0,
           .quiet = true});
  map.names_or_none("after", op.after,
                    "ids or names of operators before it that it waits for, besides its stream");
  map.name_or_none("block", op.block,
                   "unit that recurs, such as a layer: alike ones are simulated once; if one has "
                   "a block, all have");
  map.optional_map("beside", op.beside,
                   "a receive whose kernel waits on the GPU's CUs while this computes");
  map.optional_map("recorded", op.recorded, "a kernel of a known time");
  map.optional_map("gemm", op.gemm, "C = A B, of m x n, by the GPU's library");
  map.optional_map("attention", op.attention, "attention");
  map.optional_map("memory", op.memory, "what streams through memory: norms, activations, sums");
  map.optional_map("collective", op.collective, "a collective in each group");
}

static void fields(Fields& map, GraphRecording& recording) {
  const auto time = [&](std::string_view key, Duration& member, std::string_view help) {
    map.add(key, member,
            {.help = help,
             .range = {{Duration{}, microseconds(trace_limits::kMicroseconds)}},
             .fallback = Duration{},
             .means = "unknown",
             .quiet = true});
  };
  map.name_or_none("gpu", recording.gpu, "the GPU that was recorded, as the recorder calls it");
  map.add("cus", recording.cus,
          {.help = "CUs or SMs that it has",
           .range = {{0, 1'000'000}},
           .fallback = 0,
           .means = "unknown",
           .quiet = true});
  time("step", recording.step,
       "from the first to the last kernel on the rank that waited least for others");
  time("idle", recording.idle, "of it, the GPU had no kernel");
  time("unlaunched", recording.unlaunched, "and of that, the host had not launched the next one");
  if (map.writes()) return;
  const auto is_part = [&map](const char* key, Duration part, const char* of, Duration whole) {
    if (part <= whole) return;
    map.fail(key, std::string(whole == Duration{} ? "needs " : "longer than ") + of);
  };
  is_part("idle", recording.idle, "step", recording.step);
  is_part("unlaunched", recording.unlaunched, "idle", recording.idle);
}

void fields(Fields& map, GraphFile& file) {
  map.add("gpus", file.gpus, {.help = "GPUs that it is for", .range = {{1, 1'048'576}}});
  map.optional_map("recording", file.recording, "of what it was imported from");
  map.optional_maps("places", file.places, "groups of GPUs that operators name");
  map.maps("operators", file.operators, "operators, each behind those that it waits for");
}

std::vector<KeyDoc> describe_graph() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  GraphFile file;
  read_fields(MapReader(reading, nothing), [&](Fields& map) { fields(map, file); });
  return reading.docs();
}

std::string graph_schema() {
  return json_schema(describe_graph(), {}, {.name = "graph", .path = "", .whole = true});
}

}  // namespace weft
