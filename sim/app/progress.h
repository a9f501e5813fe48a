// Shows the progress of long work on stderr: on a terminal a line that is rewritten, elsewhere a
// line now and then. Short work shows nothing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace weft {

class ProgressLine {
 public:
  enum class Show { yes, no };
  enum class AtEnd { stays, gone };  // how far it came
  struct Told {
    std::string once;  // a line of its own, as often as it is another one; may be empty
    std::string now;
  };
  using Tell = std::function<Told()>;  // is called from a thread of its own

  ProgressLine(Tell tell, Show show, AtEnd at_end);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show_until_stopped();
  void print();

  Tell tell_;
  AtEnd at_end_;
  bool on_terminal_;
  bool shown_ = false;
  std::string once_;
  std::mutex lock_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::thread shower_;  // not running where nothing is shown
};

}  // namespace weft
