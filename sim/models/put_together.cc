// Computes the results of a model from those of its pieces.

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/assert.h"
#include "sim/engine/overdrawn.h"
#include "sim/models/beside.h"
#include "sim/models/run_model.h"
#include "sim/models/schedule.h"

namespace weft {
namespace {

struct Interval {
  SimTime start;
  SimTime end;
};

// GPUs of a piece: those that compute in it, and others, which only exchange data. Whether a
// transfer is exposed on the latter depends on what they compute meanwhile in other runs.
struct PieceGpus {
  struct Waiting {
    std::uint32_t gpu;
    std::uint32_t op;  // its first operator
  };
  std::vector<std::uint32_t> computing;
  std::vector<Waiting> waiting;
  std::vector<Duration> exposed_elsewhere;  // by operator: exposed time counted on the latter
};

class Together {
 public:
  Together(const Folded& folded, const std::vector<RunResult>& pieces,
           const std::vector<FirstOperators>& first_operators, const Cluster& cluster)
      : folded_(folded),
        pieces_(pieces),
        first_operators_(first_operators),
        cluster_(cluster),
        transport_(cluster.network),
        computing_(cluster.gpus()),
        computing_active_(cluster.gpus()),
        places_(pieces.size()) {
    total_.gpus.resize(cluster.gpus());
    total_.links = rows_of(transport_, SimTime{});
  }

  RunResult add_up() {
    schedule();
    for (const RunResult& piece : pieces_) total_.events += piece.events;  // simulated once
    for (std::size_t i = 0; i < folded_.runs.size(); ++i) {
      const PieceRun& run = folded_.runs[i];
      if (run.pace.is_as_alone()) {
        add_run(run, pieces_[run.piece], gpus_in(run.piece), times_[i]);
      } else {
        const RunResult slowed = at_pace(pieces_[run.piece], run.pace);
        const PieceGpus gpus =
            gpus_in(folded_.pieces[run.piece].graph(), slowed, first_operators_[run.piece]);
        add_run(run, slowed, gpus, times_[i]);
      }
    }
    expose();
    follow_path();
    finish();
    return std::move(total_);
  }

 private:
  void schedule() {
    for (const PieceRun& run : folded_.runs) {
      times_.push_back({run.start, end_of(run, pieces_)});
    }
  }

  // `piece`: what it does at its pace.
  void add_run(const PieceRun& run, const RunResult& piece, const PieceGpus& gpus,
               const Interval& when) {
    const std::uint32_t shift = first_gpu(run, cluster_);
    const std::vector<std::size_t>& places = places_of(run.piece);
    for (std::size_t op = 0; op < places.size(); ++op) {
      const OperatorUse& use = piece.operators[op];
      if (use.kernels > 0) add(total_.operators[places[op]], use, when.start - SimTime{});
    }
    for (const std::uint32_t gpu : gpus.computing) {
      add_gpu(total_.gpus[gpu + shift], piece.gpus[gpu], when);
      computing_[gpu + shift].push_back(when);
    }
    for (const PieceGpus::Waiting& waiting : gpus.waiting) {
      const GpuUse& use = piece.gpus[waiting.gpu];
      add_gpu(total_.gpus[waiting.gpu + shift], use, when);
      // Counted back from its end: before that it waits for others of the piece, without a kernel.
      const SimTime end = when.start + (use.end - SimTime{});
      waiting_.push_back({.gpu = waiting.gpu + shift,
                          .piece = run.piece,
                          .op = waiting.op,
                          .when = {end - use.active, end}});
    }
    // The links of a single node are the first links of the whole cluster.
    for (std::uint32_t i = 0; i < piece.links.size(); ++i) {
      if (piece.links[i].use.messages == 0) continue;
      add(total_.links[transport_.moved(LinkId(i), run.node).value].use, piece.links[i].use);
    }
    add_ledger(piece.ledger);
    total_.fingerprint = total_.fingerprint * 0x9E3779B97F4A7C15ULL + piece.fingerprint;
    for (const std::uint32_t gpu : gpus.computing) {
      computing_active_[gpu + shift] += piece.gpus[gpu].active;
    }
    if (!gpus.computing.empty()) add_parts(run.piece, piece, gpus);
  }

