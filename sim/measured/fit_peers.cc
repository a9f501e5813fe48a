#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/gpu_model/gemm_law.h"
#include "sim/gpu_model/launch_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/gpu_model/peer_law.h"
#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

constexpr int kLinks = 2;  // between GPUs: to the switch and from it

void fit_rates(FitRun& run) {
  LineRefs lines = run.lines("micro.p2p_store_one_peer", {"wgs", "bytes"});
  // A WG of an operator has to load what it stores: lines that store data at hand do not count.
  std::erase_if(lines, [](const MeasuredLine* line) { return line->words.contains("from"); });
  if (lines.size() < 2) {
    return run.keep("peer_store.wg_rate, link.bandwidth",
                    "micro.p2p_store_one_peer by few and by many WGs");
  }
  const auto rate_of = [overhead = run.overhead_us()](const MeasuredLine& line) {
    return static_cast<double>(*line.number("bytes")) / (line.us - overhead);
  };
  const auto fastest =
      *std::max_element(lines.begin(), lines.end(),
                        [&](const auto* a, const auto* b) { return rate_of(*a) < rate_of(*b); });
  const double most = rate_of(*fastest);
  run.link().bandwidth = run.note(
      "link.bandwidth", from_bytes_a_us(most),
      fmt::format("p2p_store_one_peer by {} WGs, the fastest", *fastest->number("wgs")), 0);

  LineRefs few;  // not limited by the link
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(few),
               [&](const MeasuredLine* line) { return rate_of(*line) < most / 2; });
  if (few.empty()) return run.keep("peer_store.wg_rate", "micro.p2p_store_one_peer by few WGs");
  const double start = rate_of(*few.front()) / static_cast<double>(*few.front()->number("wgs"));
  const Solution found = run.solve(
      few, {{start, [](GpuSpec& gpu, double p) { gpu.peer_store.wg_rate = from_bytes_a_us(p); }}},
      [](const GpuSpec& gpu, const MeasuredLine& line) {
        return measured_kernel_seconds(
            gpu.launch, store_seconds(gpu.peer_store, *line.number("bytes"), *line.number("wgs")));
      });
  run.gpu().peer_store.wg_rate =
      run.note("peer_store.wg_rate", from_bytes_a_us(found.parameters[0]),
               from_text("p2p_store_one_peer", few), how_sure(found, 0, {"peer_store.wg_rate"}));
}

// A flag crosses the links and is seen by polling. The lines give the sum of both; the time of
// polling (peer_store.flag) is kept, but counts for at most half of the sum.
void fit_flag(FitRun& run) {
  const LineRefs lines = run.lines("micro.flag_one_way", {});
  if (lines.empty()) return run.keep("link.latency", "micro.flag_one_way");
  double sum = 0;
  for (const MeasuredLine* line : lines) sum += line->us;
  const Duration half = from_us(sum / static_cast<double>(lines.size()) / 2);
  Duration latency;
  const FitRun::Even found = run.solve_even(
      lines, [&](GpuSpec& /*gpu*/, Duration one) { latency = one; },
      [&](const GpuSpec& gpu, const MeasuredLine& /*line*/) {
        PeerStoreSpec peer = gpu.peer_store;
        peer.flag = std::min(peer.flag, half);
        return to_seconds(flag_time(peer, latency * kLinks));
      });
  run.link().latency =
      run.note("link.latency", from_us(found.us),
               from_text("flag_one_way", lines) + " less peer_store.flag", found.sure);
}

constexpr std::int64_t kLittle = 1024;

