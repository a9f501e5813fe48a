// A crew: threads that do short pieces of work together, again and again.
//
// Windows last some ten microseconds to milliseconds, so a thread that has nothing to do looks for
// the next piece for a while before it sleeps: waking it would take longer than many a window. Who
// comes too late, because others have its core, finds its piece done by those that are there.
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

  // Calls work(i) once for each i below the number of members, on `threads` threads, at most all:
  // the first on the first one and so on, as far as they are there. Returns when all are done;
  // throws what one of them has thrown.
  using Work = std::function<void(std::uint32_t)>;
  void do_together(std::uint32_t threads, const Work& work);

 private:
  // Of a member and of the piece with its number.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> called{
        0};                               // the call that the member takes part in, and how many do
    std::atomic<std::uint64_t> taken{0};  // the last call in which the piece was begun
  };
  static constexpr unsigned kThreadsBits = 16;
  static constexpr std::uint64_t kOver = UINT64_MAX;
  void live(std::uint32_t member);
  void do_what_is_left(std::uint64_t call, std::uint32_t member, std::uint32_t threads);
  void do_piece(std::uint64_t call, std::uint32_t piece);

  int looks_;                   // before a member gives its core away
  const Work* work_ = nullptr;  // of the present call
  std::uint64_t calls_ = 0;
  std::mutex throwing_;
  std::exception_ptr thrown_;
  alignas(64) std::atomic<std::uint32_t> left_{0};  // pieces that are not done
  std::deque<Seat> seats_;
  std::vector<std::jthread> threads_;
};

}  // namespace weft
