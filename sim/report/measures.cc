#include "sim/report/measures.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/modes.h"
#include "sim/workloads/grid.h"

namespace weft {
namespace {

// Sums over GPUs and WGs of a long run do not fit 63 bits of picoseconds.
__extension__ using Wide = __int128;

template <class Member>
double sum_over(const std::vector<GpuUse>& gpus, Member member) {
  Wide sum = 0;
  for (const GpuUse& gpu : gpus) sum += member(gpu);
  return static_cast<double>(sum);
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

LinkPeak busiest_link(const RunResult& result) {
  // Links of one rate in a row are equally busy: the one where messages queue is what holds them.
  const auto less = [](const LinkRow& a, const LinkRow& b) {
    return a.use.busy != b.use.busy ? a.use.busy < b.use.busy : a.use.queued < b.use.queued;
  };
  const auto busiest = std::max_element(result.links.begin(), result.links.end(), less);
  if (busiest == result.links.end()) return {};
  return {.busy = share(in_us(busiest->use.busy), in_us(result.time)),
          .link_class = busiest->link_class};
}

// Whole models have several kernels: no number stands for all.
int spilled_of(const Scenario& scenario, const GpuSpec& gpu, Mode mode) {
  if (!is_fused(mode) || row_of(scenario.workload.kind).computes == nullptr) return 0;
  if (is_model(scenario.workload.kind)) return 0;
  return compiled(gpu, wg_of(scenario.workload), fused_version(scenario.fused)).spilled;
}

int wgs_per_cu_of(const Scenario& scenario, const GpuSpec& gpu, Mode mode) {
  const WorkloadKind kind = scenario.workload.kind;
  if (kind == WorkloadKind::collective || is_model(kind)) return 0;
  const WgShape wg = wg_of(scenario.workload);
  if (mode == Mode::comm_alone || mode == Mode::comm_alone_dma) return 0;
  return resident(gpu, wg, is_fused(mode) ? fused_version(scenario.fused) : KernelVersion{});
}

Duration mean_ended(const RunResult& result) {
  if (result.gpus.empty()) return {};
  Wide sum = 0;
  for (const GpuUse& gpu : result.gpus) sum += (result.time - (gpu.end - SimTime{})).count();
  return picoseconds(static_cast<std::int64_t>(sum / static_cast<Wide>(result.gpus.size())));
}

bool is_without_channels(const RunResult& result) {
  const auto communicates = [](const OperatorUse& use) { return use.role != KernelRole::compute; };
  const auto has_channels = [](const OperatorUse& use) {
    return use.role == KernelRole::collective && use.cu_time.count() > 0;
  };
  const std::vector<OperatorUse>& all = result.operators;
  return std::any_of(all.begin(), all.end(), communicates) &&
         std::none_of(all.begin(), all.end(), has_channels);
}

// For most of the time in which kernels compute.
bool has_unknown_wgs(const Scenario& scenario, const RunResult& result) {
  if (!row_of(scenario.workload.kind).wgs_unknown) return false;
  Wide of_one = 0;
  Wide all = 0;
  for (const OperatorUse& use : result.operators) {
    if (use.role == KernelRole::collective) continue;
    all += use.sum.count();
    if (use.wgs == use.kernels) of_one += use.sum.count();
  }
  return of_one * 2 > all;
}

double end_skew(const std::vector<GpuUse>& gpus) {
  if (gpus.empty()) return 0;
  const auto earlier = [](const GpuUse& a, const GpuUse& b) { return a.end < b.end; };
  const auto [first, last] = std::minmax_element(gpus.begin(), gpus.end(), earlier);
  if (first->end.count() == 0) return 0;
  return static_cast<double>(last->end.count()) / static_cast<double>(first->end.count()) - 1;
}

}  // namespace

const ModeRun* find_run(const RunReport& report, Mode mode) {
  for (const ModeRun& run : report.runs) {
    if (run.result.mode == mode) return &run;
  }
  return nullptr;
}

const char* name_of(KernelRole role) {
  switch (role) {
    case KernelRole::compute:
      return "compute";
    case KernelRole::collective:
      return "collective";
    case KernelRole::fused:
      return "fused";
  }
  SIM_ASSERT(false);
}

const OperatorUse* use_of(const RunResult& result, KernelRole role) {
  for (const OperatorUse& use : result.operators) {
    if (use.role == role && use.kernels > 0) return &use;
  }
  return nullptr;
}

std::string fingerprint_text(std::uint64_t fingerprint) {
  return fmt::format("{:016x}", fingerprint);
}

Measures measure(const RunReport& report, const RunResult& result) {
  const GpuSpec& gpu = report.cluster.spec.gpu;
  const auto gpus = static_cast<double>(result.gpus.size());
  const double bandwidth = static_cast<double>(gpu.memory.bandwidth.count()) * 1e-6;  // per us
  Measures m;
  m.time = result.time;
  m.computing = result.computing_mean();
  m.exposed = result.exposed_mean();
  m.ended = mean_ended(result);
  m.cu_busy =
      share(sum_over(result.gpus, [](const GpuUse& use) { return use.cu_busy.count(); }) / 1e6,
            gpu.cus * gpus * in_us(result.time));
  m.hbm_busy = share(sum_over(result.gpus, [](const GpuUse& use) { return use.hbm.count(); }),
                     bandwidth * gpus * in_us(result.time));
  double computed_bytes = 0;
  for (const OperatorUse& use : result.operators) {
    if (use.role != KernelRole::collective) computed_bytes += static_cast<double>(use.hbm.count());
    m.wg_time_us += in_us(use.wg_time);
    m.critical = m.critical + use.critical;
    if (use.role == KernelRole::collective) {
      m.critical_exchange = m.critical_exchange + use.critical;
    }
  }
  m.hbm_busy_computing = share(computed_bytes, bandwidth * gpus * in_us(m.computing));
  m.link = busiest_link(result);
  for (const GpuUse& use : result.gpus) {
    m.proxy_busy = std::max(m.proxy_busy, share(in_us(use.proxy), in_us(result.time)));
  }
  m.wgs_per_cu = wgs_per_cu_of(report.scenario, gpu, result.mode);
  m.spilled = spilled_of(report.scenario, gpu, result.mode);
  for (std::size_t i = 0; i < kWaits; ++i) {
    m.wait_us[i] =
        sum_over(result.gpus, [i](const GpuUse& use) { return use.waits[i].count(); }) / 1e6;
  }
  m.gpu_end_skew = end_skew(result.gpus);
  m.without_channels = is_without_channels(result);
  m.unknown_wgs = has_unknown_wgs(report.scenario, result);
  return m;
}

double wait_share(const Measures& measures, Wait wait) {
  double all = measures.wg_time_us;
  for (const double waited : measures.wait_us) all += waited;
  return share(measures.wait_us[static_cast<std::size_t>(wait)], all);
}

std::array<LedgerLine, 6> lines_of(const Ledger& ledger) {
  return {{{"wgs", ledger.wgs},
           {"flops", ledger.flops},
           {"hbm_bytes", ledger.hbm_bytes},
           {"messages", ledger.messages},
           {"message_bytes", ledger.message_bytes},
           {"sent_bytes", ledger.sent_bytes}}};
}

std::string imbalance(const RunReport& report) {
  std::string text;
  for (const ModeRun& run : report.runs) {
    for (const auto& [name, entry] : lines_of(run.result.ledger)) {
      if (entry.asked == entry.done) continue;
      text += fmt::format("{}{}: {} asked {}, done {}", text.empty() ? "" : "; ",
                          name_of(run.result.mode), name, entry.asked, entry.done);
    }
    if (const std::string& most = run.result.ledger.overdrawn; !most.empty()) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name_of(run.result.mode), most);
    }
  }
  return text;
}

}  // namespace weft