// From a WG that repeatedly stores little, fences and sets a flag: a turn is a round trip plus the
// fence.
void fit_fence(FitRun& run) {
  LineRefs lines = run.lines("micro.store_fence_flag", {"wgs", "slice_bytes", "slices_per_wg"});
  std::erase_if(lines, [](const MeasuredLine* line) {
    return *line->number("wgs") > 1 || *line->number("slice_bytes") > kLittle;
  });
  constexpr const char* kWants = "micro.store_fence_flag by one WG, of 1 KiB or less";
  if (lines.empty()) return run.keep("peer_store.fence", kWants);
  const Duration way = run.link().latency * kLinks;
  const FitRun::Even fence = run.solve_even(
      lines, [](GpuSpec& gpu, Duration word) { gpu.peer_store.fence = word; },
      [&](const GpuSpec& gpu, const MeasuredLine& line) {
        const double turn = turn_seconds(gpu.peer_store, *line.number("slice_bytes"), way);
        return measured_kernel_seconds(gpu.launch,
                                       turn * static_cast<double>(*line.number("slices_per_wg")));
      });
  if (fence.us <= 0) {
    return run.keep("peer_store.fence", "a turn that takes longer than a flag's way");
  }
  run.gpu().peer_store.fence =
      run.note("peer_store.fence", from_us(fence.us),
               from_text("store_fence_flag", lines) + " less the stores and two links", fence.sure);
}

// The fences of all CUs pass a single point, a gap apart, after what they wait for: WGs that do
// nothing else end up waiting for one another's fences. At most one WG per CU, since WGs of one CU
// share their fences.
void fit_fence_gap(FitRun& run) {
  LineRefs lines = run.lines("micro.store_fence_flag", {"wgs", "slice_bytes", "slices_per_wg"});
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return *line->number("wgs") > run.gpu().cus || *line->number("slice_bytes") > kLittle;
  });
  LineRefs many = lines;
  std::erase_if(many, [](const MeasuredLine* line) { return *line->number("wgs") == 1; });
  if (many.empty() || many.size() == lines.size()) {
    return run.keep("peer_store.fence_gap",
                    "micro.store_fence_flag of 1 KiB or less by one WG and by one per CU");
  }
  const auto on_link = [&](const MeasuredLine& line) {
    return transfer_seconds(static_cast<double>(*line.number("slice_bytes")), run.link().bandwidth);
  };
  double longest = 0;
  for (const MeasuredLine* line : lines) longest = std::max(longest, on_link(*line) * 1e6);
  constexpr double kTurn = 1;
  constexpr double kGap = 0.005;
  double turn_us = 0;
  const Solution found = run.solve(
      lines,
      {{kTurn, [&](GpuSpec& /*gpu*/, double p) { turn_us = p; }},
       // Begins above the time on the link: below that the gap makes no difference.
       {std::max(kGap, 2 * longest),
        [](GpuSpec& gpu, double p) { gpu.peer_store.fence_gap = from_us(p); }}},
      [&](const GpuSpec& gpu, const MeasuredLine& line) {
        return measured_kernel_seconds(
            gpu.launch, turns_seconds(gpu.peer_store, {.turn = turn_us * 1e-6,
                                                       .on_link = on_link(line),
                                                       .wgs = *line.number("wgs"),
                                                       .turns = *line.number("slices_per_wg")}));
      });
  if (found.parameters[1] <= longest) {
    return run.keep("peer_store.fence_gap", "a link that takes less time for a slice than the gap");
  }
  run.gpu().peer_store.fence_gap = run.note("peer_store.fence_gap", from_us(found.parameters[1]),
                                            from_text("store_fence_flag", lines),
                                            how_sure(found, 1, {"", "peer_store.fence_gap"}));
}

double copied(const GpuSpec& gpu, const MeasuredLine& line, std::int64_t copies) {
  return measured_seconds(gpu.launch, copies_seconds(gpu.dma, *line.number("bytes"), copies));
}

// From several copies on one engine.
void fit_next(FitRun& run) {
  const LineRefs lines = run.lines("micro.ce_copies_one_peer", {"bytes", "copies"});
  if (lines.empty()) return run.keep("dma.next", "micro.ce_copies_one_peer");
  DmaSpec& dma = run.gpu().dma;
  const double start = std::max(1.0, to_microseconds(dma.next));
  const Solution found =
      run.solve(lines, {{start, [](GpuSpec& gpu, double p) { gpu.dma.next = from_us(p); }}},
                [](const GpuSpec& gpu, const MeasuredLine& line) {
                  return copied(gpu, line, *line.number("copies"));
                });
  dma.next = run.note("dma.next", from_us(found.parameters[0]),
                      from_text("ce_copies_one_peer", lines), how_sure(found, 0, {"dma.next"}));
}

}  // namespace

