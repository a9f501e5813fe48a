#include "sim/report/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report/aligned.h"
#include "sim/report/columns.h"
#include "sim/report/measures.h"
#include "sim/report/numbers.h"
#include "sim/scenario/decoder_size.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/workload_kinds.h"

namespace weft {
namespace {

constexpr std::size_t kShown = 16;  // stages in the table for people

int stages_of(const Scenario& scenario) {
  const bool is_cut = is_decoder(scenario.workload.kind);
  return is_cut ? scenario.workload.transformer.parallel.pipeline : 1;
}

struct StageRow {
  const RunResult& result;
  StageTime time;
};

constexpr auto kStageColumns = std::to_array<Column<StageRow>>({
    {"mode", Unit::text, "mode", "grain of overlap; the file is written for pipelines only",
     [](const StageRow& row) { return value_of(name_of(row.result.mode)); }},
    {"stage", Unit::count, "stage", "of the pipeline, from 0; all of its virtual stages",
     [](const StageRow& row) { return value_of(row.time.stage); }},
    {"computing_us", Unit::us, "computing", "something computes; mean over the stage's GPUs",
     [](const StageRow& row) { return value_of(row.time.computing); }},
    {"exposed_us", Unit::us, "exposed",
     "nothing computes and something communicates; mean over the stage's GPUs",
     [](const StageRow& row) { return value_of(row.time.exposed); }},
    {"idle_us", Unit::us, "idle",
     "no kernel on a GPU: the pipeline's bubble, and launches; mean over the stage's GPUs",
     [](const StageRow& row) { return value_of(row.time.idle); }},
});

std::string cell(const StageTime& time) {
  return fmt::format("{} + {} exposed + {} idle", time_text(time.computing),
                     time_text(time.exposed), time_text(time.idle));
}

// What is idle by the schedule alone: (p - 1) / (v m) of the work where backwards are not cut
// (Narayanan et al., arXiv:2104.04473, Sec. 2.2).
std::string bubble_text(const Scenario& scenario) {
  const TransformerSpec& spec = scenario.workload.transformer;
  if (scenario.workload.phase != Phase::training) return {};
  const PipelineShape shape = pipeline_of(spec, true);
  const ScheduleRow& row = schedule_row(shape.schedule);
  if (row.cuts_backward || shape.microbatches == 0) return {};
  const double bubble = shape.stages - 1;
  const double work = static_cast<double>(shape.microbatches) * shape.virtual_stages;
  const std::string parts = shape.virtual_stages == 1
                                ? std::string()
                                : fmt::format(" of {} virtual ones", shape.virtual_stages);
  return fmt::format("bubble of {}, {} stages{} and {} microbatches, if all took as long: {}\n",
                     row.word, shape.stages, parts, shape.microbatches,
                     percent_text(bubble / (bubble + work)));
}

}  // namespace

bool has_stages(const Scenario& scenario) { return stages_of(scenario) > 1; }

std::vector<StageTime> stage_times(const RunReport& report, const RunResult& result) {
  const int stages = stages_of(report.scenario);
  const std::size_t gpus = result.gpus.size() / static_cast<std::size_t>(stages);
  std::vector<StageTime> times;
  if (stages == 1 || gpus == 0) return times;
  for (int stage = 0; stage < stages; ++stage) {
    Duration computing;
    Duration exposed;
    for (std::size_t i = 0; i < gpus; ++i) {
      const GpuUse& gpu = result.gpus[static_cast<std::size_t>(stage) * gpus + i];
      computing += gpu.computing;
      exposed += result.exposed(gpu);
    }
    const auto number = static_cast<std::int64_t>(gpus);
    StageTime& time = times.emplace_back();
    time.stage = stage;
    time.computing = picoseconds(computing.count() / number);
    time.exposed = picoseconds(exposed.count() / number);
    time.idle = result.time - time.computing - time.exposed;
  }
  return times;
}

std::string stages_table(const RunReport& report) {
  std::vector<TableRow> rows{{"stage"}};
  for (const ModeRun& run : report.runs) {
    const std::vector<StageTime> times = stage_times(report, run.result);
    if (times.empty()) return {};
    rows.front().push_back(name_of(run.result.mode));
    const std::size_t left_out = times.size() > kShown ? times.size() - kShown : 0;
    std::size_t at = 0;
    for (const StageTime& time : times) {
      const auto stage = static_cast<std::size_t>(time.stage);
      if (stage >= kShown / 2 && stage < kShown / 2 + left_out) continue;
      if (++at == rows.size()) rows.push_back({fmt::format("{}", time.stage)});
      rows[at].push_back(cell(time));
    }
  }
  return aligned(rows) + bubble_text(report.scenario) + "\n";
}

std::string stages_csv(const RunReport& report) {
  std::string csv = csv_header(kStageColumns);
  for (const ModeRun& run : report.runs) {
    for (const StageTime& time : stage_times(report, run.result)) {
      csv += csv_line(kStageColumns, StageRow{run.result, time});
    }
  }
  return csv;
}

std::vector<Field> stage_fields() { return fields_of(kStageColumns); }

bool is_of_stage(const Field& field) { return field.unit == Unit::us; }

std::vector<std::pair<std::string, FieldValue>> values_of(const RunResult& result,
                                                          const StageTime& time) {
  std::vector<std::pair<std::string, FieldValue>> values;
  for (const Column<StageRow>& column : kStageColumns) {
    if (column.unit == Unit::us) values.emplace_back(column.name, column.value({result, time}));
  }
  return values;
}

}  // namespace weft
