#include "sim/measured/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/gpu_model/launch_law.h"
#include "sim/measured/fit_steps.h"
#include "sim/scenario/machine_numbers.h"
#include "sim/spec/units.h"

namespace weft {
namespace {

constexpr double kUsPerSecond = 1e6;

double four_digits(double value) {
  if (value <= 0) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

struct Unit {
  double size;
  const char* name;
};

// "338.1 GB/s": in the largest unit that gives at least 1.
std::string in_unit(double value, std::initializer_list<Unit> largest_first) {
  for (const Unit& unit : largest_first) {
    if (value >= unit.size) return fmt::format("{:.4g} {}", value / unit.size, unit.name);
  }
  return fmt::format("0 {}", std::prev(largest_first.end())->name);
}

// The lines leave the others open, and machine_numbers() refuses such.
bool is_told(double spread) { return spread <= kMostSpread; }

// With its spread and correlations as machine_numbers() reads them.
std::string comment_of(std::string_view from, const HowSure& sure) {
  std::string text = fmt::format("[M] {}: within {:.1f} %", from, sure.worst * 100);
  if (!sure.spread || !is_told(*sure.spread)) return text;
  text += fmt::format(", +- {:.2g} %", *sure.spread * 100);
  const char* before = "; with ";
  for (const auto& [path, correlation] : sure.with) {
    text += fmt::format("{}{} {:.2f}", std::exchange(before, ", "), path, correlation);
  }
  return text;
}

}  // namespace

HowSure how_sure(const Solution& found, std::size_t parameter,
                 const std::vector<std::string>& paths) {
  constexpr double kLeastSaid = 0.05;  // less changes no sum
  HowSure sure(found.worst);
  if (found.covariance.empty()) return sure;
  const std::vector<double>& row = found.covariance[parameter];
  sure.spread = std::sqrt(row[parameter]);
  for (std::size_t other = 0; other < row.size(); ++other) {
    const double variance = found.covariance[other][other];
    const double both = std::sqrt(row[parameter] * variance);
    if (other == parameter || paths[other].empty() || both == 0) continue;
    if (!is_told(std::sqrt(variance))) continue;
    const double correlation = std::clamp(row[other] / both, -1.0, 1.0);
    if (std::abs(correlation) >= kLeastSaid) sure.with.emplace_back(paths[other], correlation);
  }
  return sure;
}

LineRefs FitRun::lines(std::string_view kind, std::initializer_list<const char*> numbers) {
  LineRefs found;
  for (const MeasuredLine& line : lines_) {
    if (line.kind != kind) continue;
    bool whole = true;
    for (const char* name : numbers) {
      whole = line.needed(name, fit_.problems).has_value() && whole;
    }
    if (whole) found.push_back(&line);
  }
  return found;
}

Duration FitRun::note(const char* path, Duration value, std::string_view from,
                      const HowSure& sure) {
  const Duration rounded = from_us(four_digits(to_microseconds(value)));
  fit_.values.push_back(
      {.path = path,
       .text = in_unit(to_microseconds(rounded),
                       {{1e6, "s"}, {1e3, "ms"}, {1, "us"}, {1e-3, "ns"}, {1e-6, "ps"}}),
       .comment = comment_of(from, sure)});
  return rounded;
}

Bandwidth FitRun::note(const char* path, Bandwidth value, std::string_view from,
                       const HowSure& sure) {
  const Bandwidth rounded = from_bytes_a_us(four_digits(bytes_a_us(value)));
  fit_.values.push_back(
      {.path = path,
       .text = in_unit(bytes_a_us(rounded), {{1e6, "TB/s"}, {1e3, "GB/s"}, {1, "MB/s"}}),
       .comment = comment_of(from, sure)});
  return rounded;
}

double FitRun::note(const char* path, double value, std::string_view from, const HowSure& sure) {
  const double rounded = four_digits(value);
  fit_.values.push_back(
      {.path = path, .text = fmt::format("{}", rounded), .comment = comment_of(from, sure)});
  return rounded;
}

void FitRun::keep(std::string_view path, std::string_view wants) {
  fit_.kept.push_back(fmt::format("{}: kept; {} would determine it", path, wants));
}

Solution FitRun::solve(const LineRefs& lines, const std::vector<Sought>& sought,
                       const FitLaw& law) const {
  std::vector<double> start;
  start.reserve(sought.size());
  for (const Sought& one : sought) start.push_back(one.start);
  const auto model = [&](const std::vector<double>& p) {
    GpuSpec trial = gpu();
    for (std::size_t i = 0; i < sought.size(); ++i) sought[i].set(trial, p[i]);
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) times.push_back(law(trial, *line) * kUsPerSecond);
    return times;
  };
  // A GPU's times are whole picoseconds: a smaller step would not change times of nanoseconds.
  return least_squares(times_of(lines), start, model, {.step = 1e-3});
}

FitRun::Even FitRun::solve_even(const LineRefs& lines, const Set& set, const FitLaw& law) const {
  const auto times_with = [&](Duration time) {
    GpuSpec trial = gpu();
    set(trial, time);
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) times.push_back(law(trial, *line) * kUsPerSecond);
    return times;
  };
  const std::vector<double> without = times_with(Duration{});
  const std::vector<double> with_one = times_with(microseconds(1));
  const auto count = static_cast<double>(lines.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double time = (lines[i]->us - without[i]) / (with_one[i] - without[i]);
    sum += time;
    squares += time * time;
  }
  Even even{.us = sum / count};
  if (lines.size() > 1 && even.us > 0) {
    const double variance = std::max(0.0, squares / count - even.us * even.us);
    even.sure.spread = std::sqrt(variance / (count - 1)) / even.us;
  }
  return even;
}

double FitRun::overhead_us() const {
  return measured_kernel_seconds(gpu().launch, 0) * kUsPerSecond;
}

std::vector<double> times_of(const LineRefs& lines) {
  std::vector<double> times;
  times.reserve(lines.size());
  for (const MeasuredLine* line : lines) times.push_back(line->us);
  return times;
}

double beyond(const MeasuredLine& line, double overhead_us) {
  return line.us > overhead_us ? line.us - overhead_us : line.us;
}

std::string from_text(std::string_view kind, const LineRefs& lines) {
  return fmt::format("{}, {} line{}", kind, lines.size(), lines.size() == 1 ? "" : "s");
}

bool differ(const LineRefs& lines, const char* number) {
  return std::any_of(lines.begin(), lines.end(), [&](const MeasuredLine* line) {
    return line->number(number) != lines.front()->number(number);
  });
}

// Values that a search tries may be far out of bounds.
Duration from_us(double us) { return picoseconds(std::llround(std::clamp(us * 1e6, 0.0, 1e18))); }
double bytes_a_us(Bandwidth rate) { return static_cast<double>(rate.count()) * 1e-6; }
Bandwidth from_bytes_a_us(double rate) {
  return Bandwidth::from_count(std::llround(std::clamp(rate * 1e6, 1.0, 1e18)));
}

Fit fit_machine(const std::vector<MeasuredLine>& lines, const GpuSpec& gpu, const LinkSpec& link) {
  Fit fit{.gpu = gpu, .link = link, .values = {}, .kept = {}, .problems = {}};
  FitRun run(lines, fit);
  fit_launch(run);
  fit_memory(run);
  fit_l2(run);
  fit_gather(run);
  fit_peer_store(run);
  fit_dma(run);
  fit_gemm(run);
  return fit;
}

}  // namespace weft
