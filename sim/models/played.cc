// Recordings of a model's pieces, each replayed where its runs are.

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/beside.h"
#include "sim/models/run_model.h"

namespace weft {
namespace {

// Tracks of a piece's recording and the corresponding tracks of the whole recording.
struct Pairs {
  std::vector<std::size_t> piece;
  std::vector<std::size_t> all;
  void add(std::size_t of_piece, std::size_t of_all) {
    piece.push_back(of_piece);
    all.push_back(of_all);
  }
};

Pairs same_tracks(const Tracks& piece, const Tracks& all, std::uint32_t first_gpu) {
  Pairs pairs;
  pairs.add(Tracks::cu_time(), Tracks::cu_time());
  pairs.add(Tracks::hbm_bytes(), Tracks::hbm_bytes());
  for (std::size_t i = 0; i < piece.classes.size(); ++i) {
    const auto found = std::find_if(
        all.classes.begin(), all.classes.end(),
        [&](const Tracks::LinkClass& other) { return other.name == piece.classes[i].name; });
    SIM_ASSERT(found != all.classes.end());
    pairs.add(Tracks::of_class(i),
              Tracks::of_class(static_cast<std::size_t>(found - all.classes.begin())));
  }
  for (std::uint32_t gpu = 0; gpu < piece.gpus && gpu + first_gpu < all.gpus; ++gpu) {
    pairs.add(piece.cu_time(gpu), all.cu_time(gpu + first_gpu));
    pairs.add(piece.hbm_bytes(gpu), all.hbm_bytes(gpu + first_gpu));
  }
  return pairs;
}

void add(Intervals& all, const Intervals& piece, const Pairs& tracks, SimTime start) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const SimTime from = start + (piece.from(i) - SimTime{});
    const SimTime until = start + (piece.until(i) - SimTime{});
    for (std::size_t track = 0; track < tracks.all.size(); ++track) {
      const std::int64_t amount = piece.amount(i, tracks.piece[track]);
      if (amount > 0) all.spread(tracks.all[track], from, until, amount);
    }
  }
}

}  // namespace

RunRecording played(const Folded& folded, const std::vector<RunResult>& pieces,
                    std::vector<Recording> recordings, const Cluster& cluster) {
  RunRecording run;
  const Detail detail = std::min(recordings.front().detail, Detail::kernels);  // links by class
  run.tracks = choose_tracks(Transport(cluster.network), cluster.gpus(), detail).tracks;
  SimTime end;
  for (const PieceRun& of : folded.runs) end = later(end, end_of(of, pieces));
  run.amounts = Intervals::lasting(run.tracks.size(), end);
  run.played.reserve(folded.runs.size());
  for (const PieceRun& of : folded.runs) {
    const std::uint32_t first = first_gpu(of, cluster);
    const Recording& recording = recordings[of.piece];
    add(run.amounts, recording.amounts, same_tracks(recording.tracks, run.tracks, first), of.start);
    run.played.push_back({.recording = of.piece, .start = of.start, .first_gpu = first});
  }
  run.amounts.close(end);
  for (Recording& recording : recordings) recording.amounts = {};  // they are in the sum already
  std::stable_sort(run.played.begin(), run.played.end(),
                   [](const Played& a, const Played& b) { return a.start < b.start; });
  run.recordings = std::move(recordings);
  return run;
}

}  // namespace weft
