#include "sim/report/summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/c3.h"
#include "sim/report/measures.h"
#include "sim/report/model.h"
#include "sim/report/why.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json mode_json(const RunReport& report, const RunResult& result) {
  const Measures m = measure(report, result);
  Json waits;
  for (std::size_t i = 0; i < kWaits; ++i) waits[name_of(static_cast<Wait>(i))] = m.wait_us[i];
  Json mode = {{"time_us", in_us(m.time)},
               {"exposed_comm_us", in_us(m.exposed)},
               {"computing_us", in_us(m.computing)},
               {"cu_busy", m.cu_busy},
               {"hbm_busy", m.hbm_busy},
               {"links_busy_max", m.link.busy},
               {"links_busy_max_class", m.link.link_class},
               {"wgs_per_cu", m.wgs_per_cu},
               {"wait_us", waits},
               {"gpu_end_skew", m.gpu_end_skew},
               {"critical_gaps_us", in_us(result.path_gaps)},
               {"fingerprint", fingerprint_text(result.fingerprint)},
               {"events", result.events}};
  if (!is_model(report.scenario.workload.kind)) return mode;
  for (const PartTime& part : part_times(result)) {
    if (part.name == "idle") {
      mode["idle_us"] = in_us(part.exposed);
    } else {
      mode["parts"][part.name] = {{"computing_us", in_us(part.computing)},
                                  {"exposed_us", in_us(part.exposed)}};
    }
  }
  return mode;
}

Json speedups(const RunReport& report) {
  Json speedup = Json::object();
  const Mode baseline = baseline_of(report.scenario.workload.kind);
  const ModeRun* compared = find_run(report, baseline);
  if (compared == nullptr) return speedup;
  for (const ModeRun& run : report.runs) {
    const Mode mode = run.result.mode;
    if (mode == baseline || is_isolated(mode) || run.result.time.count() == 0) continue;
    speedup[fmt::format("{}_vs_{}", name_of(mode), name_of(baseline))] =
        in_us(compared->result.time) / in_us(run.result.time);
  }
  return speedup;
}

Json tried_json(const Partition& partition) {
  Json sizes = Json::array();
  for (const PartitionTried& tried : partition.tried) {
    Json size{{"cus", tried.cus}};
    if (tried.together.count() > 0) {
      size["together_us"] = in_us(tried.together);
    } else {
      size["compute_us"] = in_us(tried.compute);
      size["communicate_us"] = in_us(tried.communicate);
    }
    sizes.push_back(size);
  }
  return sizes;
}

Json c3_json(const RunReport& report, const Isolated& alone) {
  Json strategies = Json::object();
  for (const ModeRun& run : report.runs) {
    if (is_isolated(run.result.mode)) continue;
    Json& strategy = strategies[name_of(run.result.mode)];
    strategy = {{"speedup", speedup(alone, run.result.time)},
                {"fraction_of_ideal", fraction_of_ideal(alone, run.result.time)},
                {"partition_cus", run.partition.cus}};
    if (!run.partition.tried.empty()) strategy["tried"] = tried_json(run.partition);
  }
  return {{"compute_us", in_us(alone.compute)},
          {"communicate_us", in_us(alone.communicate)},
          {"balance", balance_of(alone)},
          {"ideal_speedup", ideal_speedup(alone)},
          {"strategies", strategies}};
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
  Json summary = {{"scenario", report.scenario.name},    {"scenario_hash", report.scenario.hash},
                  {"version", report.version},           {"seed", report.scenario.run.seed},
                  {"cluster", one_line(report.cluster)}, {"modes", modes},
                  {"speedup", speedups(report)}};
  if (const std::optional<Isolated> alone = isolated(report))
    summary["c3"] = c3_json(report, *alone);
  summary["why"] = why(report);
  summary["ledger"] = ledger_json(report);
  summary["engine"] = engine_json(report);
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft
