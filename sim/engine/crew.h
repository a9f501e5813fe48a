// A crew: threads that do short pieces of work together, again and again.
//
// Windows last some ten microseconds to milliseconds, so a thread that has nothing to do looks for
// the next piece for a while before it sleeps: waking it would take longer than many a window.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

class Crew {
 public:
  // The caller of do_together() is one of them. Fewer, if the system has no more threads.
  explicit Crew(std::uint32_t members);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls work(i) for each i below `pieces`, on `members` threads, at most all: the first pieces on
  // the first one and so on. Returns when all are done; throws what one of them has thrown.
  using Work = std::function<void(std::uint32_t)>;
  void do_together(std::uint32_t members, std::uint32_t pieces, const Work& work);

 private:
  // What one member looks at: the number of the call that it takes part in; nobody else's concern.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> call{0};
  };
  static constexpr std::uint64_t kOver = UINT64_MAX;
  void live(std::uint32_t member);
  void do_part(std::uint32_t member);

  int looks_;  // before a member gives its core away
  // Of the present call.
  std::uint32_t members_ = 1;
  std::uint32_t pieces_ = 0;
  const Work* work_ = nullptr;
  std::uint64_t calls_ = 0;
  std::mutex throwing_;
  std::exception_ptr thrown_;
  alignas(64) std::atomic<std::uint32_t> at_work_{0};  // without the caller
  std::deque<Seat> seats_;                             // by member; the caller's is not used
  std::vector<std::jthread> threads_;
};

}  // namespace weft
