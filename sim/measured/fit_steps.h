// What the steps of a fit share. Each step determines a few keys from the lines of a few kinds and
// may use what earlier steps found.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/measured/fit.h"
#include "sim/measured/least_squares.h"

namespace weft {

constexpr int kThreads = 256;  // per WG, if a line does not say it

using LineRefs = std::vector<const MeasuredLine*>;

// A number that is sought: where the search begins, and how to set it in the GPU. Times are in
// microseconds, rates in bytes per microsecond.
struct Sought {
  double start = 0;
  std::function<void(GpuSpec&, double)> set;
};
// The time of a line on this GPU, in seconds, by a law of sim/gpu_model.
using FitLaw = std::function<double(const GpuSpec&, const MeasuredLine&)>;

// How near a number is: how far the lines are from it, and how sure the lines make it.
struct HowSure {
  HowSure(double worst_of_lines) : worst(worst_of_lines) {}  // NOLINT: no more is known
  double worst = 0;
  std::optional<double> spread = {};  // its relative standard deviation
  // Its correlation with others that were fitted with it, by their paths.
  std::vector<std::pair<std::string, double>> with = {};
};
// Of a parameter of the solution. `paths` are those of all parameters; "": not a number of a file.
HowSure how_sure(const Solution& found, std::size_t parameter,
                 const std::vector<std::string>& paths);

class FitRun {
 public:
  FitRun(const std::vector<MeasuredLine>& lines, Fit& fit) : lines_(lines), fit_(fit) {}

  Fit& fit() { return fit_; }
  GpuSpec& gpu() { return fit_.gpu; }
  [[nodiscard]] const GpuSpec& gpu() const { return fit_.gpu; }
  LinkSpec& link() { return fit_.link; }

  // Lines of a kind that have all these numbers; a line that lacks one is added to the problems.
  LineRefs lines(std::string_view kind, std::initializer_list<const char*> numbers);

  // The numbers for which the law comes nearest to the lines; all others keep their current values.
  [[nodiscard]] Solution solve(const LineRefs& lines, const std::vector<Sought>& sought,
                               const FitLaw& law) const;
  // For a law that is linear in a time: the time, in microseconds, with which the law gives what
  // was measured, averaged over the lines; and how sure the mean is, by their scatter.
  using Set = std::function<void(GpuSpec&, Duration)>;
  struct Even {
    double us = 0;
    HowSure sure = 0;
  };
  [[nodiscard]] Even solve_even(const LineRefs& lines, const Set& set, const FitLaw& law) const;

  // Notes a value of the fit with where it comes from, and returns it rounded to four digits.
  Duration note(const char* path, Duration value, std::string_view from, const HowSure& sure);
  Bandwidth note(const char* path, Bandwidth value, std::string_view from, const HowSure& sure);
  double note(const char* path, double value, std::string_view from, const HowSure& sure);
  void keep(std::string_view path, std::string_view wants);

  // What a measured time includes besides the kernel itself: the clock and one launch.
  [[nodiscard]] double overhead_us() const;

 private:
  const std::vector<MeasuredLine>& lines_;
  Fit& fit_;
};

std::vector<double> times_of(const LineRefs& lines);
// The line's time without the overhead, as a starting point of a fit.
double beyond(const MeasuredLine& line, double overhead_us);
std::string from_text(std::string_view kind, const LineRefs& lines);
Duration from_us(double us);
double bytes_a_us(Bandwidth rate);
Bandwidth from_bytes_a_us(double rate);

// Whether there are lines that differ in this number.
bool differ(const LineRefs& lines, const char* number);
void fit_launch(FitRun& run);      // launch.*
void fit_memory(FitRun& run);      // memory.*
void fit_l2(FitRun& run);          // l2.bandwidth
void fit_gather(FitRun& run);      // gather.*
void fit_peer_store(FitRun& run);  // peer_store.*, link.*
void fit_dma(FitRun& run);         // dma.*, the link's engine_ratio
void fit_gemm(FitRun& run);        // workload.gemm.efficiency

}  // namespace weft
