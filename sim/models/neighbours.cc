// Which transfers lie beside which runs.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/digest.h"
#include "sim/core/ties.h"
#include "sim/models/beside.h"

namespace weft {
namespace {

constexpr std::uint32_t kAnywhere = UINT32_MAX;

std::vector<std::uint32_t> gpus_that_compute(const RunResult& piece) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < piece.gpus.size(); ++gpu) {
    if (piece.gpus[gpu].computing.count() > 0) gpus.push_back(gpu);
  }
  return gpus;
}

// Of few members that tell most graphs apart.
DigestValue hash_of(const ModelGraph& graph) {
  Digest hash;
  for (const ModelOp& op : graph.ops) hash.add_all(op.name, op.stream, op.after);
  return hash.value();
}

// Wherever they are.
bool graphs_do_the_same(const ModelGraph& a, const ModelGraph& b) {
  const auto same = [](const ModelOp& x, const ModelOp& y) {
    return x.after == y.after && do_the_same(x, y);
  };
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), same);
}

// Of graphs that do the same: whether all groups of one, moved so far, are those of the other.
bool lie_alike(const ModelGraph& a, const ModelGraph& b, std::uint32_t moved) {
  for (std::uint32_t i = 0; i < a.ops.size(); ++i) {
    Groups place = a.places[a.ops[OpId(i)].place];
    for (std::vector<std::uint32_t>& group : place.groups) {
      for (std::uint32_t& gpu : group) gpu += moved;
    }
    if (place != b.places[b.ops[OpId(i)].place]) return false;
  }
  return true;
}

// Of runs, those that a group of the transfer has GPUs of. `on_gpu`: which of them is there.
Ties tied_by(const ModelGraph& transfer, std::uint32_t shift,
             const std::map<std::uint32_t, std::uint32_t>& on_gpu, std::size_t runs) {
  Ties ties(runs);
  for (const ModelOp& op : transfer.ops) {
    for (const std::vector<std::uint32_t>& group : transfer.places[op.place].groups) {
      std::optional<std::uint32_t> first;
      for (const std::uint32_t gpu : group) {
        const auto on = on_gpu.find(gpu + shift);
        if (on == on_gpu.end()) continue;
        if (first) ties.tie(*first, on->second);
        first = on->second;
      }
    }
  }
  return ties;
}

// In which a transfer is on a GPU.
struct Stay {
  SimTime start;
  SimTime end;
  std::uint32_t run = 0;
};

// Runs that are on a GPU at the same time, each pair once.
std::set<std::pair<std::uint32_t, std::uint32_t>> met(std::vector<std::vector<Stay>> on_gpu) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> met;
  for (std::vector<Stay>& stays : on_gpu) {
    std::stable_sort(stays.begin(), stays.end(),
                     [](const Stay& a, const Stay& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < stays.size(); ++i) {
      for (std::size_t j = i + 1; j < stays.size() && stays[j].start < stays[i].end; ++j) {
        met.insert(std::minmax(stays[i].run, stays[j].run));
      }
    }
  }
  return met;
}

// Transfers on one stream follow one another.
bool share_a_stream(const ModelGraph& a, const ModelGraph& b) {
  return std::any_of(a.ops.begin(), a.ops.end(), [&b](const ModelOp& x) {
    return std::any_of(b.ops.begin(), b.ops.end(),
                       [&x](const ModelOp& y) { return x.stream == y.stream; });
  });
}

}  // namespace

FindNeighbours::FindNeighbours(const std::vector<Piece>& pieces,
                               const std::vector<RunResult>& results, const Cluster& cluster)
    : pieces_(pieces), results_(results), cluster_(cluster) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    computes_on_.push_back(gpus_that_compute(results[i]));
    all_.push_back(gpus_of(pieces[i].graph()));
    std::vector<SimTime>& ends = ends_.emplace_back();
    if (computes_on_[i].empty()) ends = ends_on_gpus(pieces[i].graph(), results[i]);
  }
  find_contents();
}

