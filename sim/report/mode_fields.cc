#include "sim/report/mode_fields.h"

#include <fmt/format.h>

#include <array>

#include "sim/report/baseline.h"
#include "sim/report/field_names.h"
#include "sim/report/numbers.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

double waited_us(const ModeView& mode, Wait wait) {
  return mode.measures.wait_us[static_cast<std::size_t>(wait)];
}

FieldValue over_baseline(const ModeView& mode) {
  const RunResult& result = mode.run.result;
  if (mode.baseline == nullptr || result.time.count() == 0 || is_isolated(result.mode)) return {};
  return in_us(mode.baseline->result.time) / in_us(result.time);
}

// What the baseline is compared with is itself: only the table says so.
FieldValue speedup_over(const ModeView& mode, Mode baseline) {
  const bool compared = baseline_of(mode.report.scenario.workload.kind) == baseline;
  return compared && mode.run.result.mode != baseline ? over_baseline(mode) : FieldValue{};
}

FieldValue over_unfused(const ModeView& mode) {
  const RunResult& result = mode.run.result;
  const ModeRun* best = best_unfused(mode.report);
  if (best == nullptr || !is_fused(result.mode) || result.time.count() == 0) return {};
  return in_us(best->result.time) / in_us(result.time);
}

// And which one that is.
std::string over_unfused_text(const ModeView& mode) {
  const FieldValue value = over_unfused(mode);
  std::string text = table_text(value, Unit::ratio);
  if (!is_there(value)) return text;
  return fmt::format("{} {}", text, name_of(best_unfused(mode.report)->result.mode));
}

std::string over_baseline_text(const ModeView& mode) {
  return table_text(over_baseline(mode), Unit::ratio);
}

// Of a strategy of c3, where the GEMM and the collective were run alone too.
bool is_strategy(const ModeView& mode) {
  return mode.alone.has_value() && !is_isolated(mode.run.result.mode);
}

std::string fraction_of_ideal_text(const ModeView& mode) {
  if (!is_strategy(mode)) return "-";
  return fmt::format("{:.0f} %", 100 * fraction_of_ideal(*mode.alone, mode.run.result.time));
}

std::string partition_text(const ModeView& mode) {
  return mode.run.partition.cus > 0 ? count_text(mode.run.partition.cus) : "-";
}

std::string busiest_link_text(const ModeView& mode) {
  const LinkPeak& link = mode.measures.link;
  return link.link_class.empty() ? "-" : percent_text(link.busy) + " " + link.link_class;
}

