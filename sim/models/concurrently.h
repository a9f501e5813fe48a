// Independent runs of a model, on several cores.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

namespace weft {

// Calls run(i) for each i, `at_a_time` of them concurrently: those of most work first, so that
// none of the long ones begins when all others are done (Graham, 1969). In their order if at_a_time
// is 1. `work` is relative.
template <class Run>
void concurrently(const std::vector<double>& work, int at_a_time, const Run& run) {
  if (at_a_time <= 1 || work.size() <= 1) {
    for (std::size_t i = 0; i < work.size(); ++i) run(i);
    return;
  }
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&work](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::atomic<std::size_t> begun = 0;
  const auto go_on = [&](int /*core*/) {
    for (std::size_t next = begun++; next < order.size(); next = begun++) run(order[next]);
  };
  tbb::task_arena(at_a_time).execute(
      [&] { tbb::parallel_for(0, at_a_time, go_on, tbb::simple_partitioner()); });
}

// Of what several of them find.
inline void keep_least(std::atomic<std::size_t>& least, std::size_t found) {
  for (std::size_t known = least; found < known;) {
    if (least.compare_exchange_weak(known, found)) break;
  }
}

// The same where nothing is known of their work.
template <class Run>
void concurrently(std::size_t count, int at_a_time, const Run& run) {
  concurrently(std::vector<double>(count), at_a_time, run);
}

}  // namespace weft
