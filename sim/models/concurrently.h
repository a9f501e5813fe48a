// Independent runs of a model, on several cores.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <cstddef>

namespace weft {

// Calls run(i) for each i below `count`, `at_a_time` of them concurrently; in their order if that
// is 1.
template <class Run>
void concurrently(std::size_t count, int at_a_time, const Run& run) {
  if (at_a_time <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) run(i);
    return;
  }
  tbb::task_arena(at_a_time).execute(
      [&] { tbb::parallel_for(std::size_t{0}, count, run, tbb::simple_partitioner()); });
}

}  // namespace weft
