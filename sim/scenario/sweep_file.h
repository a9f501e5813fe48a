// A sweep file: a scenario, and which of its values take which others (docs/sweeps.md).
//
//   name: link_speed
//   scenario: scenarios/embedding_a2a_2_nodes
//   set: {modes: [bulk, fused]}
//   axes:
//     - {key: cluster.scale_out.link.bandwidth, values: [100 Gb/s, 200 Gb/s, 400 Gb/s]}
//     - {key: workload.batch, from: 256, to: 4096, powers_of_two: true}
//   filter: batch <= 2048 or bandwidth_gbps > 100
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sim/scenario/overlay.h"
#include "sim/spec/fields.h"

namespace weft {

// What a column of results.csv says of a value: a number in the unit that is in the column's name,
// or words.
using Cell = std::variant<double, std::string>;

struct SweepKey {
  std::vector<std::string> keys;  // the parts of the path
  SourcePosition at;
  std::string column;        // given; empty: made from the path
  std::string unit_suffix;   // "_us"; empty where the values have no unit
  bool is_number = false;    // all cells are
  std::vector<Node> values;  // empty after a mistake in them
  std::vector<Cell> cells;   // one a value
};

// Keys that change together: one, or several of the same number of values.
struct SweepAxis {
  std::vector<SweepKey> keys;
  [[nodiscard]] std::size_t size() const { return keys.front().values.size(); }
};

struct SweepFile {
  std::string name;
  std::string scenario;  // as a base is named
  SourcePosition scenario_at;
  std::vector<Assignment> sets;
  std::vector<SweepAxis> axes;
  bool has_unknown_axis = false;  // its key is a mistake, so its column is not known
  std::string filter;             // empty: none
  SourcePosition filter_at;
};

// Its keys (sim/spec/fields.h). After mistakes the rest is as good as can be had.
void fields(Fields& map, SweepFile& sweep);

// What they mean.
std::vector<KeyDoc> describe_sweep();

// "{base: clusters/a, nodes: 4}": one line of YAML, as --set takes it.
std::string flow_text(const Node& node);

}  // namespace weft