void fit_peer_store(FitRun& run) {
  fit_rates(run);
  fit_flag(run);
  fit_fence(run);
  fit_fence_gap(run);
}

void fit_dma(FitRun& run) {
  const LineRefs lines = run.lines("micro.ce_copy_one_peer", {"bytes"});
  if (lines.size() < 2) {
    run.keep("dma.rate, dma.schedule, dma.signal", "micro.ce_copy_one_peer of two sizes");
    return fit_next(run);
  }
  DmaSpec& dma = run.gpu().dma;
  const double fixed = to_microseconds(dma.schedule + dma.signal);
  double fastest = 0;
  for (const MeasuredLine* line : lines) {
    fastest = std::max(fastest, static_cast<double>(*line->number("bytes")) / line->us);
  }
  // The fixed time at both ends of a copy together.
  const Solution found =
      run.solve(lines,
                {{std::max(1.0, fixed),
                  [](GpuSpec& gpu, double p) {
                    gpu.dma.schedule = from_us(p);
                    gpu.dma.signal = {};
                  }},
                 {fastest, [](GpuSpec& gpu, double p) { gpu.dma.rate = from_bytes_a_us(p); }}},
                [](const GpuSpec& gpu, const MeasuredLine& line) { return copied(gpu, line, 1); });
  const std::string from = from_text("ce_copy_one_peer", lines);
  // The lines give the sum; the base says how it is split.
  const double share = fixed > 0 ? to_microseconds(dma.schedule) / fixed : 0.5;
  HowSure of_both = how_sure(found, 0, {"", "dma.rate"});
  dma.schedule = run.note("dma.schedule", from_us(found.parameters[0] * share), from, of_both);
  if (of_both.spread && *of_both.spread > 0) of_both.with.emplace_back("dma.schedule", 1);
  dma.signal = run.note("dma.signal", from_us(found.parameters[0] * (1 - share)), from, of_both);
  const HowSure of_rate = how_sure(found, 1, {"", "dma.rate"});
  dma.rate = run.note("dma.rate", from_bytes_a_us(found.parameters[1]), from, of_rate);
  // An engine is no slower than its link: the rate measured is what it reaches of the link.
  run.link().engine_ratio = run.note(
      "link.engine_ratio", found.parameters[1] / bytes_a_us(run.link().bandwidth), from, of_rate);
  fit_next(run);
}

// The share of the matrix peak that the library's GEMM reaches belongs to the kernel, not to the
// GPU's file.
void fit_gemm(FitRun& run) {
  LineRefs lines = run.lines("micro.gemm_library", {"m", "n", "k"});
  const auto operations = [](const MeasuredLine& line) {
    return 2.0 * static_cast<double>(*line.number("m")) * static_cast<double>(*line.number("n")) *
           static_cast<double>(*line.number("k"));
  };
  constexpr double kLarge = 5e11;  // operations; far longer than its first and its last tiles
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return line->number("units_planned") || line->number("units_held") ||
           operations(*line) < kLarge;
  });
  if (lines.empty()) {
    return run.keep("workload.gemm.efficiency", "micro.gemm_library of large shapes, all CUs");
  }
  const double start =
      large_gemm_seconds(run.gpu(), operations(*lines.front()), 1) / (lines.front()->us * 1e-6);
  double efficiency = 0;
  const Solution found =
      run.solve(lines, {{start, [&](GpuSpec& /*gpu*/, double p) { efficiency = p; }}},
                [&](const GpuSpec& gpu, const MeasuredLine& line) {
                  return measured_kernel_seconds(
                      gpu.launch, large_gemm_seconds(gpu, operations(line), efficiency));
                });
  run.note("workload.gemm.efficiency", found.parameters[0], from_text("gemm_library", lines),
           how_sure(found, 0, {"workload.gemm.efficiency"}));
}

}  // namespace weft
