#include "sim/cache/sample.h"

#include <algorithm>

#include "sim/cache/memory_path.h"
#include "sim/cache/residents.h"
#include "sim/cache/wg_walk.h"
#include "sim/core/assert.h"

namespace weft::cache {
namespace {

void add(LevelCounts& sum, const LevelCounts& more, std::int64_t times) {
  sum.loads += more.loads * times;
  sum.stores += more.stores * times;
  sum.hits += more.hits * times;
  sum.merged += more.merged * times;
  sum.misses += more.misses * times;
  sum.bypasses += more.bypasses * times;
  sum.write_backs += more.write_backs * times;
  sum.stalled += more.stalled * times;
}

void add(DramCounts& sum, const DramCounts& more, std::int64_t times) {
  sum.read += more.read * times;
  sum.written += more.written * times;
  sum.row_hits += more.row_hits * times;
  sum.row_misses += more.row_misses * times;
  sum.row_conflicts += more.row_conflicts * times;
}

void add(Sample& sum, const Sample& more, std::int64_t times) {
  add(sum.l1, more.l1, times);
  add(sum.l2, more.l2, times);
  add(sum.home, more.home, times);
  add(sum.side, more.side, times);
  add(sum.dram, more.dram, times);
  sum.time += more.time * times;
  sum.write_back += more.write_back * times;
  sum.loads_beside += more.loads_beside * times;
}

std::vector<WgWalk> walks_of(const Hierarchy& hierarchy, const Application& application,
                             const SampleOptions& options, std::int64_t repeat) {
  const std::vector<std::int64_t> begins = layout(application.arrays);
  std::vector<WgWalk> walks;
  std::uint32_t first_instruction = 0;
  for (const Kernel& kernel : application.kernels) {
    walks.emplace_back(kernel, begins,
                       WalkOptions{.line = hierarchy.line,
                                   .sector = hierarchy.sector,
                                   .seed = options.seed,
                                   .repeat = repeat,
                                   .first_instruction = first_instruction});
    first_instruction += static_cast<std::uint32_t>(kernel.accesses.size());
  }
  return walks;
}

// The k-th kernel and all those beside it.
std::vector<Residents::Running> running(const Application& application,
                                        const std::vector<WgWalk>& walks,
                                        const SampleOptions& options, std::size_t k) {
  std::vector<Residents::Running> all;
  const auto add_kernel = [&](std::size_t i, std::int64_t most) {
    const std::int64_t wgs = walks[i].wgs();
    all.push_back({.kernel = application.kernels[i],
                   .walk = walks[i],
                   .wgs = most > 0 ? std::min(most, wgs) : wgs});
  };
  add_kernel(k, options.wgs);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    if (application.kernels[i].beside) add_kernel(i, 0);
  }
  return all;
}

}  // namespace

std::vector<Sample> sample(const Hierarchy& hierarchy, const Application& application,
                           const SampleOptions& options) {
  const std::int64_t lines = footprint(application.arrays).count() / hierarchy.line.count() + 1;
  SIM_ASSERT(lines < INT32_MAX);
  MemoryPath path(hierarchy, static_cast<Line>(lines));
  std::vector<Sample> samples;
  Ps now = 0;
  for (std::int64_t pass = 0; pass < options.passes; ++pass) {
    samples.clear();
    for (std::int64_t repeat = 0; repeat < application.repeats; ++repeat) {
      const std::vector<WgWalk> walks = walks_of(hierarchy, application, options, repeat);
      for (std::size_t k = 0; k < walks.size(); ++k) {
        if (application.kernels[k].beside) continue;
        const Sample before = path.counts();
        path.start_kernel(options.policy);
        Residents residents(running(application, walks, options, k), hierarchy.cus, path);
        const Ps last_wg = residents.run(now);
        const Ps end = path.end_kernel(last_wg);
        samples.push_back(path.counts());
        add(samples.back(), before, -1);
        samples.back().time = picoseconds(end - now);
        samples.back().write_back = picoseconds(end - last_wg);
        samples.back().loads_beside = residents.loads_beside();
        now = end;
      }
    }
  }
  return samples;
}

Sample sum(const std::vector<Sample>& samples) {
  Sample all;
  for (const Sample& one : samples) add(all, one, 1);
  return all;
}

}  // namespace weft::cache
