// Recordings of a model's pieces, each played where its runs are.

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/run_model.h"

namespace weft {
namespace {

// For each track of a piece's, that of all together. GPUs come before links.
std::vector<std::size_t> tracks_in(const Tracks& piece, const Tracks& all,
                                   std::uint32_t first_gpu) {
  std::vector<std::size_t> tracks;
  tracks.reserve(piece.size());
  for (std::uint32_t gpu = 0; gpu < piece.gpus; ++gpu) {
    const std::uint32_t moved = all.gpus == 1 ? 0 : gpu + first_gpu;
    tracks.push_back(Tracks::cu_time(moved));
    tracks.push_back(Tracks::hbm_bytes(moved));
  }
  for (const Tracks::Links& links : piece.links) {
    const auto same = [&links](const Tracks::Links& other) {
      return other.link_class == links.link_class;
    };
    const auto found = std::find_if(all.links.begin(), all.links.end(), same);
    SIM_ASSERT(found != all.links.end());
    tracks.push_back(all.link_time(static_cast<std::size_t>(found - all.links.begin())));
  }
  return tracks;
}

void add(Intervals& all, const Intervals& piece, const std::vector<std::size_t>& tracks,
         SimTime start) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const SimTime from = start + (piece.from(i) - SimTime{});
    const SimTime until = start + (piece.until(i) - SimTime{});
    for (std::size_t track = 0; track < tracks.size(); ++track) {
      const std::int64_t amount = piece.amount(i, track);
      if (amount > 0) all.spread(tracks[track], from, until, amount);
    }
  }
}

}  // namespace

RunRecording played(const Folded& folded, const std::vector<RunResult>& pieces,
                    std::vector<Recording> recordings, const Cluster& cluster) {
  RunRecording run;
  const Detail detail = std::min(recordings.front().detail, Detail::kernels);  // links by class
  run.tracks = choose_tracks(Transport(cluster.network), cluster.gpus(), detail).tracks;
  const std::vector<SimTime> starts = starts_of(folded, pieces);
  SimTime end;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    end = later(end, starts[i] + pieces[folded.runs[i].piece].time);
  }
  run.amounts = Intervals::lasting(run.tracks.size(), end);
  run.played.reserve(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint32_t piece = folded.runs[i].piece;
    const std::uint32_t first = first_gpu(folded.pieces[piece], folded.runs[i], cluster);
    const Recording& recording = recordings[piece];
    add(run.amounts, recording.amounts, tracks_in(recording.tracks, run.tracks, first), starts[i]);
    run.played.push_back({.recording = piece, .start = starts[i], .first_gpu = first});
  }
  run.amounts.close(end);
  std::stable_sort(run.played.begin(), run.played.end(),
                   [](const Played& a, const Played& b) { return a.start < b.start; });
  run.recordings = std::move(recordings);
  return run;
}

}  // namespace weft
