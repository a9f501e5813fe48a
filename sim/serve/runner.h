// One run at a time, beside whoever answers requests.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "sim/engine/simulate.h"
#include "sim/run/scenario_run.h"
#include "sim/serve/asked_run.h"

namespace weft {

class Runner {
 public:
  Runner(ServedFolder served, int cores, KnownRuns* known)
      : served_(std::move(served)), cores_(cores), known_(known) {}
  ~Runner() { stop(); }  // and waits: the thread is the last member
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // False: one is running.
  bool start(const AskedRun& asked);
  // The run that is going on ends at its next report of progress, without results.
  void stop() { stopped_ = true; }

  // Of the run that is going on, or of the last one.
  [[nodiscard]] ServedJson status() const;

 private:
  enum class State : std::uint8_t { idle, running, done, failed };

  void run(const AskedRun& asked);
  void simulate(const AskedRun& asked, Loaded& loaded);
  void write(const AskedRun& asked, const RunReport& report, Bytes most);
  OnProgress begin(Mode mode);
  void end_if_stopped() const;
  void add_problems(const Diagnostics& problems);
  void fail(const std::string& why);

  ServedFolder served_;
  int cores_;
  KnownRuns* known_;
  std::atomic<bool> stopped_ = false;
  std::mutex start_;  // held while a run begins
  mutable std::mutex lock_;
  // Under the lock:
  State state_ = State::idle;
  std::uint64_t number_ = 0;  // of the run, from 1
  std::string mode_;
  std::optional<Progress> progress_;
  Diagnostics problems_;
  std::string why_;     // it failed; empty where the problems say it
  std::string result_;  // its folder's name
  std::vector<std::string> left_out_;
  std::jthread thread_;
};

}  // namespace weft