constexpr auto kFields =
    std::to_array<ModeField>(
        {
            {"modes.<mode>.time_us",
             Unit::us,
             "time",
             "from the start to the end of the slowest GPU",
             [](const ModeView& mode) { return value_of(mode.measures.time); },
             {.heading = "time", .c3_heading = "time", .in_run_page = true}},
            {"speedup.<mode>_vs_bulk",
             Unit::ratio,
             "speed-up over bulk",
             "bulk's time / this mode's; absent without bulk",
             [](const ModeView& mode) { return speedup_over(mode, Mode::bulk); },
             {.heading = "vs bulk", .cell = over_baseline_text}},
            {"speedup.<mode>_vs_unfused",
             Unit::ratio,
             "speed-up over the best without fusing",
             "fused, role_split, copy_fed: time of the fastest of bulk, kernel and pipelined / "
             "this "
             "one's; absent if only bulk was run",
             over_unfused,
             {.heading = "vs unfused", .cell = over_unfused_text, .if_any = true}},
            {"speedup.<mode>_vs_serial",
             Unit::ratio,
             "speed-up over serial",
             "kind c3: serial's time / this strategy's",
             [](const ModeView& mode) { return speedup_over(mode, Mode::serial); },
             {.c3_heading = "vs serial", .cell = over_baseline_text}},
            {"c3.strategies.<mode>.speedup", Unit::ratio, "speed-up over both alone",
             "sum of both alone / this strategy's time",
             [](const ModeView& mode) {
               return is_strategy(mode) ? value_of(speedup(*mode.alone, mode.run.result.time))
                                        : FieldValue{};
             }},
            {"c3.strategies.<mode>.fraction_of_ideal",
             Unit::share,
             "fraction of the ideal speed-up",
             "(speedup - 1) / (ideal_speedup - 1)",
             [](const ModeView& mode) {
               return is_strategy(mode)
                          ? value_of(fraction_of_ideal(*mode.alone, mode.run.result.time))
                          : FieldValue{};
             },
             {.c3_heading = "of ideal", .cell = fraction_of_ideal_text}},
            {"c3.strategies.<mode>.partition_cus",
             Unit::count,
             "CUs of the partition",
             "the collective's own CUs; 0: none",
             [](const ModeView& mode) {
               return is_strategy(mode) ? value_of(mode.run.partition.cus) : FieldValue{};
             },
             {.c3_heading = "comm CUs", .cell = partition_text}},
            {"modes.<mode>.exposed_comm_us",
             Unit::us,
             "exposed communication",
             "a kernel is active on the GPU but no WG computes; mean over GPUs",
             [](const ModeView& mode) { return value_of(mode.measures.exposed); },
             {.heading = "exposed comm", .in_run_page = true}},
            {"modes.<mode>.computing_us",
             Unit::us,
             "computing",
             "at least one WG of a compute or fused kernel is at work; mean over GPUs",
             [](const ModeView& mode) { return value_of(mode.measures.computing); },
             {.in_run_page = true}},
            {"modes.<mode>.cu_busy",
             Unit::share,
             "CUs busy",
             "share of CU time with at least one WG at work, even if it waits for memory",
             [](const ModeView& mode) { return value_of(mode.measures.cu_busy); },
             {.heading = "CU busy", .c3_heading = "CU busy", .in_run_page = true}},
            {"modes.<mode>.hbm_busy",
             Unit::share,
             "HBM busy",
             "HBM bytes moved, as a share of what `memory.bandwidth` allows in this time",
             [](const ModeView& mode) { return value_of(mode.measures.hbm_busy); },
             {.heading = "HBM busy", .c3_heading = "HBM busy", .in_run_page = true}},
            {"modes.<mode>.links_busy_max",
             Unit::share,
             "busiest link busy",
             "share of the time in which the busiest link is in use",
             [](const ModeView& mode) { return value_of(mode.measures.link.busy); },
             {.heading = "links busy (max)",
              .c3_heading = "links busy (max)",
              .cell = busiest_link_text,
              .in_run_page = true}},
            {"modes.<mode>.links_busy_max_class", Unit::text, "class of the busiest link",
             "class of that link",
             [](const ModeView& mode) { return value_of(mode.measures.link.link_class); }},
            {"modes.<mode>.clock", Unit::share, "clock left by the power limit",
             "clock of kernels that compute / that of short kernels; absent with burst clocks",
             [](const ModeView& mode) {
               return mode.run.result.clock > 0 ? value_of(mode.run.result.clock) : FieldValue{};
             }},
            {"modes.<mode>.wgs_per_cu", Unit::count, "WGs per CU",
             "most WGs of the computing kernel on one CU; 0: the workload has no such kernel",
             [](const ModeView& mode) { return value_of(mode.measures.wgs_per_cu); }},
            {"modes.<mode>.wait_us.post", Unit::us, "posting, all WGs",
             "WGs flushing caches, writing queue entries, ringing the doorbell; sum over WGs",
             [](const ModeView& mode) { return value_of(waited_us(mode, Wait::post)); }},
            {"modes.<mode>.wait_us.nic_queue", Unit::us, "waiting for NIC queues, all WGs",
             "WGs waiting because the NIC's queue is full; sum over WGs",
             [](const ModeView& mode) { return value_of(waited_us(mode, Wait::nic_queue)); }},
            {"modes.<mode>.wait_us.store", Unit::us, "waiting for stores, all WGs",
             "WGs waiting for stores into a peer to leave or arrive; sum over WGs",
             [](const ModeView& mode) { return value_of(waited_us(mode, Wait::store)); }},
            {"modes.<mode>.wait_us.flag", Unit::us, "waiting for flags, all WGs",
             "WGs waiting for a flag; sum over WGs",
             [](const ModeView& mode) { return value_of(waited_us(mode, Wait::flag)); }},
            {"modes.<mode>.gpu_end_skew", Unit::share, "skew of the GPUs' ends",
             "end of the last GPU / end of the first GPU - 1",
             [](const ModeView& mode) { return value_of(mode.measures.gpu_end_skew); }},
            {"modes.<mode>.critical_gaps_us", Unit::us, "launches on the critical path",
             "launches on the critical path: time_us minus critical_us of all operators",
             [](const ModeView& mode) { return value_of(mode.run.result.path_gaps); }},
            {"modes.<mode>.fingerprint", Unit::text, "fingerprint",
             "hash of the run's history: equal fingerprints mean equal runs",
             [](const ModeView& mode) {
               return value_of(fingerprint_text(mode.run.result.fingerprint));
             }},
            {"modes.<mode>.events", Unit::count, "events", "events simulated",
             [](const ModeView& mode) { return value_of(mode.run.result.events); }},
            {"modes.<mode>.parts.<part>.computing_us", Unit::us, "computing",
             "whole models: WGs of this part are at work; mean over GPUs",
             [](const ModeView& mode) { return value_of(mode.part->computing); }},
            {"modes.<mode>.parts.<part>.exposed_us", Unit::us, "exposed",
             "a GPU computes nothing and waits for this part; mean over GPUs",
             [](const ModeView& mode) { return value_of(mode.part->exposed); }},
            {"modes.<mode>.idle_us", Unit::us,
             "idle", "whole models: no kernel is active on a GPU; mean over GPUs",
             [](const ModeView& mode) {
               return mode.parts.empty() ? FieldValue{} : value_of(mode.parts.back().exposed);
             }},
        });

// A phase without a field is what the others leave of the time.
constexpr auto kPhases = std::to_array<TimePhase>({
    {"computing_us", "#56B4E9"},
    {"exposed_comm_us", "#D55E00"},
    {"", "#8c8c8c"},
});

}  // namespace

std::span<const ModeField> mode_fields() { return kFields; }

std::span<const TimePhase> phases() { return kPhases; }

ModeView view_of(const RunReport& report, const ModeRun& run) {
  const WorkloadKind kind = report.scenario.workload.kind;
  return {.report = report,
          .run = run,
          .measures = measure(report, run.result),
          .baseline = find_run(report, baseline_of(kind)),
          .alone = isolated(report),
          .parts = is_model(kind) ? part_times(run.result) : std::vector<PartTime>()};
}

std::string title_of(const TimePhase& phase) {
  for (const ModeField& field : kFields) {
    if (name_of(field) == phase.field) return field.title;
  }
  return "no kernel active";
}

}  // namespace weft
