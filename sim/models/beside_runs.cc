// How what lies beside runs adds up.
#include <algorithm>
#include <optional>
#include <set>

#include "sim/models/beside.h"

namespace weft {
namespace {

std::vector<Duration> moments_of(const std::vector<Beside>& all) {
  std::vector<Duration> edges;
  for (const Beside& one : all) {
    edges.push_back(one.from);
    edges.push_back(one.until);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// At each moment what `join` makes of all that are there.
template <class Join>
std::vector<Beside> joined_by(const std::vector<Beside>& all, const Join& join) {
  const std::vector<Duration> edges = moments_of(all);
  std::vector<Beside> joined;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::optional<Slowdown> slowdown;
    for (const Beside& one : all) {
      if (one.from > edges[i] || one.until < edges[i + 1]) continue;
      slowdown = slowdown ? join(*slowdown, one.slowdown) : one.slowdown;
    }
    if (slowdown) joined.push_back({edges[i], edges[i + 1], *slowdown});
  }
  return joined;
}

std::vector<Beside> largest_of(const std::vector<Beside>& all) {
  return joined_by(all, [](Slowdown a, Slowdown b) { return std::max(a, b); });
}

// What each adds.
std::vector<Beside> sum_of(const std::vector<Beside>& all) {
  return joined_by(all, [](Slowdown a, Slowdown b) { return a + b - kAsAlone; });
}

}  // namespace

std::vector<Beside> most_on_a_gpu(const std::map<std::uint32_t, std::vector<Beside>>& on_gpu) {
  std::set<std::vector<Beside>> different;
  for (const auto& [gpu, beside] : on_gpu) different.insert(beside);
  std::vector<Beside> all;
  for (const std::vector<Beside>& beside : different) {
    const std::vector<Beside> sum = sum_of(beside);
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return different.size() > 1 ? largest_of(all) : all;
}

std::vector<SimTime> ends_on_gpus(const ModelGraph& transfer, const RunResult& alone) {
  std::vector<SimTime> ends;
  ends.reserve(alone.gpus.size());
  for (const GpuUse& gpu : alone.gpus) ends.push_back(gpu.end);
  std::vector<std::uint32_t> operators(ends.size());
  for (const ModelOp& op : transfer.ops) {
    for (const std::vector<std::uint32_t>& group : transfer.places[op.place].groups) {
      for (const std::uint32_t gpu : group) ++operators[gpu];
    }
  }
  for (const ModelOp& op : transfer.ops) {
    for (const std::vector<std::uint32_t>& group : transfer.places[op.place].groups) {
      SimTime end;
      for (const std::uint32_t gpu : group) {
        if (operators[gpu] == 1) end = later(end, alone.gpus[gpu].end);
      }
      for (const std::uint32_t gpu : group) ends[gpu] = later(ends[gpu], end);
    }
  }
  return ends;
}

SimTime end_of(const PieceRun& run, const std::vector<RunResult>& pieces) {
  return run.start + run.pace.after(pieces[run.piece].time);
}

Beside FindNeighbours::beside(const PieceRun& run, const PieceRun& transfer,
                              const std::vector<std::uint32_t>& gpus, Slowdown slowdown) const {
  SimTime until;
  for (const std::uint32_t gpu : gpus) {
    until = later(until, end_on(gpu - first_gpu(transfer, cluster_), transfer));
  }
  return {transfer.start - run.start, until - run.start, slowdown};
}

std::vector<std::vector<Beside>> FindNeighbours::beside_runs(
    const std::vector<PieceRun>& runs, const std::vector<Neighbours>& neighbours,
    const std::map<PairBeside, MutualSlowdown>& slowdowns) const {
  struct SlowedBy {
    std::uint32_t transfer = 0;  // run
    Slowdown slowdown = kAsAlone;
  };
  struct OfTransfer {
    std::vector<Beside> computing;
    std::vector<Beside> transfers;
  };
  std::vector<std::vector<SlowedBy>> of_run(runs.size());
  std::vector<OfTransfer> of_transfer(runs.size());
  for (const Neighbours& one : neighbours) {
    const MutualSlowdown& slow = slowdowns.at(one.pair);
    const SimTime start = runs[one.transfer].start;
    SimTime first = SimTime::from_count(INT64_MAX);
    SimTime last;
    for (const Neighbours::Computing& computing : one.computing) {
      of_run[computing.run].push_back({one.transfer, slow.computing[computing.stands_for_it]});
      first = std::min(first, runs[computing.run].start);
      last = later(last, end_of(runs[computing.run], results_));
    }
    const bool computes = !computes_on_[runs[one.computing.front().run].piece].empty();
    OfTransfer& of = of_transfer[one.transfer];
    (computes ? of.computing : of.transfers)
        .push_back({first - start, last - start, slow.transfer});
  }
  std::vector<std::vector<Beside>> all(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::map<std::uint32_t, std::vector<Beside>> on_gpu;
    for (const SlowedBy& by : of_run[i]) {
      const std::vector<std::uint32_t> gpus = shared(runs[by.transfer], runs[i]);
      const Beside one = beside(runs[i], runs[by.transfer], gpus, by.slowdown);
      for (const std::uint32_t gpu : gpus) on_gpu[gpu].push_back(one);
      of_transfer[i].transfers.push_back(one);
    }
    if (!computes_on_[runs[i].piece].empty()) {
      all[i] = most_on_a_gpu(on_gpu);
      continue;
    }
    // What holds a transfer at one of its ends holds it at the other, too; what it loses to those
    // that compute and to other transfers adds up.
    all[i] = largest_of(of_transfer[i].computing);
    const std::vector<Beside> by_transfers = largest_of(of_transfer[i].transfers);
    all[i].insert(all[i].end(), by_transfers.begin(), by_transfers.end());
  }
  return all;
}

}  // namespace weft
