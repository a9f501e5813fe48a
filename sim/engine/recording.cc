#include "sim/engine/recording.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr std::uint32_t kMostGpusApart = 1024;
constexpr std::size_t kMostLinksApart = 4096;

}  // namespace

TracksOfLinks choose_tracks(const Transport& transport, std::uint32_t gpus, Detail detail) {
  TracksOfLinks chosen;
  std::vector<Tracks::Links>& tracks = chosen.tracks.links;
  if (detail >= Detail::kernels && gpus <= kMostGpusApart) chosen.tracks.gpus = gpus;
  const bool apart = detail == Detail::all && transport.links() <= kMostLinksApart;
  chosen.of_link.reserve(transport.links());
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    const LinkId link(i);
    const Tracks::Links own{.link_class = transport.link_class(link),
                            .name = apart ? transport.name(link) : "",
                            .links = 0};
    const auto same = [&own](const Tracks::Links& other) {
      return other.link_class == own.link_class && other.name.empty();
    };
    const auto known = std::find_if(tracks.begin(), tracks.end(), same);
    chosen.of_link.push_back(static_cast<std::uint32_t>(known - tracks.begin()));
    if (known == tracks.end()) tracks.push_back(own);
    tracks[chosen.of_link.back()].links += 1;
  }
  return chosen;
}

RunRecording alone(Recording recording) {
  RunRecording run;
  run.tracks = recording.tracks;
  run.amounts = recording.amounts;
  run.played.push_back({.recording = 0, .start = {}, .first_gpu = 0});
  run.recordings.push_back(std::move(recording));
  return run;
}

}  // namespace weft
