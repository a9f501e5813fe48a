#include "sim/report/mode_fields.h"

#include <fmt/format.h>

#include <array>

#include "sim/report/baseline.h"
#include "sim/report/field_names.h"
#include "sim/report/mode_ranges.h"
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
  const Duration time = mode.run.result.time;
  const ModeRun* best = best_unfused(mode.report);
  if (best == nullptr || !is_fused(mode.run.result.mode) || time.count() == 0) return {};
  return in_us(best->result.time) / in_us(time);
}

std::string over_unfused_text(const ModeView& mode) {
  const FieldValue value = over_unfused(mode);
  if (!is_there(value)) return table_text(value, Unit::ratio);
  const char* best = name_of(best_unfused(mode.report)->result.mode);
  return fmt::format("{} {}", table_text(value, Unit::ratio), best);
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

// Utilisations are compared to a tenth of a percent.
std::string tenths_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string mfu_text(const ModeView& mode) { return tenths_text(mode.rates.mfu); }
std::string hfu_text(const ModeView& mode) { return tenths_text(mode.rates.hfu); }

std::string tflops_text(const ModeView& mode) {
  const std::optional<double>& rate = mode.rates.tflops_per_gpu;
  return rate ? fmt::format("{:.3g}", *rate) : "-";
}

std::string per_second_text(const std::optional<double>& rate) {
  return rate ? large_text(*rate) : "-";
}

std::string tokens_text(const ModeView& mode) { return per_second_text(mode.rates.tokens_per_s); }
std::string samples_text(const ModeView& mode) { return per_second_text(mode.rates.samples_per_s); }

std::optional<double> memory_of(const ModeView& mode) {
  return mode.report.work ? mode.report.work->memory_of_fullest_gpu : std::nullopt;
}

std::string memory_text(const ModeView& mode) {
  const std::optional<double> all = memory_of(mode);
  return all ? bytes_text(static_cast<std::int64_t>(*all)) : "-";
}

std::string bandwidth_text(const std::optional<double>& bandwidth) {
  return bandwidth ? rate_text(*bandwidth) : "-";
}

std::string algorithm_bandwidth_text(const ModeView& mode) {
  return bandwidth_text(mode.rates.algorithm_bandwidth);
}
std::string bus_bandwidth_text(const ModeView& mode) {
  return bandwidth_text(mode.rates.bus_bandwidth);
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
            {"modes.<mode>.time_low_us",
             Unit::us,
             "time, low",
             "a tenth of measured times would be below this (run.range)",
             [](const ModeView& mode) { return value_of(range_end(mode, &TimeRange::low_us)); },
             {.heading = "80 % within", .cell = range_text, .if_any = true}},
            {"modes.<mode>.time_high_us", Unit::us, "time, high",
             "nine of ten measured times would be below this (run.range)",
             [](const ModeView& mode) { return value_of(range_end(mode, &TimeRange::high_us)); }},
            {"speedup.<mode>_vs_bulk",
             Unit::ratio,
             "speed-up over bulk",
             "bulk's time / this mode's; absent without bulk",
             [](const ModeView& mode) { return speedup_over(mode, Mode::bulk); },
             {.heading = "vs bulk", .cell = over_baseline_text}},
            {"modes.<mode>.times_as_fast_low",
             Unit::ratio,
             "times as fast, low",
             "a tenth of measured speed-ups over bulk (or serial) would be below this (run.range)",
             [](const ModeView& mode) { return value_of(speedup_end(mode, &SpeedupRange::low)); },
             {.heading = "80 % of it within", .cell = speedup_range_text, .if_any = true}},
            {"modes.<mode>.times_as_fast_high", Unit::ratio, "times as fast, high",
             "nine of ten measured speed-ups over bulk (or serial) would be below this (run.range)",
             [](const ModeView& mode) { return value_of(speedup_end(mode, &SpeedupRange::high)); }},
            {"speedup.<mode>_vs_unfused",
             Unit::ratio,
             "speed-up over the best without fusing",
             "fused, role_split, copy_fed: time of the fastest of bulk, kernel and pipelined / "
             "this "
             "one's; absent if only bulk was run",
             over_unfused,
             {.heading = "vs unfused", .cell = over_unfused_text, .if_any = true}},
            {"modes.<mode>.times_as_fast_as_unfused_low",
             Unit::ratio,
             "times as fast as the best without fusing, low",
             "times_as_fast_low, over the mode predicted to be the best without fusing (run.range)",
             [](const ModeView& mode) { return value_of(unfused_end(mode, &SpeedupRange::low)); },
             {.heading = "80 % of that within", .cell = unfused_range_text, .if_any = true}},
            {"modes.<mode>.times_as_fast_as_unfused_high", Unit::ratio,
             "times as fast as the best without fusing, high",
             "times_as_fast_high, over the mode predicted to be the best without fusing "
             "(run.range)",
             [](const ModeView& mode) { return value_of(unfused_end(mode, &SpeedupRange::high)); }},
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
            {"modes.<mode>.tflops_per_gpu",
             Unit::tflops_per_s,
             "model TFLOP/s per GPU",
             "whole models: model_flops / GPUs / time",
             [](const ModeView& mode) { return value_of(mode.rates.tflops_per_gpu); },
             {.heading = "TFLOP/s/GPU", .cell = tflops_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.mfu",
             Unit::share,
             "MFU, model FLOPs utilisation",
             "model_flops / (GPUs x matrix peak x time)",
             [](const ModeView& mode) { return value_of(mode.rates.mfu); },
             {.heading = "MFU", .cell = mfu_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.mfu_full_attention",
             Unit::share,
             "MFU with masked attention",
             "the same as PaLM counts: with the products that masks leave out",
             [](const ModeView& mode) { return value_of(mode.rates.mfu_full_attention); },
             {.if_any = true, .in_run_page = true}},
            {"modes.<mode>.hfu",
             Unit::share,
             "HFU, hardware FLOPs utilisation",
             "training: the same of all products that GPUs compute, those computed again too",
             [](const ModeView& mode) { return value_of(mode.rates.hfu); },
             {.heading = "HFU", .cell = hfu_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.model_flops", Unit::flops, "model FLOPs of the step",
             "whole models that are described: products of matrices in the step, forward and "
             "backward, none twice; all GPUs together",
             [](const ModeView& mode) {
               return mode.report.work ? value_of(mode.report.work->model_flops) : FieldValue{};
             }},
            {"modes.<mode>.tokens_per_s",
             Unit::per_s,
             "tokens per second",
             "language models: tokens of all sequences (decode: a new one each) / time",
             [](const ModeView& mode) { return value_of(mode.rates.tokens_per_s); },
             {.heading = "tokens/s", .cell = tokens_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.tokens_per_s_per_gpu",
             Unit::per_s,
             "tokens per second and GPU",
             "tokens_per_s / GPUs",
             [](const ModeView& mode) { return value_of(mode.rates.tokens_per_s_per_gpu); },
             {.if_any = true, .in_run_page = true}},
            {"modes.<mode>.time_per_output_token_us",
             Unit::us,
             "time per output token",
             "decode: time of the step, in which each sequence gets a token",
             [](const ModeView& mode) { return value_of(mode.rates.time_per_output_token); },
             {.if_any = true, .in_run_page = true}},
            {"modes.<mode>.gpu_hours_per_trillion_tokens",
             Unit::gpu_hours,
             "GPU-hours per trillion tokens",
             "language models in training: at this rate, with all GPUs",
             [](const ModeView& mode) {
               return value_of(mode.rates.gpu_hours_per_trillion_tokens);
             },
             {.if_any = true, .in_run_page = true}},
            {"modes.<mode>.cost",
             Unit::price,
             "cost",
             "run.gpu_hour_price x GPUs x time, in its currency; absent without a price",
             [](const ModeView& mode) { return value_of(mode.rates.cost); },
             {.heading = "cost", .if_any = true, .in_run_page = true}},
            {"modes.<mode>.cost_per_million_tokens",
             Unit::price,
             "cost of a million tokens",
             "language models: cost / tokens of the step, as tokens_per_s counts them, x 10^6",
             [](const ModeView& mode) { return value_of(mode.rates.cost_per_million_tokens); },
             {.if_any = true, .in_run_page = true}},
            {"modes.<mode>.memory_of_fullest_gpu_bytes",
             Unit::bytes,
             "memory of the fullest GPU",
             "language models: weights, gradients, optimiser, activations, keys and values where "
             "most are kept (docs/model.md, Memory)",
             [](const ModeView& mode) { return value_of(memory_of(mode)); },
             {.heading = "memory", .cell = memory_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.samples_per_s",
             Unit::per_s,
             "samples per second",
             "recommendation models: batch of all GPUs / time",
             [](const ModeView& mode) { return value_of(mode.rates.samples_per_s); },
             {.heading = "samples/s", .cell = samples_text, .if_any = true, .in_run_page = true}},
            {"modes.<mode>.algorithm_bandwidth_bytes_per_s",
             Unit::bytes_per_s,
             "algorithm bandwidth",
             "kind collective: bytes / time, as nccl-tests' algbw",
             [](const ModeView& mode) { return value_of(mode.rates.algorithm_bandwidth); },
             {.heading = "algbw",
              .cell = algorithm_bandwidth_text,
              .if_any = true,
              .in_run_page = true}},
            {"modes.<mode>.bus_bandwidth_bytes_per_s",
             Unit::bytes_per_s,
             "bus bandwidth",
             "kind collective: as nccl-tests' busbw; absent if groups differ in size",
             [](const ModeView& mode) { return value_of(mode.rates.bus_bandwidth); },
             {.heading = "busbw", .cell = bus_bandwidth_text, .if_any = true, .in_run_page = true}},
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
          .rates = rates(report, run.result),
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
