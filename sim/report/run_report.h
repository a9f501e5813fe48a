// What the reports are made from: the results of all modes, and what was run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/partition.h"
#include "sim/engine/recording.h"
#include "sim/engine/results.h"
#include "sim/models/moved_kernels.h"
#include "sim/models/recorded_step.h"
#include "sim/models/run_model.h"
#include "sim/models/step_work.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct ModeRun {
  RunResult result;
  Partition partition;          // c3: of a strategy that has one
  double wall_s = 0;            // of the simulation, measured by the application
  RunRecording recording = {};  // if asked for
};

struct RunReport {
  Scenario scenario;
  Cluster cluster;
  std::uint32_t simulated_gpus = 0;           // which stand for all
  std::vector<ModeRun> runs;                  // in the order of scenario.modes
  std::vector<Candidate> candidates = {};     // whole models: pairs that could be fused, ranked
  bool tries_pairs = true;                    // whether there was a search for these
  std::optional<StepWork> work = {};          // of a whole model that the scenario describes
  std::optional<RecordedStep> recorded = {};  // of a trace whose kernels keep their times
  MovedTimes moved = {};                      // of a trace whose kernels were moved; else empty
  std::string version;
  std::string command;            // gives these results again
  std::vector<InputFile> inputs;  // every file the scenario was read from
  std::int64_t peak_rss_bytes = 0;
};

// The run of this mode; null if it was not run.
const ModeRun* find_run(const RunReport& report, Mode mode);

}  // namespace weft
