#include "sim/report/over_time.h"

#include "sim/report/csv_line.h"
#include "sim/report/measures.h"
#include "sim/scenario/modes.h"

namespace weft {

double OverTime::length_ps(std::size_t interval) const {
  const Intervals& amounts = recording_.amounts;
  return static_cast<double>((amounts.until(interval) - amounts.from(interval)).count());
}

double OverTime::cu_share(std::size_t interval, double cu_time, double gpus) const {
  return cu_time / gpu_.cus / gpus / length_ps(interval);
}

double OverTime::hbm_share(std::size_t interval, double moved, double gpus) const {
  const double bytes_per_ps = static_cast<double>(gpu_.memory.bandwidth.count()) * 1e-12;
  return moved / bytes_per_ps / gpus / length_ps(interval);
}

// Whole numbers: the same whatever the tracks are.
template <class Track>
double OverTime::sum(std::size_t interval, std::size_t tracks, Track track) const {
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (std::size_t i = 0; i < tracks; ++i) sum += recording_.amounts.amount(interval, track(i));
  return static_cast<double>(sum);
}

double OverTime::cu_busy(std::size_t interval, std::uint32_t gpu) const {
  const std::int64_t time = recording_.amounts.amount(interval, Tracks::cu_time(gpu));
  return cu_share(interval, static_cast<double>(time), 1);
}

double OverTime::cu_busy(std::size_t interval) const {
  return cu_share(interval, sum(interval, recording_.tracks.gpus, Tracks::cu_time), gpus_);
}

double OverTime::hbm_busy(std::size_t interval, std::uint32_t gpu) const {
  const std::int64_t moved = recording_.amounts.amount(interval, Tracks::hbm_bytes(gpu));
  return hbm_share(interval, static_cast<double>(moved), 1);
}

double OverTime::hbm_busy(std::size_t interval) const {
  return hbm_share(interval, sum(interval, recording_.tracks.gpus, Tracks::hbm_bytes), gpus_);
}

double OverTime::links_busy(std::size_t interval, std::size_t track) const {
  const Tracks& tracks = recording_.tracks;
  const std::int64_t time = recording_.amounts.amount(interval, tracks.link_time(track));
  return static_cast<double>(time) / tracks.links[track].links / length_ps(interval);
}

double OverTime::links_busy(std::size_t interval) const {
  const Tracks& tracks = recording_.tracks;
  std::uint64_t links = 0;
  for (const Tracks::Links& own : tracks.links) links += own.links;
  if (links == 0) return 0;
  const double time =
      sum(interval, tracks.links.size(), [&tracks](std::size_t i) { return tracks.link_time(i); });
  return time / static_cast<double>(links) / length_ps(interval);
}

std::string over_time_csv(const RunReport& report) {
  std::string csv = csv_header(ResultFile::over_time);
  for (const ModeRun& run : report.runs) {
    const Intervals& amounts = run.recording.amounts;
    const OverTime over_time(report, run.recording);
    for (std::size_t i = 0; i < over_time.size(); ++i) {
      csv += csv_line({name_of(run.result.mode), csv_text(in_us(amounts.from(i) - SimTime{})),
                       csv_text(in_us(amounts.until(i) - SimTime{})),
                       csv_text(over_time.cu_busy(i)), csv_text(over_time.hbm_busy(i)),
                       csv_text(over_time.links_busy(i))},
                      ResultFile::over_time);
    }
  }
  return csv;
}

}  // namespace weft
