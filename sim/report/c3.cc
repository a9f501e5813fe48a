#include "sim/report/c3.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sim/report/measures.h"
#include "sim/report/numbers.h"
#include "sim/scenario/modes.h"
#include "sim/workloads/c3.h"

namespace weft {
namespace {

constexpr double kNotableTime = 0.02;  // of a time

// From its first place on a CU, or its engine's first command, to the end of the last GPU.
Duration at_work(const OperatorUse& use) { return use.last_end - use.first_place; }

int gemm_wgs_per_cu(const RunReport& report) {
  return std::max(1, measure(report, find_run(report, Mode::compute_alone)->result).wgs_per_cu);
}

// CUs that the GEMM has, at least while the collective runs; 0 where both share all CUs.
int cus_left(const RunReport& report, const ModeRun& run) {
  const int all = report.cluster.spec.gpu.cus;
  const Mode mode = run.result.mode;
  if (mode == Mode::serial || mode == Mode::dma) return all;
  if (mode == Mode::dma_partition) return all - report.scenario.c3.dma_reserve_cus;
  const int own = run.partition.cus;
  if (own > 0 && report.scenario.c3.partition_by == PartitionBy::masks) return all - own;
  // Each channel on a CU of its own.
  if (gemm_wgs_per_cu(report) > 1) return 0;
  return std::max(
      0,
      all - (own > 0 ? own : channels_of(report.scenario.collective, report.scenario.cluster.gpu)));
}

std::string waves_text(const RunReport& report, const OperatorUse& gemm, int cus_left) {
  const int all = report.cluster.spec.gpu.cus;
  if (cus_left == all || cus_left == 0) return "";
  switch (c3_pair(report.scenario).gemm.schedule) {
    case GemmSchedule::persistent:
      return fmt::format("{} of {} CUs", cus_left, all);
    case GemmSchedule::stream_k:
      return fmt::format("{} of {} CUs, and its WGs end together", cus_left, all);
    case GemmSchedule::counter:
      return fmt::format("{} of {} CUs, and WGs without one do their first tile last", cus_left,
                         all);
    case GemmSchedule::dynamic:
    case GemmSchedule::tiles:
      break;
  }
  const std::int64_t on_cu = gemm_wgs_per_cu(report);
  const auto wgs = static_cast<std::int64_t>(gemm.wgs / gemm.kernels);
  const auto waves = [&](std::int64_t cus) { return (wgs + on_cu * cus - 1) / (on_cu * cus); };
  return fmt::format("{} of {} CUs, {} waves of WGs instead of {}", cus_left, all, waves(cus_left),
                     waves(all));
}

// What the collective has of its own.
const char* parts_of(const RunReport& report) {
  return report.scenario.c3.partition_by == PartitionBy::masks ? "CUs" : "channels";
}

// Copy engines against the kernel, each alone: part of what a strategy with engines gains or loses.
std::string engines_text(const RunReport& report, const Isolated& alone) {
  const ModeRun* engines = find_run(report, Mode::comm_alone_dma);
  if (engines == nullptr) return "";
  const double ratio = in_us(engines->result.time) / in_us(alone.communicate);
  if (std::abs(ratio - 1) <= kNotableTime / 2) return "";
  return fmt::format("alone, copy engines take {} the kernel's time", ratio_text(ratio));
}

std::string collective_text(const RunReport& report, const ModeRun& run) {
  const bool engines = uses_copy_engines(run.result.mode);
  const ModeRun* alone = find_run(report, engines ? Mode::comm_alone_dma : Mode::comm_alone);
  const OperatorUse* use = use_of(run.result, KernelRole::collective);
  if (alone == nullptr || use == nullptr) return "";
  const OperatorUse* before = use_of(alone->result, KernelRole::collective);
  std::string text;
  const Duration waited = use->first_place - use->first_start;
  if (in_us(waited) > kNotableTime * in_us(run.result.time)) {
    text = fmt::format("the collective waits {} for slots that the GEMM's WGs hold",
                       time_text(waited));
  }
  const double ratio = in_us(at_work(*use)) / in_us(at_work(*before));
  if (ratio > 1 + kNotableTime) {
    const int cus = run.partition.cus;
    text += fmt::format("{}the collective takes {} its time alone ({}HBM {} busy)",
                        text.empty() ? "" : ", then ", ratio_text(ratio),
                        cus > 0 ? fmt::format("{} {}; ", cus, parts_of(report)) : "",
                        percent_text(measure(report, run.result).hbm_busy));
  }
  return text;
}

std::string gemm_text(const RunReport& report, const ModeRun& run) {
  const ModeRun* alone = find_run(report, Mode::compute_alone);
  const OperatorUse* use = use_of(run.result, KernelRole::compute);
  const OperatorUse* before = use_of(alone->result, KernelRole::compute);
  if (use == nullptr || before == nullptr) return "";
  const double ratio = in_us(at_work(*use)) / in_us(at_work(*before));
  if (ratio <= 1 + kNotableTime) return "";
  const std::string waves = waves_text(report, *use, cus_left(report, run));
  return fmt::format("the GEMM takes {} its time alone ({}{}HBM {} busy)", ratio_text(ratio), waves,
                     waves.empty() ? "" : "; ", percent_text(measure(report, run.result).hbm_busy));
}

std::string lost_text(const RunReport& report, const ModeRun& run, const Isolated& alone) {
  if (run.result.mode == Mode::serial) return "nothing overlaps";
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  if (uses_copy_engines(run.result.mode)) add(engines_text(report, alone));
  const std::size_t before = text.size();
  add(collective_text(report, run));
  add(gemm_text(report, run));
  if (text.size() == before) add("together, each takes as long as alone");
  return text;
}

constexpr auto kC3Fields = std::to_array<C3Field>({
    {"compute_us", Unit::us, "the GEMM alone", "kind c3: the GEMM alone",
     [](const Isolated& alone) { return value_of(alone.compute); }},
    {"communicate_us", Unit::us, "the collective alone", "the collective's kernel alone",
     [](const Isolated& alone) { return value_of(alone.communicate); }},
    {"balance", Unit::text, "balance",
     "G-long (GEMM) or C-long (collective): it takes more than 1.15 times as long; else GC-equal",
     [](const Isolated& alone) { return value_of(balance_of(alone)); }},
    {"ideal_speedup", Unit::ratio, "ideal speed-up", "sum of both / the longer one",
     [](const Isolated& alone) { return value_of(ideal_speedup(alone)); }},
});

}  // namespace

std::span<const C3Field> c3_fields() { return kC3Fields; }

double speedup(const Isolated& alone, Duration together) {
  return (in_us(alone.compute) + in_us(alone.communicate)) / in_us(together);
}

double ideal_speedup(const Isolated& alone) {
  return speedup(alone, longer(alone.compute, alone.communicate));
}

double fraction_of_ideal(const Isolated& alone, Duration together) {
  return (speedup(alone, together) - 1) / (ideal_speedup(alone) - 1);
}

const char* balance_of(const Isolated& alone) {
  const auto longer_by_15_percent = [](Duration a, Duration b) {
    return a.count() / 23 > b.count() / 20;
  };
  if (longer_by_15_percent(alone.compute, alone.communicate)) return "G-long";
  if (longer_by_15_percent(alone.communicate, alone.compute)) return "C-long";
  return "GC-equal";
}

std::optional<Isolated> isolated(const RunReport& report) {
  if (report.scenario.workload.kind != WorkloadKind::c3) return std::nullopt;
  const ModeRun* compute = find_run(report, Mode::compute_alone);
  const ModeRun* communicate = find_run(report, Mode::comm_alone);
  if (compute == nullptr || communicate == nullptr) return std::nullopt;
  return Isolated{.compute = compute->result.time, .communicate = communicate->result.time};
}

std::string why_c3(const RunReport& report) {
  const std::optional<Isolated> alone = isolated(report);
  if (!alone) return "no isolated runs to compare with.";
  std::string text = fmt::format(
      "alone, the GEMM takes {} and the collective {} ({}); the ideal, the longer one's time, is "
      "{} as fast as one after the other.",
      time_text(alone->compute), time_text(alone->communicate), balance_of(*alone),
      ratio_text(ideal_speedup(*alone)));
  // Strategies that came to the same are named together.
  std::vector<std::pair<std::string, std::string>> said;
  for (const ModeRun& run : report.runs) {
    if (is_isolated(run.result.mode)) continue;
    std::string lost =
        fmt::format("{:.0f} % of ideal: {}", 100 * fraction_of_ideal(*alone, run.result.time),
                    lost_text(report, run, *alone));
    const auto same = std::find_if(said.begin(), said.end(),
                                   [&](const auto& before) { return before.second == lost; });
    if (same != said.end()) {
      same->first += fmt::format(", {}", name_of(run.result.mode));
    } else {
      said.emplace_back(name_of(run.result.mode), std::move(lost));
    }
  }
  for (const auto& [modes, lost] : said)
    text += fmt::format(" {} reach{} {}.", modes, modes.find(',') == std::string::npos ? "es" : "",
                        lost);
  return text;
}

}  // namespace weft