void FindNeighbours::find_contents() {
  std::map<DigestValue, std::vector<std::uint32_t>> by_hash;      // the first that does it
  std::map<std::uint32_t, std::vector<std::uint32_t>> shapes_of;  // of those, of each shape
  for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
    const ModelGraph& graph = pieces_[i].graph();
    Content& content =
        contents_.emplace_back(Content{.does = i, .shape = i, .first_gpu = all_[i].front()});
    std::vector<std::uint32_t>& alike = by_hash[hash_of(graph)];
    const auto does = std::find_if(alike.begin(), alike.end(), [&](std::uint32_t other) {
      return graphs_do_the_same(pieces_[other].graph(), graph);
    });
    if (does == alike.end()) {
      alike.push_back(i);
    } else {
      content.does = *does;
    }
    std::vector<std::uint32_t>& shapes = shapes_of[content.does];
    const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](std::uint32_t other) {
      return lie_alike(pieces_[other].graph(), graph,
                       content.first_gpu - contents_[other].first_gpu);
    });
    if (shape == shapes.end()) {
      shapes.push_back(i);
    } else {
      content.shape = *shape;
    }
  }
}

FindNeighbours::Spans FindNeighbours::spans_of(const std::vector<PieceRun>& runs) const {
  Spans spans{.on_gpu = std::vector<std::vector<Span>>(cluster_.gpus()), .of_block = {}};
  for (std::uint32_t i = 0; i < runs.size(); ++i) {
    const PieceRun& run = runs[i];
    if (run.joined || computes_on_[run.piece].empty()) continue;
    spans.of_block[run.block].push_back(i);
    const Span span{run.start, end_of(run, results_), i};
    for (const std::uint32_t gpu : computes_on_[run.piece]) {
      spans.on_gpu[gpu + first_gpu(run, cluster_)].push_back(span);
    }
  }
  for (std::vector<Span>& of_gpu : spans.on_gpu) {
    std::stable_sort(of_gpu.begin(), of_gpu.end(),
                     [](const Span& a, const Span& b) { return a.end < b.end; });
  }
  return spans;
}

std::vector<Neighbours> FindNeighbours::in(const std::vector<PieceRun>& runs) {
  const Spans spans = spans_of(runs);
  std::vector<Neighbours> all;
  std::vector<std::vector<Stay>> transfers(cluster_.gpus());
  for (std::uint32_t i = 0; i < runs.size(); ++i) {
    if (runs[i].joined || !computes_on_[runs[i].piece].empty()) continue;
    for (const BlockId block : blocks_beside(runs[i], runs, spans)) {
      add(i, spans.of_block.at(block), runs, all);
    }
    for (const std::uint32_t gpu : all_[runs[i].piece]) {
      transfers[gpu + first_gpu(runs[i], cluster_)].push_back(
          {runs[i].start, end_on(gpu, runs[i]), i});
    }
  }
  for (const auto& [a, b] : met(std::move(transfers))) {
    if (share_a_stream(pieces_[runs[a].piece].graph(), pieces_[runs[b].piece].graph())) continue;
    const bool is_longer = results_[runs[a].piece].time >= results_[runs[b].piece].time;
    all.push_back(neighbours(is_longer ? a : b, {is_longer ? b : a}, runs));
  }
  return all;
}

SimTime FindNeighbours::end_on(std::uint32_t gpu, const PieceRun& transfer) const {
  return transfer.start + transfer.pace.after(ends_[transfer.piece][gpu] - SimTime{});
}

