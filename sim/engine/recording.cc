#include "sim/engine/recording.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr std::uint32_t kMostGpusApart = 1024;
constexpr std::size_t kMostLinksApart = 4096;

}  // namespace

ChosenTracks choose_tracks(const Transport& transport, std::uint32_t gpus, Detail detail) {
  ChosenTracks chosen;
  Tracks& tracks = chosen.tracks;
  if (detail >= Detail::kernels && gpus <= kMostGpusApart) tracks.gpus = gpus;
  const bool links_apart = detail == Detail::all && transport.links() <= kMostLinksApart;
  chosen.class_of.reserve(transport.links());
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    const std::string name = transport.link_class(LinkId(i));
    const auto known =
        std::find_if(tracks.classes.begin(), tracks.classes.end(),
                     [&name](const Tracks::LinkClass& other) { return other.name == name; });
    chosen.class_of.push_back(static_cast<std::uint32_t>(known - tracks.classes.begin()));
    if (known == tracks.classes.end()) tracks.classes.push_back({.name = name, .links = 0});
    tracks.classes[chosen.class_of.back()].links += 1;
    if (links_apart) tracks.links.push_back(name + " " + transport.name(LinkId(i)));
  }
  return chosen;
}

RunRecording alone(Recording recording) {
  RunRecording run;
  run.tracks = recording.tracks;
  run.amounts = std::exchange(recording.amounts, {});
  run.played.push_back({.recording = 0, .start = {}, .first_gpu = 0});
  run.recordings.push_back(std::move(recording));
  return run;
}

}  // namespace weft
