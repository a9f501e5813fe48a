#include "sim/report/over_time.h"

#include "sim/report/csv_line.h"
#include "sim/report/measures.h"
#include "sim/scenario/modes.h"

namespace weft {

double OverTime::length_ps(std::size_t interval) const {
  const Intervals& amounts = recording_.amounts;
  return static_cast<double>((amounts.until(interval) - amounts.from(interval)).count());
}

double OverTime::amount(std::size_t interval, std::size_t track) const {
  return static_cast<double>(recording_.amounts.amount(interval, track));
}

double OverTime::cu_share(std::size_t interval, std::size_t track, double gpus) const {
  return amount(interval, track) / gpu_.cus / gpus / length_ps(interval);
}

double OverTime::hbm_share(std::size_t interval, std::size_t track, double gpus) const {
  const double bytes_per_ps = static_cast<double>(gpu_.memory.bandwidth.count()) * 1e-12;
  return amount(interval, track) / bytes_per_ps / gpus / length_ps(interval);
}

double OverTime::cu_busy(std::size_t interval) const {
  return cu_share(interval, Tracks::cu_time(), gpus_);
}

double OverTime::cu_busy_of(std::size_t interval, std::uint32_t gpu) const {
  return cu_share(interval, recording_.tracks.cu_time(gpu), 1);
}

double OverTime::hbm_busy(std::size_t interval) const {
  return hbm_share(interval, Tracks::hbm_bytes(), gpus_);
}

double OverTime::hbm_busy_of(std::size_t interval, std::uint32_t gpu) const {
  return hbm_share(interval, recording_.tracks.hbm_bytes(gpu), 1);
}

double OverTime::links_busy(std::size_t interval) const {
  double time = 0;
  std::uint64_t links = 0;
  for (std::size_t i = 0; i < recording_.tracks.classes.size(); ++i) {
    time += amount(interval, Tracks::of_class(i));
    links += recording_.tracks.classes[i].links;
  }
  return links == 0 ? 0 : time / static_cast<double>(links) / length_ps(interval);
}

double OverTime::class_busy(std::size_t interval, std::size_t link_class) const {
  return amount(interval, Tracks::of_class(link_class)) /
         recording_.tracks.classes[link_class].links / length_ps(interval);
}

double OverTime::link_busy(std::size_t interval, std::size_t link) const {
  return amount(interval, recording_.tracks.of_link(link)) / length_ps(interval);
}

std::string over_time_csv(const RunReport& report) {
  std::string csv = csv_header(ResultFile::over_time);
  for (const ModeRun& run : report.runs) {
    const Intervals& amounts = run.recording.amounts;
    const OverTime over_time(report, run.recording);
    for (std::size_t i = 0; i < over_time.size(); ++i) {
      csv +=
          csv_line({name_of(run.result.mode), csv_text(in_us(amounts.from(i) - SimTime{})),
                    csv_text(in_us(amounts.until(i) - SimTime{})), csv_text(over_time.cu_busy(i)),
                    csv_text(over_time.hbm_busy(i)), csv_text(over_time.links_busy(i))},
                   ResultFile::over_time);
    }
  }
  return csv;
}

}  // namespace weft