  // For GPUs that compute; waits of the others follow when the times of all runs are known.
  void add_parts(std::uint32_t id, const RunResult& piece, const PieceGpus& gpus) {
    for (std::size_t op = 0; op < piece.operators.size(); ++op) {
      const OperatorUse& use = piece.operators[op];
      const Duration exposed = use.exposed - gpus.exposed_elsewhere[op];
      add_saturating(operator_of(id, op).exposed, exposed);
      add_saturating(part_of(use.part).exposed, exposed);
    }
    for (const PartUse& part : piece.parts) {
      add_saturating(part_of(part.name).computing, part.computing);
    }
  }

  const PieceGpus& gpus_in(std::uint32_t piece) {
    const auto [known, added] = gpus_.try_emplace(piece);
    if (added) {
      known->second =
          gpus_in(folded_.pieces[piece].graph(), pieces_[piece], first_operators_[piece]);
    }
    return known->second;
  }

  static PieceGpus gpus_in(const ModelGraph& graph, const RunResult& piece,
                           const FirstOperators& first_operators) {
    PieceGpus gpus{.computing = {}, .waiting = {}, .exposed_elsewhere = {}};
    gpus.exposed_elsewhere.resize(piece.operators.size());
    for (const std::uint32_t gpu : gpus_of(graph)) {
      if (piece.gpus[gpu].computing.count() > 0) {
        gpus.computing.push_back(gpu);
        continue;
      }
      SIM_ASSERT(!first_operators[gpu].is_none());
      const std::uint32_t first = first_operators[gpu].value;
      gpus.waiting.push_back({.gpu = gpu, .op = first});
      Duration active = piece.gpus[gpu].active;  // all of it exposed
      for (std::size_t i = 0; i < piece.operators.size(); ++i) {
        const std::size_t op = (first + i) % piece.operators.size();
        const Duration part =
            std::min(active, piece.operators[op].exposed - gpus.exposed_elsewhere[op]);
        gpus.exposed_elsewhere[op] += part;
        active = active - part;
      }
    }
    return gpus;
  }

  // `active` is computed afterwards: runs may overlap.
  static void add_gpu(GpuUse& sum, const GpuUse& use, const Interval& when) {
    sum.end = later(sum.end, when.start + (use.end - SimTime{}));
    sum.computing += use.computing;
    sum.cu_busy += use.cu_busy;
    sum.hbm += use.hbm;
    sum.flops += use.flops;
    sum.sent += use.sent;
    sum.received += use.received;
    sum.proxy += use.proxy;
    for (std::size_t i = 0; i < kWaits; ++i) add_saturating(sum.waits[i], use.waits[i]);
  }

  // Of a piece's operators, in those of all: found by name once, as a piece may run very often.
  const std::vector<std::size_t>& places_of(std::uint32_t piece) {
    std::vector<std::size_t>& places = places_[piece];
    if (!places.empty()) return places;
    for (const OperatorUse& use : pieces_[piece].operators) {
      const auto [known, added] =
          operators_.try_emplace({use.name, use.role}, total_.operators.size());
      places.push_back(known->second);
      if (!added) continue;
      OperatorUse& fresh = total_.operators.emplace_back();
      fresh.name = use.name;
      fresh.part = use.part;
      fresh.role = use.role;
      fresh.law = use.law;
    }
    return places;
  }

  OperatorUse& operator_of(std::uint32_t piece, std::size_t op) {
    return total_.operators[places_[piece][op]];
  }

  PartUse& part_of(const std::string& name) {
    const auto known = std::find_if(total_.parts.begin(), total_.parts.end(),
                                    [&name](const PartUse& part) { return part.name == name; });
    if (known != total_.parts.end()) return *known;
    return total_.parts.emplace_back(PartUse{.name = name, .computing = {}, .exposed = {}});
  }

  void add_ledger(const Ledger& ledger) {
    add(total_.ledger, ledger);
    if (total_.ledger.overdrawn.empty()) total_.ledger.overdrawn = ledger.overdrawn;
  }

  // Runs that only communicate are exposed while no run that computes overlaps them, nor any of
  // their own kind that began earlier.
  void expose() {
    for (std::vector<Interval>& intervals : computing_) {
      std::sort(intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.start < b.start; });
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
      return a.when.start < b.when.start;
    });
    std::vector<SimTime> waited(cluster_.gpus());  // until when waits are counted already
    for (const Waiting& run : waiting_) {
      SimTime& until = waited[run.gpu];
      const Interval rest{later(run.when.start, until), run.when.end};
      until = later(until, run.when.end);
      if (rest.start >= rest.end) continue;
      const Duration bare = rest.end - rest.start - beside(computing_[run.gpu], rest);
      add_saturating(part_of(pieces_[run.piece].operators[run.op].part).exposed, bare);
      add_saturating(operator_of(run.piece, run.op).exposed, bare);
      total_.gpus[run.gpu].active += bare;
    }
  }

