// A checked scenario on its way to its results, without terminal output: what `weft run` and
// every point of `weft sweep` have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/engine/simulate.h"
#include "sim/models/alike_copies.h"
#include "sim/models/collective_ways.h"
#include "sim/models/needs.h"
#include "sim/models/pair_ways.h"
#include "sim/models/sustained_run.h"
#include "sim/report/rates.h"
#include "sim/report/run_report.h"
#include "sim/run/model_of.h"
#include "sim/scenario/load.h"

namespace weft {

// Why there are no results.
struct Failure {
  int exit_code = 0;
  std::string why;
};

// An operator and its collective, or a whole model, ready to be run in any mode.
class ScenarioRun {
 public:
  // `loaded` has a scenario. Models are built here; recorded traces are read.
  explicit ScenarioRun(const Loaded& loaded);
  ScenarioRun(const ScenarioRun&) = delete;  // parts point to one another
  ScenarioRun& operator=(const ScenarioRun&) = delete;

  [[nodiscard]] const Diagnostics& problems() const { return model_.problems; }
  // Every file that the scenario was read from, those of its recorded trace too.
  [[nodiscard]] const std::vector<InputFile>& inputs() const { return inputs_; }
  [[nodiscard]] bool ready() const { return model_.graph.has_value(); }

  // The rest only when ready.
  [[nodiscard]] const ModelGraph& graph() const { return *model_.graph; }
  [[nodiscard]] const std::string& trace_text() const { return model_.trace; }
  // A time that none of its modes can be below (sim/models/lower_bound.h, links_bound.h).
  [[nodiscard]] double lower_bound_us() const;
  // What it would achieve in this time.
  [[nodiscard]] Rates rates_in(Duration time) const;
  // What is too large for run.max_memory, and rules for pairs that no pair fits, each where its key
  // stands; of `file` where nobody wrote that.
  [[nodiscard]] Diagnostics check(const std::string& file) const;
  // What the largest of its modes is estimated to need.
  [[nodiscard]] Bytes memory() const;
  // How much of a timeline there is room for beside it (memory_limit.h). Nothing, and a problem, if
  // there is none; `file` as of check().
  [[nodiscard]] std::optional<Bytes> room_for_timeline(Detail detail, const std::string& file,
                                                       Diagnostics& problems) const;
  [[nodiscard]] std::string tasks_text(Mode mode);
  // Of its model's pairs, and of its collectives that are in none, in mode mixed, which the
  // scenario has.
  struct Ways {
    std::vector<PairWays> pairs;
    std::vector<CollectiveWays> collectives;
  };
  [[nodiscard]] Ways ways(const PairTrials& how) const;

  // Called for each mode as it begins: returns the callback for its progress.
  using Watch = std::function<OnProgress(Mode)>;

  // Runs from now on are recorded.
  void record(const RecordOptions& what);

  // Every mode of the scenario in turn. `command` reproduces these results.
  std::variant<RunReport, Failure> run(const std::string& command, const Watch& watch = {});

 private:
  [[nodiscard]] bool folds() const { return scenario_.run.repeats != Repeats::each; }
  // What is simulated: of copies that do the same a few, unless each GPU is recorded.
  [[nodiscard]] const Cluster& simulated() const { return alike_ ? alike_->cluster : cluster_; }
  [[nodiscard]] const ModelGraph& simulated_graph() const {
    return alike_ ? alike_->graph : graph();
  }
  void cut_into_pieces();
  [[nodiscard]] const std::vector<Piece>& pieces() const;
  SustainedRun& model_run();
  [[nodiscard]] Needs least_needs(Mode mode) const;
  [[nodiscard]] Bytes memory_of_copies() const;
  // What its recordings take besides what they have of WGs and messages, until all modes are run.
  [[nodiscard]] Bytes tracks_of_recordings(Detail detail) const;
  ModeRun run_mode(Mode mode, const OnProgress& on_progress);

  Scenario scenario_;
  KeyPlaces places_;
  std::vector<InputFile> inputs_;
  Cluster cluster_;
  Model model_;
  std::optional<AlikeCopies> alike_;
  std::vector<Piece> pieces_;        // until it is run ...
  std::optional<SustainedRun> run_;  // ... and from then on
  std::optional<RecordOptions> record_;
};

}  // namespace weft
