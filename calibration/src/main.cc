#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "check.h"
#include "options.h"
#include "statistics.h"
#include "suite.h"

namespace calibration {
namespace {

constexpr int failures_in_a_row_max = 3;

Cases wanted_cases(const Options& options, const Plan& plan) {
  Cases wanted;
  for (Case& one : all_cases(plan)) {
    const bool deep_enough = !options.quick || one.depth == Depth::quick;
    if (deep_enough && is_wanted(options, one.line.to_text())) {
      wanted.push_back(std::move(one));
    }
  }
  return wanted;
}

Plan plan_of(const Options& options, const Machine& machine) {
  return {machine.size(), machine.gpu(0).units, options.tiny ? Sizes::tiny : Sizes::usual};
}

void list(const Cases& cases) {
  for (const Case& one : cases) {
    std::printf("%s\n", one.line.to_text().c_str());
  }
}

Numbers as_numbers(const KernelFacts& kernel) {
  return {{"registers", kernel.registers},
          {"spilled_bytes", static_cast<std::int64_t>(kernel.spilled)},
          {"shared_bytes", static_cast<std::int64_t>(kernel.shared_bytes)},
          {"resident", kernel.resident}};
}

enum class Outcome { measured, left_out, wrong, failed };

// Measures and writes one line.
Outcome measure(const Case& one, const Bench& bench, LineWriter& writer) {
  const std::string text = one.line.to_text();
  try {
    const Measured measured = one.measure(bench);
    const Summary us = summarize(measured.us);
    JsonLine line = one.line;
    line.set_each(measured.seen);
    if (measured.kernel) {
      line.set("kernel", as_numbers(*measured.kernel));
    }
    line.set("us", us.median).set("us_min", us.minimum).set("us_max", us.maximum);
    writer.write(line);
  } catch (const NotPossible& reason) {
    std::fprintf(stderr, "calibrate: left out: %s: %s\n", text.c_str(), reason.what());
    return Outcome::left_out;
  } catch (const WrongAnswer& wrong) {
    std::fprintf(stderr, "calibrate: WRONG: %s: %s\n", text.c_str(), wrong.what());
    return Outcome::wrong;
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "calibrate: FAILED: %s: %s\n", text.c_str(), failed.what());
    return Outcome::failed;
  }
  return Outcome::measured;
}

int run(const Options& options) {
  Watchdog watchdog{std::chrono::seconds(options.patience_seconds)};
  const Machine machine(options.gpus);
  Timer timer(machine, options.repeats, watchdog);
  Communicators communicators(machine);
  const Bench bench{machine, timer, communicators};
  const Cases cases = wanted_cases(options, plan_of(options, machine));
  LineWriter writer(options.output);
  writer.write(machine.describe()
                   .set("repeats", options.repeats.measured)
                   .set("warm_up", options.repeats.warm_up));
  int bad = 0;
  int failed_in_a_row = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string text = cases[i].line.to_text();
    watchdog.working_on(text);
    std::fprintf(stderr, "[%zu/%zu] %s\n", i + 1, cases.size(), text.c_str());
    const Outcome outcome = measure(cases[i], bench, writer);
    bad += outcome == Outcome::wrong || outcome == Outcome::failed ? 1 : 0;
    failed_in_a_row = outcome == Outcome::failed ? failed_in_a_row + 1 : 0;
    if (failed_in_a_row == failures_in_a_row_max) {
      throw std::runtime_error("the GPUs or a library no longer work; ending");
    }
  }
  if (bad != 0) {
    std::fprintf(stderr, "calibrate: %d of %zu cases were wrong or failed\n", bad, cases.size());
  }
  return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_main(const Options& options) {
  if (options.help) {
    std::printf("%s", usage);
    return EXIT_SUCCESS;
  }
  if (!options.list) {
    return run(options);
  }
  if (options.units != 0) {
    list(wanted_cases(options,
                      {options.gpus, options.units, options.tiny ? Sizes::tiny : Sizes::usual}));
    return EXIT_SUCCESS;
  }
  const Machine machine(options.gpus);
  list(wanted_cases(options, plan_of(options, machine)));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace calibration

int main(int argc, char** argv) {
  // All kernels are loaded before the first gate closes: loading one waits for the GPU.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  try {
    return calibration::run_main(calibration::parse_options({argv + 1, argv + argc}));
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "calibrate: %s\n", wrong.what());
    return 2;
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "calibrate: %s\n", failed.what());
    return EXIT_FAILURE;
  }
}
