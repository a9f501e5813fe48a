#include "sim/measured/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/gpu_model/launch_law.h"
#include "sim/measured/fit_steps.h"
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

std::string comment_of(std::string_view from, double worst) {
  return fmt::format("[M] {}: within {:.1f} %", from, worst * 100);
}

}  // namespace

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

Duration FitRun::note(const char* path, Duration value, std::string_view from, double worst) {
  const Duration rounded = from_us(four_digits(to_microseconds(value)));
  fit_.values.push_back(
      {.path = path,
       .text = in_unit(to_microseconds(rounded),
                       {{1e6, "s"}, {1e3, "ms"}, {1, "us"}, {1e-3, "ns"}, {1e-6, "ps"}}),
       .comment = comment_of(from, worst)});
  return rounded;
}

Bandwidth FitRun::note(const char* path, Bandwidth value, std::string_view from, double worst) {
  const Bandwidth rounded = from_bytes_a_us(four_digits(bytes_a_us(value)));
  fit_.values.push_back(
      {.path = path,
       .text = in_unit(bytes_a_us(rounded), {{1e6, "TB/s"}, {1e3, "GB/s"}, {1, "MB/s"}}),
       .comment = comment_of(from, worst)});
  return rounded;
}

double FitRun::note(const char* path, double value, std::string_view from, double worst) {
  const double rounded = four_digits(value);
  fit_.values.push_back(
      {.path = path, .text = fmt::format("{}", rounded), .comment = comment_of(from, worst)});
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

double FitRun::solve_even(const LineRefs& lines, const Set& set, const FitLaw& law) const {
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
  double sum = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    sum += (lines[i]->us - without[i]) / (with_one[i] - without[i]);
  }
  return sum / static_cast<double>(lines.size());
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