std::set<BlockId> FindNeighbours::blocks_beside(const PieceRun& transfer,
                                                const std::vector<PieceRun>& runs,
                                                const Spans& all) const {
  std::set<BlockId> blocks;
  for (const std::uint32_t gpu : all_[transfer.piece]) {
    const SimTime end = end_on(gpu, transfer);
    const std::vector<Span>& spans = all.on_gpu[gpu + first_gpu(transfer, cluster_)];
    auto at = std::partition_point(spans.begin(), spans.end(),
                                   [&](const Span& span) { return span.end <= transfer.start; });
    for (; at != spans.end() && at->start < end; ++at) blocks.insert(runs[at->run].block);
  }
  return blocks;
}

std::vector<std::uint32_t> FindNeighbours::shared(const PieceRun& transfer,
                                                  const PieceRun& run) const {
  const std::vector<std::uint32_t>& gpus = all_[transfer.piece];
  const std::uint32_t shift = first_gpu(transfer, cluster_);
  std::vector<std::uint32_t> both;
  const std::vector<std::uint32_t>& own =
      computes_on_[run.piece].empty() ? all_[run.piece] : computes_on_[run.piece];
  for (const std::uint32_t gpu : own) {
    const std::uint32_t whole = gpu + first_gpu(run, cluster_);
    if (whole >= shift && std::binary_search(gpus.begin(), gpus.end(), whole - shift)) {
      both.push_back(whole);
    }
  }
  return both;
}

