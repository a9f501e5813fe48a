#pragma once

#include <functional>
#include <string>
#include <utility>

#include "buffers.h"
#include "collectives.h"
#include "data.h"
#include "kernels.h"
#include "suite.h"

// What all operators have in common: a kernel and then a collective of the library, which is bulk,
// and one persistent kernel that leaves the same results, which is fused.

namespace calibration {

// `Result` is the type of an element of what each GPU has in the end.
template <class Result>
class Operator {
 public:
  // `result_count` elements on each GPU, which others store into with Reach::peers.
  Operator(const Bench& bench, std::size_t result_count, Reach reach)
      : bench_(bench), machine_(bench.machine), results_(machine_, result_count, reach) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  Measured compute() const {
    return {bench_.timer.behind_gate({.queue = [&](unsigned) { queue_kernel(); },
                                      .prepare = [&] { clear_kernel(); },
                                      .verify = [&] { verify_kernel(); }}),
            kernel_facts()};
  }

  Measured communicate() const {
    Communicator& communicator = library();
    return bench_.timer.behind_gate(
        {.queue = [&](unsigned) { queue_exchange(communicator, results_); }});
  }

  Measured bulk() const {
    Communicator& communicator = library();
    return {bench_.timer.behind_gate({.queue =
                                          [&](unsigned) {
                                            queue_kernel();
                                            queue_exchange(communicator, results_);
                                          },
                                      .prepare = [&] { results_.fill_bytes(0xFF); },
                                      .verify = [&] { verify(); }}),
            kernel_facts()};
  }

 protected:
  struct FusedRun {
    std::function<void(unsigned run)> queue;
    std::function<void()> clear = [] {};  // what is neither results nor flags
    float tolerance = 0;                  // against bulk; 0: equal
    const char* what = "";
    KernelFacts kernel = {};
  };

  // Each run's results against those of bulk, and some against sums of the host.
  Measured time_fused(const FusedRun& fused) const {
    const Buffers<Result> reference = bulk_results();
    Work work;  // nvcc does not pass on designated initializers here
    work.queue = fused.queue;
    work.prepare = [&] {
      results_.fill_bytes(0xFF);
      fused.clear();
    };
    work.verify = [&] {
      for (int g = 0; g < machine_.size(); ++g) {
        expect_equal(machine_.gpu(g), results_[g], reference[g], results_.count(), fused.tolerance,
                     fused.what);
      }
      verify();
    };
    return {bench_.timer.behind_gate(work), fused.kernel};
  }

  const Machine& machine() const { return machine_; }
  const Buffers<Result>& results() const { return results_; }

 private:
  virtual void queue_kernel() const = 0;
  virtual KernelFacts kernel_facts() const = 0;
  virtual Exchange exchange(const Buffers<Result>& to) const = 0;
  virtual void verify() const = 0;  // some results, with sums computed on the host
  virtual void clear_kernel() const {}
  virtual void verify_kernel() const {}

  Communicator& library() const { return bench_.communicators.with_channels(0); }

  void queue_exchange(Communicator& communicator, const Buffers<Result>& to) const {
    communicator.launch(exchange(to), machine_.streams(&Gpu::main));
  }

  Buffers<Result> bulk_results() const {
    Buffers<Result> results(machine_, results_.count(), Reach::local);
    results.fill_bytes(0xFF);
    machine_.synchronize();
    queue_kernel();
    queue_exchange(library(), results);
    machine_.synchronize();
    return results;
  }

  const Bench& bench_;
  const Machine& machine_;
  Buffers<Result> results_;
};

// The lines of an operator: the parameters of the case, and those of its kernel.
struct OperatorLine {
  std::string operator_name;  // "emb"
  Plan plan;
  Numbers shape;
  Numbers kernel;

  JsonLine of(const std::string& part) const {
    return line_of(operator_name + "." + part, plan).set_each(shape);
  }
  JsonLine with_kernel(const std::string& part) const { return of(part).set_each(kernel); }
};

// `make(bench)` makes the operator.
template <class Make>
void add_unfused(const OperatorLine& line, Depth depth, Make make, Cases& cases) {
  const auto add = [&](const JsonLine& one, auto run) {
    cases.push_back({one, depth, [=](const Bench& bench) { return run(make(bench)); }});
  };
  add(line.with_kernel("compute"), [](const auto& made) { return made.compute(); });
  add(line.of("comm"), [](const auto& made) { return made.communicate(); });
  add(line.with_kernel("bulk"), [](const auto& made) { return made.bulk(); });
}

}  // namespace calibration
