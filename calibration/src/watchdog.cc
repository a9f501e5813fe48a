#include "watchdog.h"

#include <cstdio>
#include <cstdlib>

namespace calibration {

Watchdog::Watchdog(std::chrono::seconds patience)
    : patience_(patience), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::working_on(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = what;
    ++reports_;
  }
  changed_.notify_one();
}

void Watchdog::still_working() {
  {
    const std::lock_guard lock(mutex_);
    ++reports_;
  }
  changed_.notify_one();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const unsigned long seen = reports_;
    const bool moved =
        changed_.wait_for(lock, patience_, [&] { return ended_ || reports_ != seen; });
    if (!moved) {
      std::fprintf(stderr, "calibrate: nothing happened for %ld s, ending. It hangs in: %s\n",
                   static_cast<long>(patience_.count()), what_.c_str());
      std::_Exit(exit_status);
    }
  }
}

}  // namespace calibration
