#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace calibration {

// Ends the process, with a message that names what hangs, when nothing was reported for too long.
// A kernel that waits for a flag for ever cannot be ended in any other way.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds patience);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void working_on(const std::string& what);  // starts the patience anew
  void still_working();                      // the same, on what it was
  static constexpr int exit_status = 3;

 private:
  void watch();

  std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "start";
  unsigned long reports_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace calibration
