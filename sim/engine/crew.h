// A crew: threads that do short pieces of work together, again and again.
//
// Windows last some ten microseconds to milliseconds, so a thread that has nothing to do looks for
// the next piece for a while before it sleeps: waking it would take longer than many a window.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace weft {

class Crew {
 public:
  // The caller of do_together() is one of them.
  explicit Crew(std::uint32_t members);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls work(i) for each i below `pieces`, on `members` threads, at most all: the first pieces on
  // the first one and so on, so that a piece stays with its thread. Returns when all are done.
  using Work = std::function<void(std::uint32_t)>;
  void do_together(std::uint32_t members, std::uint32_t pieces, const Work& work);

 private:
  // What the members look at: how often they have been called, and how many of them this time.
  static constexpr unsigned kMembersBits = 16;
  static constexpr std::uint64_t kOver = 0;
  void live(std::uint32_t member);
  void do_part(std::uint32_t member, std::uint32_t members) const;

  std::uint32_t pieces_ = 0;
  const Work* work_ = nullptr;
  std::uint64_t calls_ = 0;
  alignas(64) std::atomic<std::uint64_t> call_{1U << kMembersBits};
  alignas(64) std::atomic<std::uint32_t> at_work_{0};  // without the caller
  std::vector<std::jthread> threads_;
};

}  // namespace weft
