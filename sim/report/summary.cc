#include "sim/report/summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/measures.h"
#include "sim/report/why.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json mode_json(const RunReport& report, const RunResult& result) {
  const Measures m = measure(report, result);
  Json waits;
  for (std::size_t i = 0; i < kWaits; ++i) waits[name_of(static_cast<Wait>(i))] = m.wait_us[i];
  return {{"time_us", in_us(m.time)},
          {"exposed_comm_us", in_us(m.exposed)},
          {"computing_us", in_us(m.computing)},
          {"cu_busy", m.cu_busy},
          {"hbm_busy", m.hbm_busy},
          {"links_busy_max", m.link.busy},
          {"links_busy_max_class", m.link.link_class},
          {"wgs_per_cu", m.wgs_per_cu},
          {"wait_us", waits},
          {"gpu_end_skew", m.gpu_end_skew},
          {"fingerprint", fingerprint_text(result.fingerprint)},
          {"events", result.events}};
}

Json speedups(const RunReport& report) {
  Json speedup = Json::object();
  const ModeRun* bulk = find_run(report, Mode::bulk);
  if (bulk == nullptr) return speedup;
  for (const ModeRun& run : report.runs) {
    if (run.result.mode == Mode::bulk || run.result.time.count() == 0) continue;
    speedup[fmt::format("{}_vs_bulk", name_of(run.result.mode))] =
        in_us(bulk->result.time) / in_us(run.result.time);
  }
  return speedup;
}

Json ledger_json(const RunReport& report) {
  Json ledger;
  ledger["balanced"] = imbalance(report).empty();
  for (const ModeRun& run : report.runs) {
    Json& of_mode = ledger[name_of(run.result.mode)];
    of_mode["balanced"] = run.result.ledger.balanced();
    for (const auto& [name, entry] : lines_of(run.result.ledger)) {
      of_mode[name] = {{"asked", entry.asked}, {"done", entry.done}};
    }
  }
  return ledger;
}

Json engine_json(const RunReport& report) {
  std::uint64_t events = 0;
  double wall_s = 0;
  for (const ModeRun& run : report.runs) {
    events += run.result.events;
    wall_s += run.wall_s;
  }
  return {{"events", events},
          {"wall_s", wall_s},
          {"events_per_s", wall_s > 0 ? static_cast<double>(events) / wall_s : 0.0},
          {"peak_rss_bytes", report.peak_rss_bytes}};
}

}  // namespace

std::string fingerprint_text(std::uint64_t fingerprint) {
  return fmt::format("{:016x}", fingerprint);
}

std::string summary_json(const RunReport& report) {
  Json modes;
  for (const ModeRun& run : report.runs) {
    modes[name_of(run.result.mode)] = mode_json(report, run.result);
  }
  const Json summary = {
      {"scenario", report.scenario.name},    {"scenario_hash", report.scenario.hash},
      {"version", report.version},           {"seed", report.scenario.run.seed},
      {"cluster", one_line(report.cluster)}, {"modes", modes},
      {"speedup", speedups(report)},         {"why", why(report)},
      {"ledger", ledger_json(report)},       {"engine", engine_json(report)}};
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft
