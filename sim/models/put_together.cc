// Results of a model from those of its pieces.

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/run_model.h"

namespace weft {
namespace {

struct Interval {
  SimTime start;
  SimTime end;
};

class Together {
 public:
  Together(const Folded& folded, const std::vector<RunResult>& pieces, const Cluster& cluster)
      : folded_(folded),
        pieces_(pieces),
        cluster_(cluster),
        transport_(cluster.network),
        computing_(cluster.gpus()) {
    total_.gpus.resize(cluster.gpus());
    total_.links = rows_of(transport_);
  }

  RunResult add_up() {
    schedule();
    for (const RunResult& piece : pieces_) total_.events += piece.events;  // simulated once
    for (std::size_t i = 0; i < folded_.runs.size(); ++i) add_run(folded_.runs[i], times_[i]);
    expose();
    follow_path();
    finish();
    return std::move(total_);
  }

 private:
  void schedule() {
    const std::vector<SimTime> starts = starts_of(folded_, pieces_);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      times_.push_back({starts[i], starts[i] + pieces_[folded_.runs[i].piece].time});
    }
  }

  [[nodiscard]] bool computes(std::uint32_t piece) const {
    const std::vector<OperatorUse>& ops = pieces_[piece].operators;
    return std::any_of(ops.begin(), ops.end(),
                       [](const OperatorUse& use) { return use.role != KernelRole::collective; });
  }

  void add_run(const PieceRun& run, const Interval& when) {
    const RunResult& piece = pieces_[run.piece];
    const std::uint32_t shift = first_gpu(run, cluster_);
    const bool with_computation = computes(run.piece);
    for (const std::uint32_t gpu : gpus_of_piece(run.piece)) {
      add_gpu(total_.gpus[gpu + shift], piece.gpus[gpu], when);
      if (with_computation) computing_[gpu + shift].push_back(when);
    }
    for (const OperatorUse& use : piece.operators) add_operator(use, when);
    if (with_computation) {
      for (const OperatorUse& use : piece.operators) {
        add_saturating(operator_of(use).exposed, use.exposed);
      }
      for (const PartUse& part : piece.parts) {
        PartUse& sum = part_of(part.name);
        add_saturating(sum.computing, part.computing);
        add_saturating(sum.exposed, part.exposed);
      }
    } else {
      waiting_.push_back({run.piece, shift, when});
    }
    // A node's own links are the first ones of the whole.
    for (std::uint32_t i = 0; i < piece.links.size(); ++i) {
      if (piece.links[i].use.messages == 0) continue;
      add(total_.links[transport_.moved(LinkId(i), run.node).value].use, piece.links[i].use);
    }
    add_ledger(piece.ledger);
    total_.fingerprint = total_.fingerprint * 0x9E3779B97F4A7C15ULL + piece.fingerprint;
  }

  const std::vector<std::uint32_t>& gpus_of_piece(std::uint32_t piece) {
    const auto [known, added] = gpus_.try_emplace(piece);
    if (added) known->second = gpus_of(folded_.pieces[piece].graph);
    return known->second;
  }

  // `active` is reckoned behind: runs may lie beside one another.
  static void add_gpu(GpuUse& sum, const GpuUse& use, const Interval& when) {
    sum.end = later(sum.end, when.start + (use.end - SimTime{}));
    sum.computing += use.computing;
    sum.cu_busy += use.cu_busy;
    sum.hbm += use.hbm;
    sum.sent += use.sent;
    sum.received += use.received;
    sum.proxy += use.proxy;
    for (std::size_t i = 0; i < kWaits; ++i) add_saturating(sum.waits[i], use.waits[i]);
  }

  void add_operator(const OperatorUse& use, const Interval& when) {
    const auto [known, added] =
        operators_.try_emplace({use.name, use.role}, total_.operators.size());
    if (added) {
      OperatorUse& fresh = total_.operators.emplace_back();
      fresh.name = use.name;
      fresh.part = use.part;
      fresh.role = use.role;
    }
    if (use.kernels == 0) return;
    OperatorUse& sum = operator_of(use);
    sum.first_start = std::min(sum.first_start, when.start + (use.first_start - SimTime{}));
    sum.first_place = std::min(sum.first_place, when.start + (use.first_place - SimTime{}));
    sum.last_end = later(sum.last_end, when.start + (use.last_end - SimTime{}));
    sum.longest = longer(sum.longest, use.longest);
    add_saturating(sum.sum, use.sum);
    sum.kernels += use.kernels;
    sum.wgs += use.wgs;
    sum.messages += use.messages;
    sum.sent += use.sent;
    sum.hbm += use.hbm;
    add_saturating(sum.wg_time, use.wg_time);
    add_saturating(sum.cu_time, use.cu_time);
  }

  OperatorUse& operator_of(const OperatorUse& use) {
    return total_.operators[operators_.at({use.name, use.role})];
  }

  PartUse& part_of(const std::string& name) {
    const auto known = std::find_if(total_.parts.begin(), total_.parts.end(),
                                    [&name](const PartUse& part) { return part.name == name; });
    if (known != total_.parts.end()) return *known;
    return total_.parts.emplace_back(PartUse{.name = name, .computing = {}, .exposed = {}});
  }

  void add_ledger(const Ledger& ledger) {
    const auto add = [](Ledger::Entry& sum, const Ledger::Entry& entry) {
      sum.asked += entry.asked;
      sum.done += entry.done;
    };
    add(total_.ledger.wgs, ledger.wgs);
    add(total_.ledger.flops, ledger.flops);
    add(total_.ledger.hbm_bytes, ledger.hbm_bytes);
    add(total_.ledger.messages, ledger.messages);
    add(total_.ledger.message_bytes, ledger.message_bytes);
    add(total_.ledger.sent_bytes, ledger.sent_bytes);
  }

  // Runs that only communicate are exposed where no run that computes lies beside them, and none of
  // their own kind that began earlier.
  void expose() {
    for (std::vector<Interval>& intervals : computing_) {
      std::sort(intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.start < b.start; });
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
      return a.when.start < b.when.start;
    });
    std::vector<SimTime> waited(cluster_.gpus());  // until then
    for (const Waiting& run : waiting_) {
      PartUse& part = part_of(pieces_[run.piece].parts.front().name);
      OperatorUse& op = operator_of(pieces_[run.piece].operators.front());
      for (const std::uint32_t gpu : gpus_of_piece(run.piece)) {
        SimTime& until = waited[gpu + run.shift];
        const Interval rest{later(run.when.start, until), run.when.end};
        until = later(until, run.when.end);
        if (rest.start >= rest.end) continue;
        const Duration bare = rest.end - rest.start - beside(computing_[gpu + run.shift], rest);
        add_saturating(part.exposed, bare);
        add_saturating(op.exposed, bare);
        total_.gpus[gpu + run.shift].active += bare;
      }
    }
  }

  // How much of the interval these cover, which are sorted and lie behind one another.
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
    for (std::size_t i = 0; i < folded_.runs.size(); ++i) {
      const PieceRun& run = folded_.runs[i];
      if (!computes(run.piece)) continue;
      const std::uint32_t shift = first_gpu(run, cluster_);
      for (const std::uint32_t gpu : gpus_of_piece(run.piece)) {
        total_.gpus[gpu + shift].active += pieces_[run.piece].gpus[gpu].active;
      }
    }
    for (const GpuUse& gpu : total_.gpus) total_.time = longer(total_.time, gpu.end - SimTime{});
    for (const GpuUse& gpu : total_.gpus) add_saturating(total_.idle, total_.time - gpu.active);
  }

  // From the run that ends last back to the one that it waited for, and so on.
  void follow_path() {
    std::size_t at = 0;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (times_[i].end > times_[at].end) at = i;
    }
    while (true) {
      const PieceRun& run = folded_.runs[at];
      for (const OperatorUse& use : pieces_[run.piece].operators) {
        operator_of(use).critical += use.critical;
      }
      total_.path_gaps += pieces_[run.piece].path_gaps;
      if (run.after.empty()) return;
      at = *std::max_element(run.after.begin(), run.after.end(),
                             [this](auto a, auto b) { return times_[a].end < times_[b].end; });
    }
  }

  struct Waiting {
    std::uint32_t piece;
    std::uint32_t shift;
    Interval when;
  };

  const Folded& folded_;
  const std::vector<RunResult>& pieces_;
  const Cluster& cluster_;
  const Transport transport_;
  RunResult total_;
  std::vector<Interval> times_;
  std::vector<std::vector<Interval>> computing_;  // by GPU
  std::vector<Waiting> waiting_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> gpus_;
  std::map<std::pair<std::string, KernelRole>, std::size_t> operators_;
};

}  // namespace

std::vector<SimTime> starts_of(const Folded& folded, const std::vector<RunResult>& pieces) {
  std::vector<SimTime> starts;
  starts.reserve(folded.runs.size());
  for (const PieceRun& run : folded.runs) {
    SimTime start;
    for (const std::uint32_t before : run.after) {
      start = later(start, starts[before] + pieces[folded.runs[before].piece].time);
    }
    starts.push_back(start);
  }
  return starts;
}

RunResult put_together(const Folded& folded, const std::vector<RunResult>& pieces,
                       const Cluster& cluster) {
  return Together(folded, pieces, cluster).add_up();
}

}  // namespace weft
