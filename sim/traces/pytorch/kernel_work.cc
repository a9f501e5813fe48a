#include "sim/traces/pytorch/kernel_work.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/traces/pytorch/kernel_tile.h"

namespace weft {
namespace {

struct Launched {
  std::int64_t at = 0;
  std::uint32_t kernel = 0;
};

// By thread, the kernels that it launched, in order.
std::map<std::int64_t, std::vector<Launched>> launches_by_thread(const KinetoFile& file) {
  std::map<std::int64_t, std::uint32_t> kernels;  // by correlation
  for (std::uint32_t i = 0; i < file.gpu.size(); ++i) {
    if (file.gpu[i].kind == GpuEvent::Kind::kernel) kernels[file.gpu[i].correlation] = i;
  }
  std::map<std::int64_t, std::vector<Launched>> launches;
  for (const HostEvent& event : file.host) {
    if (event.kind != HostEvent::Kind::runtime) continue;
    const auto kernel = kernels.find(event.correlation);
    if (kernel == kernels.end()) continue;
    launches[event.thread].push_back({event.start, kernel->second});
    kernels.erase(kernel);
  }
  for (auto& [thread, all] : launches) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Launched& a, const Launched& b) { return a.at < b.at; });
  }
  return launches;
}

// Operators of one thread nest: an inner one begins no earlier and ends no later.
void sort_as_nested(std::vector<CpuOperator>& operators) {
  std::stable_sort(operators.begin(), operators.end(),
                   [](const CpuOperator& a, const CpuOperator& b) {
                     return std::tuple(a.thread, a.start, -a.duration) <
                            std::tuple(b.thread, b.start, -b.duration);
                   });
}

class WorkFinder {
 public:
  explicit WorkFinder(KinetoFile& file) : file_(file), longest_(file.operators.size(), kNone) {}

  void find() {
    auto launches = launches_by_thread(file_);
    std::uint32_t next = 0;
    while (next < file_.operators.size()) {
      const std::int64_t thread = file_.operators[next].thread;
      std::uint32_t end = next;
      while (end < file_.operators.size() && file_.operators[end].thread == thread) ++end;
      for (const Launched& launch : launches[thread]) take(launch, next, end);
      open_.clear();
      next = end;
    }
    for (std::uint32_t i = 0; i < longest_.size(); ++i) {
      if (longest_[i] != kNone) give(file_.operators[i], file_.gpu[longest_[i]]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Operators from `next` on had not begun at the previous launch.
  void take(const Launched& launch, std::uint32_t& next, std::uint32_t end) {
    for (; next < end && file_.operators[next].start <= launch.at; ++next) {
      close(file_.operators[next].start);
      open_.push_back(next);
    }
    close(launch.at);
    if (open_.empty()) return;
    std::uint32_t& longest = longest_[open_.back()];
    const bool longer =
        longest == kNone || file_.gpu[launch.kernel].duration > file_.gpu[longest].duration;
    if (longer) longest = launch.kernel;
  }

  void close(std::int64_t now) {
    while (!open_.empty()) {
      const CpuOperator& last = file_.operators[open_.back()];
      if (last.start + last.duration >= now) return;
      open_.pop_back();
    }
  }

  static void give(const CpuOperator& from, GpuEvent& kernel) {
    if (!from.work || is_library_collective(kernel.name)) return;
    kernel.work = from.work;
    if (kernel.work->gemm) add_tile(kernel.name, kernel.wgs, *kernel.work->gemm);
  }

  KinetoFile& file_;
  std::vector<std::uint32_t> longest_;  // by operator: its longest kernel
  std::vector<std::uint32_t> open_;     // operators of the current thread, the innermost last
};

}  // namespace

void add_work(KinetoFile& file) {
  sort_as_nested(file.operators);
  WorkFinder(file).find();
}

void join_counters(KinetoFile& file) {
  constexpr std::int64_t kCounters = 256;   // bytes
  constexpr std::int64_t kBoundary = 3000;  // ns between the two, at most: else the host was late
  std::vector<std::uint32_t> in_order(file.gpu.size());
  std::iota(in_order.begin(), in_order.end(), 0U);
  std::sort(in_order.begin(), in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const GpuEvent& x = file.gpu[a];
    const GpuEvent& y = file.gpu[b];
    return std::tie(x.device, x.stream, x.start, a) < std::tie(y.device, y.stream, y.start, b);
  });
  const auto clears = [](const GpuEvent& event) {
    return event.kind == GpuEvent::Kind::fill && event.work &&
           event.work->written <= bytes(kCounters);
  };
  const auto counts = [](const GpuEvent& event) {
    return event.kind == GpuEvent::Kind::kernel && event.work &&
           (event.work->kind == RecordedKind::gemm || event.work->kind == RecordedKind::attention);
  };
  std::vector<bool> joined(file.gpu.size(), false);
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    const GpuEvent& fill = file.gpu[in_order[i - 1]];
    GpuEvent& kernel = file.gpu[in_order[i]];
    if (!clears(fill) || !counts(kernel) || fill.device != kernel.device ||
        fill.stream != kernel.stream) {
      continue;
    }
    const std::int64_t between = kernel.start - fill.start - fill.duration;
    const std::int64_t earlier = fill.duration + std::clamp<std::int64_t>(between, 0, kBoundary);
    kernel.start -= earlier;
    kernel.duration += earlier;
    joined[in_order[i - 1]] = true;
  }
  std::vector<GpuEvent> left;
  for (std::size_t i = 0; i < file.gpu.size(); ++i) {
    if (!joined[i]) left.push_back(std::move(file.gpu[i]));
  }
  file.gpu = std::move(left);
}

void find_beside(KinetoFile& file) {
  struct Edge {
    std::int64_t at;
    int step;  // ends come before starts
    std::uint32_t kernel;
    bool operator<(const Edge& other) const {
      return std::tie(at, step, kernel) < std::tie(other.at, other.step, other.kernel);
    }
  };
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < file.gpu.size(); ++i) {
    const GpuEvent& event = file.gpu[i];
    if (event.kind != GpuEvent::Kind::kernel || event.duration == 0) continue;
    edges.push_back({event.start, 1, i});
    edges.push_back({event.start + event.duration, -1, i});
  }
  std::sort(edges.begin(), edges.end());
  // How long, so far, kernels of more than one stream were running.
  std::int64_t shared = 0;
  std::int64_t last = 0;
  std::map<std::int64_t, std::int64_t> running;  // kernels by stream
  std::vector<std::int64_t> shared_before(file.gpu.size(), 0);
  for (const Edge& edge : edges) {
    if (running.size() > 1) shared += edge.at - last;
    last = edge.at;
    GpuEvent& event = file.gpu[edge.kernel];
    if (edge.step > 0) {
      shared_before[edge.kernel] = shared;
      ++running[event.stream];
      continue;
    }
    constexpr std::int64_t kOfItsTime = 20;
    event.beside = (shared - shared_before[edge.kernel]) > event.duration / kOfItsTime;
    if (--running[event.stream] == 0) running.erase(event.stream);
  }
}

}  // namespace weft
