#include "timer.h"

#include <algorithm>
#include <chrono>

#include "check.h"
#include "flags.h"
#include "kernels.h"

namespace calibration {
namespace {

__global__ void wait_at_gate(const Flag* gate, unsigned run) { wait_for_flag(gate, run); }

}  // namespace

Timer::Timer(const Machine& machine, Repeats repeats, Watchdog& watchdog)
    : machine_(machine), repeats_(repeats), watchdog_(watchdog) {
  void* memory = nullptr;
  check(hipHostMalloc(&memory, sizeof(unsigned), hipHostMallocMapped | hipHostMallocPortable));
  gate_ = static_cast<unsigned*>(memory);
  *gate_ = 0;
  void* on_device = nullptr;
  check(hipHostGetDevicePointer(&on_device, memory, 0));
  gate_on_device_ = static_cast<unsigned*>(on_device);
}

Timer::~Timer() { static_cast<void>(hipHostFree(gate_)); }

void Timer::close_gate(const Work& work) {
  for (const Gpu& gpu : machine_.gpus()) {
    gpu.use();
    launch(wait_at_gate, {.wgs = 1, .threads = 1}, gpu.main, gate_on_device_, run_);
    check(hipEventRecord(gpu.start, gpu.main));
    for (const auto stream : work.gated) {
      launch(wait_at_gate, {.wgs = 1, .threads = 1}, gpu.*stream, gate_on_device_, run_);
    }
  }
}

void Timer::open_gate() { __atomic_store_n(gate_, run_, __ATOMIC_RELEASE); }

double Timer::slowest() const {
  float longest = 0;
  for (const Gpu& gpu : machine_.gpus()) {
    float milliseconds = 0;
    check(hipEventElapsedTime(&milliseconds, gpu.start, gpu.stop));
    longest = std::max(longest, milliseconds);
  }
  return 1000.0 * static_cast<double>(longest);
}

std::vector<double> Timer::repeat(const Work& work,
                                  const std::function<double(bool first)>& time_once) {
  std::vector<double> samples;
  for (int i = 0; i < repeats_.warm_up + repeats_.measured; ++i) {
    ++run_;
    watchdog_.still_working();
    work.prepare();
    machine_.synchronize();
    const double us = time_once(i == 0);
    work.verify();
    if (i >= repeats_.warm_up) {
      samples.push_back(us);
    }
  }
  return samples;
}

std::vector<double> Timer::behind_gate(const Work& work) {
  return repeat(work, [&](bool first) {
    // The first run goes through an open gate: a library that sets itself up at its first use
    // waits for the GPU, which would wait for the gate.
    if (first) {
      open_gate();
    }
    close_gate(work);
    work.queue(run_);
    for (const Gpu& gpu : machine_.gpus()) {
      gpu.use();
      check(hipEventRecord(gpu.stop, gpu.main));
    }
    work.finish(run_);
    open_gate();
    machine_.synchronize();
    return slowest();
  });
}

std::vector<double> Timer::from_host(const Work& work) {
  return repeat(work, [&](bool) {
    const auto start = std::chrono::steady_clock::now();
    work.queue(run_);
    machine_.synchronize();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return took.count();
  });
}

}  // namespace calibration