  // How much of the interval the others cover, which are sorted and do not overlap.
  static Duration beside(const std::vector<Interval>& covering, const Interval& interval) {
    Duration sum;
    auto at = std::partition_point(covering.begin(), covering.end(), [&](const Interval& other) {
      return other.end <= interval.start;
    });
    for (; at != covering.end() && at->start < interval.end; ++at) {
      const SimTime start = later(at->start, interval.start);
      const SimTime end = std::min(at->end, interval.end);
      if (end > start) sum += end - start;
    }
    return sum;
  }

  void finish() {
    for (std::uint32_t gpu = 0; gpu < cluster_.gpus(); ++gpu) {
      total_.gpus[gpu].active += computing_active_[gpu];
    }
    for (const GpuUse& gpu : total_.gpus) total_.time = longer(total_.time, gpu.end - SimTime{});
    for (const GpuUse& gpu : total_.gpus) add_saturating(total_.idle, total_.time - gpu.active);
    // Concurrent runs share what each had to itself when it was simulated.
    if (total_.ledger.overdrawn.empty()) total_.ledger.overdrawn = overdrawn(total_, cluster_);
  }

  // From the run that ends last back to the run that it waited for, and so on.
  void follow_path() {
    std::size_t last = 0;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (times_[i].end > times_[last].end) last = i;
    }
    const std::uint32_t id = folded_.runs[last].piece;
    const RunResult piece = at_pace(pieces_[id], folded_.runs[last].pace);
    for (std::size_t op = 0; op < piece.operators.size(); ++op) {
      operator_of(id, op).critical += piece.operators[op].critical;
    }
    total_.path_gaps += piece.path_gaps;
    SimTime from = piece.path_from;
    while (const Before* before = last_before(folded_.runs[last], from)) {
      last = before->run;
      from = add_path(folded_.runs[last], before->op);
    }
  }

  // Returns when it begins, from its run's start.
  SimTime add_path(const PieceRun& run, OpId op) {
    const std::uint32_t id = run.piece;
    const RunResult& piece = pieces_[id];
    const ExitUse exit = at_pace(piece.exits[exit_of(folded_.pieces[id], op)], run.pace);
    for (std::size_t i = 0; i < piece.operators.size(); ++i) {
      operator_of(id, i).critical += exit.critical[i];
    }
    total_.path_gaps += exit.path_gaps;
    return exit.path_from;
  }

  // What ended last before an operator that was released so long after the run's start; null: it
  // waited for nothing.
  [[nodiscard]] const Before* last_before(const PieceRun& run, SimTime release) const {
    const Before* last = nullptr;
    const SimTime until = run.start + (release - SimTime{});
    const auto end = [this](const Before& before) { return end_of(before, folded_, pieces_); };
    for (const std::vector<Entrance>& strand : run.strands) {
      for (const Entrance& entrance : strand) {
        for (const Before& before : entrance.before) {
          if (end(before) > until) continue;
          if (last == nullptr || end(*last) < end(before)) last = &before;
        }
      }
    }
    return last;
  }

  struct Waiting {
    std::uint32_t gpu;
    std::uint32_t piece;
    std::uint32_t op;
    Interval when;
  };

  const Folded& folded_;
  const std::vector<RunResult>& pieces_;
  const std::vector<FirstOperators>& first_operators_;
  const Cluster& cluster_;
  const Transport transport_;
  RunResult total_;
  std::vector<Interval> times_;
  std::vector<std::vector<Interval>> computing_;  // by GPU
  std::vector<Duration> computing_active_;        // the same: GpuUse::active of these
  std::vector<Waiting> waiting_;
  std::map<std::uint32_t, PieceGpus> gpus_;  // by piece
  std::map<std::pair<std::string, KernelRole>, std::size_t> operators_;
  std::vector<std::vector<std::size_t>> places_;  // by piece, once it has run
};

}  // namespace

RunResult put_together(const Folded& folded, const std::vector<RunResult>& pieces,
                       const std::vector<FirstOperators>& first_operators, const Cluster& cluster) {
  return Together(folded, pieces, first_operators, cluster).add_up();
}

}  // namespace weft
