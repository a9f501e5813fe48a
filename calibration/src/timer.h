#pragma once

#include <functional>
#include <vector>

#include "machine.h"
#include "watchdog.h"

namespace calibration {

struct Repeats {
  int warm_up = 3;
  int measured = 11;
};

// What is run again and again. `queue` puts work on the streams of every GPU and returns without
// waiting for it; `run` counts from 1 and is what flags are set to.
struct Work {
  std::function<void(unsigned run)> queue;
  std::function<void()> prepare = [] {};       // before each run, not in the time
  std::vector<hipStream_t Gpu::*> gated = {};  // streams beside `main` that wait at the gate too
  std::function<void(unsigned run)> finish = [](unsigned) {};  // queued after the end of the time
  std::function<void()> verify = [] {};                        // after each run; throws WrongAnswer
};

class Timer {
 public:
  Timer(const Machine& machine, Repeats repeats, Watchdog& watchdog);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Microseconds of each run, from the opening of a gate behind which everything was queued to
  // the end of the slowest GPU. The time the host takes to launch is not in it.
  std::vector<double> behind_gate(const Work& work);
  // The same from the first launch, on the clock of the host, until all GPUs have nothing to do.
  std::vector<double> from_host(const Work& work);

 private:
  // `time_once` queues the work and says how long it took, in microseconds.
  std::vector<double> repeat(const Work& work, const std::function<double(bool first)>& time_once);
  void close_gate(const Work& work);
  void open_gate();
  double slowest() const;

  const Machine& machine_;
  Repeats repeats_;
  Watchdog& watchdog_;
  unsigned run_ = 0;
  unsigned* gate_ = nullptr;            // in host memory, mapped
  unsigned* gate_on_device_ = nullptr;  // the same, as the GPUs see it
};

}  // namespace calibration
