#include "sim/report/over_time.h"

#include <array>

#include "sim/report/columns.h"
#include "sim/report/measures.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

struct IntervalRow {
  const ModeRun& run;
  const OverTime& over_time;
  std::size_t at;
};

constexpr auto kIntervalColumns = std::to_array<Column<IntervalRow>>({
    {"mode", Unit::text, "mode", "grain of overlap",
     [](const IntervalRow& row) { return value_of(name_of(row.run.result.mode)); }},
    {"from_us", Unit::us, "time",
     "start of the interval; all of a mode are equally long: 1, 2, 4 .. ns",
     [](const IntervalRow& row) {
       return value_of(row.run.recording.amounts.from(row.at) - SimTime{});
     }},
    {"to_us", Unit::us, "end", "end of the interval; the last one ends with the run",
     [](const IntervalRow& row) {
       return value_of(row.run.recording.amounts.until(row.at) - SimTime{});
     }},
    {"cu_busy", Unit::share, "CUs busy",
     "share of CU time with at least one WG at work; mean over GPUs",
     [](const IntervalRow& row) { return value_of(row.over_time.cu_busy(row.at)); }},
    {"hbm_busy", Unit::share, "HBM busy",
     "HBM bytes moved, as a share of what `memory.bandwidth` allows; mean over GPUs",
     [](const IntervalRow& row) { return value_of(row.over_time.hbm_busy(row.at)); }},
    {"links_busy", Unit::share, "links busy", "share of the interval in use; mean over links",
     [](const IntervalRow& row) { return value_of(row.over_time.links_busy(row.at)); }},
});

}  // namespace

double OverTime::length_ps(std::size_t interval) const {
  const Intervals& amounts = recording_.amounts;
  return static_cast<double>((amounts.until(interval) - amounts.from(interval)).count());
}

double OverTime::amount(std::size_t interval, std::size_t track) const {
  return static_cast<double>(recording_.amounts.amount(interval, track) * turns_);
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
    links += std::uint64_t{recording_.tracks.classes[i].links} * turns_;
  }
  return links == 0 ? 0 : time / static_cast<double>(links) / length_ps(interval);
}

double OverTime::class_busy(std::size_t interval, std::size_t link_class) const {
  const auto links = static_cast<double>(recording_.tracks.classes[link_class].links) * turns_;
  return amount(interval, Tracks::of_class(link_class)) / links / length_ps(interval);
}

double OverTime::link_busy(std::size_t interval, std::size_t link) const {
  return amount(interval, recording_.tracks.of_link(link)) / length_ps(interval);
}

std::vector<Field> over_time_fields() { return fields_of(kIntervalColumns); }

std::string over_time_csv(const RunReport& report) {
  std::string csv = csv_header(kIntervalColumns);
  for (const ModeRun& run : report.runs) {
    const OverTime over_time(report, run.recording);
    for (std::size_t i = 0; i < over_time.size(); ++i) {
      csv += csv_line(kIntervalColumns, {run, over_time, i});
    }
  }
  return csv;
}

}  // namespace weft
