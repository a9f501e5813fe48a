#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives.h"
#include "json_line.h"
#include "kernel_facts.h"
#include "machine.h"
#include "timer.h"

namespace calibration {

enum class Depth { quick, full };
// Tiny sizes test the harness and measure nothing of use.
enum class Sizes { usual, tiny };

// What the cases of a suite are made for.
struct Plan {
  int gpus;
  int units;  // SMs or CUs of a GPU
  Sizes sizes = Sizes::usual;

  // `usual`, or less where sizes are tiny.
  template <class T>
  T at_most(T usual, T tiny) const {
    return sizes == Sizes::tiny ? std::min(usual, tiny) : usual;
  }
};

struct Bench {
  const Machine& machine;
  Timer& timer;
  Communicators& communicators;
};

// The times of a case in microseconds, of an operator what its kernel is, and what else was seen.
struct Measured {
  Measured(std::vector<double> times) : us(std::move(times)) {}
  Measured(std::vector<double> times, const KernelFacts& facts)
      : us(std::move(times)), kernel(facts) {}

  std::vector<double> us;
  std::optional<KernelFacts> kernel;
  Numbers seen;
};

// One line of the output: its parameters, and how to get the rest.
struct Case {
  JsonLine line;
  Depth depth;  // quick: also run with --quick
  std::function<Measured(const Bench&)> measure;
};

using Cases = std::vector<Case>;

// Each file of micro-benchmarks or operators adds its cases.
void add_launch(const Plan& plan, Cases& cases);
void add_memory(const Plan& plan, Cases& cases);
void add_gather(const Plan& plan, Cases& cases);
void add_chase(const Plan& plan, Cases& cases);
void add_peer_stores(const Plan& plan, Cases& cases);
void add_peer_rows(const Plan& plan, Cases& cases);
void add_flags(const Plan& plan, Cases& cases);
void add_row_puts(const Plan& plan, Cases& cases);
void add_copy_engine(const Plan& plan, Cases& cases);
void add_collectives(const Plan& plan, Cases& cases);
void add_library_gemm(const Plan& plan, Cases& cases);
void add_embedding(const Plan& plan, Cases& cases);
void add_gemv(const Plan& plan, Cases& cases);
void add_gemm_all_to_all(const Plan& plan, Cases& cases);
void add_gemm_reduce_scatter(const Plan& plan, Cases& cases);
void add_concurrent(const Plan& plan, Cases& cases);

Cases all_cases(const Plan& plan);

// A line that begins as every line does.
inline JsonLine line_of(const std::string& kind, const Plan& plan) {
  JsonLine line(kind);
  line.set("gpus", plan.gpus);
  return line;
}

}  // namespace calibration
