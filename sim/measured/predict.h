// Predictions: the simulated time of every measured line.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/measured/cases.h"

namespace weft {

struct Outcome {
  MeasuredLine line;
  double predicted_us = 0;
  [[nodiscard]] double error() const { return predicted_us / line.us - 1; }
};

struct Predictions {
  std::string gpu;                              // the one simulated
  std::int64_t gpus = 0;                        // of the cluster
  std::int64_t most_gpus = 0;                   // the most of any line that is simulated
  std::vector<Outcome> outcomes;                // in the order of the lines
  std::map<std::string, std::int64_t> skipped;  // lines by kind that weft cannot simulate
  // Files that the folder of kernels lacks, and how many lines are left out for each.
  std::map<std::string, std::int64_t> without_kernel;
  Diagnostics problems;
};

// How `base:` names exactly this file: with its folder, so that no other file of the same name is
// taken, to be searched for in `dir`.
struct BaseName {
  std::string name;  // "clusters/node_4x_h200"
  std::filesystem::path dir;
};
BaseName base_name(const std::filesystem::path& file);

// One simulation and the two moments that lines use.
struct SimulatedCase {
  double all_done_us = 0;
  double computed_us = 0;
  double clock_us = 0;
  std::string trouble;  // if not empty: why it could not be run
  std::string mistake;  // equal for troubles with the same cause, though their texts may differ
};

struct PredictOptions {
  std::filesystem::path cluster;                   // its YAML file
  std::vector<std::filesystem::path> config_dirs;  // where validation/*.yaml and bases are
  std::filesystem::path kernels;                   // emb.yaml ...; empty: validation in config_dirs
  std::vector<std::string> sets;                   // for every case, before its own
  int jobs = 1;
  KnownRuns* known = nullptr;  // what is simulated, to ask and to add to; null: it is not kept
  std::function<void(std::size_t done, std::size_t all)> on_progress;
  // Has so many simulated by others, by simulate_some(), and returns them in order; null: they are
  // simulated here. predict() throws std::invalid_argument where another number of them comes back.
  std::function<std::vector<SimulatedCase>(std::size_t all)> elsewhere = {};
};

// Every file that a prediction may read, except the measured one.
std::vector<std::filesystem::path> inputs_of(const PredictOptions& options);

// The simulated time plus launch.clock of the GPU, which is what measuring adds. Each case is
// simulated only once, however many lines use it. If there are errors among the problems, there are
// no outcomes.
Predictions predict(const std::vector<MeasuredLine>& lines, const PredictOptions& options);

// Of the simulations that predict() needs for these lines and options those of these numbers, from
// 0, one after another. Where the lines or options have a mistake (predict() had none, so files
// have changed since), it is each one's trouble.
std::vector<SimulatedCase> simulate_some(const std::vector<MeasuredLine>& lines,
                                         const PredictOptions& options,
                                         const std::vector<std::size_t>& which);

// What makes a comparison one of two machines.
std::vector<std::string> other_machine(const MeasuredFile& measured,
                                       const Predictions& predictions);

// What a file of measurements lacks of which there are no outcomes.
std::string why_no_outcomes(const Predictions& predictions, const PredictOptions& options);

}  // namespace weft
