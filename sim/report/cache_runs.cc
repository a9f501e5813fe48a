#include "sim/report/cache_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/report/aligned.h"
#include "sim/report/csv_line.h"
#include "sim/report/numbers.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;
using cache::DramCounts;
using cache::LevelCounts;
using Rate = std::optional<double>;

Rate rate(std::int64_t part, std::int64_t all) {
  if (all == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(all);
}

// Of its loads, those for which nothing was asked of the level below.
Rate hit_rate(const LevelCounts& level) { return rate(level.hits + level.merged, level.loads); }

Rate row_hit_rate(const DramCounts& dram) {
  return rate(dram.row_hits, dram.row_hits + dram.row_misses + dram.row_conflicts);
}

// The least time of an application's static policies, of those that were run.
using BestStatic = std::map<std::string, Duration>;

BestStatic best_static(const std::vector<CacheRun>& runs) {
  BestStatic best;
  for (const CacheRun& run : runs) {
    if (!cache::is_static(run.policy)) continue;
    const auto [found, fresh] = best.try_emplace(run.application, run.sample.time);
    if (!fresh) found->second = std::min(found->second, run.sample.time);
  }
  return best;
}

// What is shown of a run.
struct CacheMeasures {
  Rate over_best_static;
  Rate l1_hits;
  Rate l2_hits;
  Rate row_hits;
  Rate l1_stalled;
  Rate l2_stalled;
};

class Measurer {
 public:
  explicit Measurer(const CacheReport& report)
      : l1_slices_(report.machine.cus),
        l2_slices_(std::int64_t{report.machine.l2.slices} * report.machine.dies),
        best_(best_static(report.runs)) {}

  [[nodiscard]] CacheMeasures of(const CacheRun& run) const {
    const cache::Sample& sample = run.sample;
    const std::int64_t time = sample.time.count();
    const auto best = best_.find(run.application);
    return {
        .over_best_static = best == best_.end() ? std::nullopt : rate(time, best->second.count()),
        .l1_hits = hit_rate(sample.l1),
        .l2_hits = hit_rate(sample.l2),
        .row_hits = row_hit_rate(sample.dram),
        .l1_stalled = rate(sample.l1.stalled.count(), time * l1_slices_),
        .l2_stalled = rate(sample.l2.stalled.count(), time * l2_slices_)};
  }

 private:
  std::int64_t l1_slices_;
  std::int64_t l2_slices_;
  BestStatic best_;
};

Json number(Rate rate) { return rate ? Json(*rate) : Json(); }

// The columns of the CSV file and the keys of the JSON file.
Json row_of(const CacheRun& run, const CacheMeasures& measures) {
  const cache::Sample& sample = run.sample;
  return {{"application", run.application},
          {"policy", run.policy.name},
          {"time_us", to_microseconds(sample.time)},
          {"over_best_static", number(measures.over_best_static)},
          {"l1_hit_rate", number(measures.l1_hits)},
          {"l2_hit_rate", number(measures.l2_hits)},
          {"dram_read_bytes", sample.dram.read.count()},
          {"dram_written_bytes", sample.dram.written.count()},
          {"row_hit_rate", number(measures.row_hits)},
          {"l1_stalled_share", number(measures.l1_stalled)},
          {"l2_stalled_share", number(measures.l2_stalled)},
          {"l1_loads", sample.l1.loads},
          {"l1_stores", sample.l1.stores},
          {"l2_loads", sample.l2.loads},
          {"l2_stores", sample.l2.stores},
          {"l2_bypasses", sample.l2.bypasses},
          {"l2_write_backs", sample.l2.write_backs},
          {"write_back_us", to_microseconds(sample.write_back)}};
}

std::vector<Json> rows_of(const CacheReport& report) {
  const Measurer measurer(report);
  std::vector<Json> rows;
  rows.reserve(report.runs.size());
  for (const CacheRun& run : report.runs) rows.push_back(row_of(run, measurer.of(run)));
  return rows;
}

std::string field(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string share_text(Rate share) { return share ? percent_text(*share) : "-"; }

TableRow shown(const CacheRun& run, const CacheMeasures& measures) {
  const Rate& over = measures.over_best_static;
  return {std::string(run.policy.name),
          fmt::format("{:.3f}", to_microseconds(run.sample.time)),
          over ? fmt::format("{:.3f}", *over) : "-",
          share_text(measures.l1_hits),
          share_text(measures.l2_hits),
          bytes_text(run.sample.dram.read.count()),
          bytes_text(run.sample.dram.written.count()),
          share_text(measures.row_hits),
          share_text(measures.l1_stalled),
          share_text(measures.l2_stalled)};
}

}  // namespace

std::string cache_table(const CacheReport& report) {
  const Measurer measurer(report);
  std::string text;
  for (std::size_t i = 0; i < report.runs.size();) {
    const std::string& application = report.runs[i].application;
    std::vector<TableRow> rows = {{"policy", "time_us", "/ best static", "L1 hits", "L2 hits",
                                   "DRAM read", "written", "row hits", "L1 stalled", "L2 stalled"}};
    for (; i < report.runs.size() && report.runs[i].application == application; ++i) {
      rows.push_back(shown(report.runs[i], measurer.of(report.runs[i])));
    }
    text += fmt::format("{}{} on {}\n{}", text.empty() ? "" : "\n", application,
                        report.machine.name, aligned(rows));
  }
  return text;
}

std::string cache_csv(const CacheReport& report) {
  std::string text;
  for (const Json& row : rows_of(report)) {
    std::vector<std::string> names;
    std::vector<std::string> fields;
    for (const auto& [name, value] : row.items()) {
      names.push_back(name);
      fields.push_back(field(value));
    }
    if (text.empty()) text = csv_line(names);
    text += csv_line(fields);
  }
  return text;
}

std::string cache_json(const CacheReport& report) {
  const Json all = {{"machine", report.machine.name}, {"runs", rows_of(report)}};
  return all.dump(2) + "\n";
}

}  // namespace weft
