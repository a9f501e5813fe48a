// What a model's pieces do one by one, and which of them lie beside one another then.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/beside.h"
#include "sim/models/run_model.h"
#include "sim/models/schedule.h"
#include "tests/unit/engine/simulated.h"

namespace weft {

// Four small layers of Llama in two stages, on one node.
inline Scenario two_stages(const std::string& node, const std::string& parallel) {
  return scenario_of(R"(
name: two stages
cluster: {base: clusters/node_8x_h100, )" +
                     node + R"(}
workload:
  base: models/llama3_8b
  phase: training
  model: {layers: 4, vocabulary: 4096, hidden: 2048, heads: 16, kv_heads: 8, inner: 8192}
  sequence_length: 2048
  microbatch: 1
  sequences: 4
  parallel: {)" + parallel +
                     R"(}
modes: [bulk]
)");
}

class OneByOne {
 public:
  OneByOne(const Scenario& scenario, const Cluster& cluster, const Folded& folded)
      : scenario_(scenario), cluster_(cluster) {
    Timetable timetable(folded);
    for (auto next = timetable.next(results); !next.empty(); next = timetable.next(results)) {
      for (const TimedPiece& one : next) {
        const Piece& piece = folded.pieces[one.piece];
        results.push_back(simulate(cluster, lowered(piece.graph(), piece.exits, one.releases),
                                   scenario.run, [this](const Progress&) { ++told; }));
      }
    }
    timed = timetable.timed();
    for (const Neighbours& one : FindNeighbours(timed.pieces, results, cluster).in(timed.runs)) {
      pairs.insert(one.pair);
    }
  }

  [[nodiscard]] TaskGraph lowered(const ModelGraph& graph, std::vector<OpId> exits,
                                  std::vector<Release> releases) const {
    return lower_model(graph, {.options = overlap_options(scenario_),
                               .cluster = cluster_,
                               .exits = std::move(exits),
                               .releases = std::move(releases)});
  }
  [[nodiscard]] TaskGraph lowered(const PairGraph& pair) const {
    return lowered(pair.graph(), pair.exits(), {});
  }

  std::vector<RunResult> results;
  std::size_t told = 0;  // how often they said what they had done
  Folded timed;
  std::set<PairBeside> pairs;  // in the order in which they are simulated

 private:
  const Scenario& scenario_;
  const Cluster& cluster_;
};

}  // namespace weft