// With all runs of the block on the transfer's GPUs, of which some may be there at other times:
// those together that a group of the transfer ties.
void FindNeighbours::add(std::uint32_t transfer, const std::vector<std::uint32_t>& of_block,
                         const std::vector<PieceRun>& runs, std::vector<Neighbours>& all) {
  const PieceRun& run = runs[transfer];
  std::vector<std::uint32_t> beside;
  std::map<std::uint32_t, std::uint32_t> on_gpu;  // index in these, by GPU
  for (const std::uint32_t i : of_block) {
    if (shared(run, runs[i]).empty()) continue;
    for (const std::uint32_t gpu : all_[runs[i].piece]) {
      on_gpu[gpu + first_gpu(runs[i], cluster_)] = static_cast<std::uint32_t>(beside.size());
    }
    beside.push_back(i);
  }
  Ties ties = tied_by(pieces_[run.piece].graph(), first_gpu(run, cluster_), on_gpu, beside.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> tied;
  for (std::uint32_t i = 0; i < beside.size(); ++i) tied[ties.find(i)].push_back(beside[i]);
  for (auto& [first, tied_runs] : tied) all.push_back(neighbours(transfer, tied_runs, runs));
}

Neighbours FindNeighbours::neighbours(std::uint32_t transfer, std::vector<std::uint32_t> computing,
                                      const std::vector<PieceRun>& runs) {
  const auto placed = [&](std::uint32_t i) { return PlacedPiece{runs[i].piece, runs[i].node}; };
  std::sort(computing.begin(), computing.end(),
            [&](std::uint32_t a, std::uint32_t b) { return placed(a) < placed(b); });
  std::pair<PlacedPiece, std::vector<PlacedPiece>> key{placed(transfer), {}};
  for (const std::uint32_t i : computing) key.second.push_back(placed(i));
  auto known = pairs_.find(key);
  if (known == pairs_.end()) {
    Pair pair = pair_of(key.first, key.second);
    known = pairs_.emplace(std::move(key), std::move(pair)).first;
  }
  Neighbours all{.pair = known->second.pair, .transfer = transfer, .computing = {}};
  all.pair.together = begin_together(runs[transfer], computing, runs);
  for (std::size_t i = 0; i < computing.size(); ++i) {
    all.computing.push_back({computing[i], known->second.stands_for[i]});
  }
  return all;
}

// As good as.
bool FindNeighbours::begin_together(const PieceRun& transfer,
                                    const std::vector<std::uint32_t>& computing,
                                    const std::vector<PieceRun>& runs) const {
  const Duration transferring = results_[transfer.piece].time;
  return std::all_of(computing.begin(), computing.end(), [&](std::uint32_t i) {
    const PieceRun& run = runs[i];
    const SimTime first = std::min(transfer.start, run.start);
    const Duration apart = later(transfer.start, run.start) - first;
    const Duration shorter = std::min(transferring, results_[run.piece].time);
    return apart.count() <= shorter.count() / 8;
  });
}

bool FindNeighbours::is_sound(const PlacedPiece& placed) const {
  const std::uint32_t shift = placed.node * per_node();
  return std::all_of(all_[placed.piece].begin(), all_[placed.piece].end(), [&](std::uint32_t gpu) {
    return cluster_.is_sound(cluster_.node_of(GpuId(gpu + shift)));
  });
}

// Of alike ones in sound nodes the first is taken.
FindNeighbours::Pair FindNeighbours::pair_of(const PlacedPiece& transfer,
                                             const std::vector<PlacedPiece>& all) {
  Pair pair;
  std::vector<PlacedPiece> taken;
  std::map<std::uint32_t, std::uint32_t> of_shape;
  for (const PlacedPiece& placed : all) {
    const auto next = static_cast<std::uint32_t>(taken.size());
    const std::uint32_t of =
        is_sound(placed) ? of_shape.try_emplace(contents_[placed.piece].shape, next).first->second
                         : next;
    pair.stands_for.push_back(of);
    if (of == next) taken.push_back(placed);
  }
  pair.pair = known_pair(transfer, taken);
  return pair;
}

// Where they lie is left out unless a node is unsound: what slows them is on their GPUs.
PairBeside FindNeighbours::known_pair(const PlacedPiece& transfer,
                                      const std::vector<PlacedPiece>& computing) {
  const std::uint32_t per_node = this->per_node();
  std::vector<bool> gpus(cluster_.gpus());
  std::set<std::uint32_t> nodes;
  bool in_nodes = pieces_[transfer.piece].in_a_node;
  for (const PlacedPiece& placed : computing) {
    in_nodes = in_nodes && pieces_[placed.piece].in_a_node;
    for (const std::uint32_t gpu : all_[placed.piece]) {
      gpus[gpu + placed.node * per_node] = true;
      nodes.insert(gpu / per_node + placed.node);
    }
  }
  const std::uint32_t shift = transfer.node * per_node;
  std::vector<std::vector<std::vector<std::uint32_t>>> groups;
  for (Groups& of_op : groups_on(pieces_[transfer.piece].graph(), shift, gpus)) {
    for (std::vector<std::uint32_t>& group : of_op.groups) {
      for (std::uint32_t& gpu : group) {
        gpu += shift;
        nodes.insert(gpu / per_node);
      }
    }
    groups.push_back(std::move(of_op.groups));
  }
  const std::uint32_t first = *nodes.begin();
  for (auto& of_op : groups) {
    for (auto& group : of_op) {
      for (std::uint32_t& gpu : group) gpu -= first * per_node;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shapes;
  for (const PlacedPiece& placed : computing) {
    const Content& content = contents_[placed.piece];
    shapes.emplace_back(content.shape, content.first_gpu + (placed.node - first) * per_node);
  }
  const bool sound = (nodes.size() == 1 || cluster_.spec.degraded_links.empty()) &&
                     std::all_of(nodes.begin(), nodes.end(),
                                 [&](std::uint32_t node) { return cluster_.is_sound(node); });
  const bool moves = cluster_.unsound.empty() || (in_nodes && nodes.size() == 1);
  const std::uint32_t by = moves ? first : 0;
  PairBeside pair{
      .transfer = {transfer.piece, transfer.node - by}, .computing = {}, .together = false};
  for (const PlacedPiece& placed : computing) {
    pair.computing.push_back({placed.piece, placed.node - by});
  }
  Key key{contents_[transfer.piece].does, std::move(groups), std::move(shapes),
          sound ? kAnywhere : first};
  return known_.try_emplace(std::move(key), std::move(pair)).first->second;
}

}  // namespace weft
