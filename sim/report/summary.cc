#include "sim/report/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/models/single_operator.h"
#include "sim/report/c3.h"
#include "sim/report/field_names.h"
#include "sim/report/mode_fields.h"
#include "sim/report/stages.h"
#include "sim/report/why.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// The value at a path in which <mode> and <part> stand for names.
Json& at_path(Json& json, std::string_view path, const ModeView& mode) {
  Json* found = &json;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    std::string key(path.substr(0, dot));
    if (key == "<part>") key = mode.part->name;
    constexpr std::string_view kMode = "<mode>";
    if (key.starts_with(kMode)) key.replace(0, kMode.size(), name_of(mode.run.result.mode));
    found = &(*found)[key];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *found;
}

void put(Json& summary, const ModeField& field, const ModeView& mode) {
  const FieldValue value = field.value(mode);
  if (is_there(value)) at_path(summary, field.path, mode) = json_of(value);
}

void put_mode(Json& summary, ModeView mode) {
  for (const ModeField& field : mode_fields()) {
    if (!is_of_part(field)) {
      put(summary, field, mode);
      continue;
    }
    for (const PartTime& part : mode.parts) {
      if (is_idle(part)) continue;
      mode.part = &part;
      put(summary, field, mode);
    }
  }
}

void put_stages(Json& summary, const RunReport& report) {
  for (const ModeRun& run : report.runs) {
    for (const StageTime& time : stage_times(report, run.result)) {
      Json stage;
      for (const auto& [name, value] : values_of(run.result, time)) stage[name] = json_of(value);
      summary["modes"][name_of(run.result.mode)]["stages"].push_back(std::move(stage));
    }
  }
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

// Of both alone; what is said of each strategy comes with the modes.
Json c3_json(const Isolated& alone) {
  Json c3;
  for (const C3Field& field : c3_fields()) c3[field.name] = json_of(field.value(alone));
  c3["strategies"] = Json::object();
  return c3;
}

void put_tried(Json& strategies, const RunReport& report) {
  for (const ModeRun& run : report.runs) {
    const char* mode = name_of(run.result.mode);
    if (!strategies.contains(mode) || run.partition.tried.empty()) continue;
    strategies[mode]["tried"] = tried_json(run.partition);
  }
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
  return {{"simulated_gpus", report.simulated_gpus},
          {"events", events},
          {"wall_s", wall_s},
          {"events_per_s", wall_s > 0 ? static_cast<double>(events) / wall_s : 0.0},
          {"peak_rss_bytes", report.peak_rss_bytes}};
}

void put_recording(Json& summary, const RunReport& report) {
  if (report.recorded) {
    summary["recorded"] = {{"step_us", in_us(report.recorded->time)},
                           {"gaps_us", in_us(report.recorded->idle)},
                           {"unlaunched_us", in_us(report.recorded->unlaunched)}};
  }
  if (report.moved.empty()) return;
  const auto put = [&](const char* name, MovedBy by) {
    summary["moved"][name] = moved_share(report.moved, by);
  };
  put("model", MovedBy::model);
  put("roofline", MovedBy::roofline);
  put("as_recorded", MovedBy::nothing);
}

}  // namespace

std::string summary_json(const RunReport& report) {
  Json summary = {{"scenario", report.scenario.name},
                  {"scenario_hash", report.scenario.hash},
                  {"version", report.version},
                  {"seed", report.scenario.run.seed},
                  {"cluster", one_line(report.cluster)},
                  {"modes", Json::object()},
                  {"speedup", Json::object()}};
  const std::optional<Isolated> alone = isolated(report);
  put_recording(summary, report);
  if (alone) summary["c3"] = c3_json(*alone);
  for (const ModeRun& run : report.runs) put_mode(summary, view_of(report, run));
  put_stages(summary, report);
  if (alone) put_tried(summary["c3"]["strategies"], report);
  summary["why"] = why(report);
  summary["ledger"] = ledger_json(report);
  summary["engine"] = engine_json(report);
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft
