#include "sim/traces/peak_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/models/recorded_kernel.h"

namespace weft {
namespace {

// Short kernels are mostly start and end, and caches hold their operands: they tell nothing.
constexpr Duration kShort = microseconds(20);
constexpr double kLeastShare = 0.05;
constexpr double kMostShare = 1.05;

struct Mean {
  double seconds = 0;
  double weighted = 0;  // share x time
  void add(double share, double time) {
    seconds += time;
    weighted += share * time;
  }
  [[nodiscard]] double share() const { return weighted / seconds; }
};

struct Shares {
  std::size_t kernels = 0;
  Mean all;
  Mean of_long;  // and least and most
  double least = 1e300;
  double most = 0;
};

struct Odd {
  std::size_t kernels = 0;
  std::string name;  // of the longest one
  double share = 0;
  Duration time;
};

}  // namespace

std::string peak_shares_text(const ModelGraph& graph, const GpuSpec& gpu) {
  std::map<RecordedKind, Shares> kinds;
  Odd odd;
  Duration known;
  Duration all;
  for (const ModelOp& op : graph.ops) {
    const auto* kernel = std::get_if<RecordedShape>(&op.shape);
    if (kernel == nullptr || kernel->host) continue;
    const double seconds = to_seconds(kernel->time);
    all += kernel->time;
    if (!kernel->work || is_to_or_from_host(op.name)) continue;
    known += kernel->time;
    const double share = share_of_peak(*kernel, gpu);
    Shares& of = kinds[kernel->work->kind];
    ++of.kernels;
    of.all.add(share, seconds);
    if (kernel->time < kShort) continue;
    of.of_long.add(share, seconds);
    of.least = std::min(of.least, share);
    of.most = std::max(of.most, share);
    if (share >= kLeastShare && share <= kMostShare) continue;
    ++odd.kernels;
    if (kernel->time > odd.time) {
      odd.name = op.name;
      odd.share = share;
      odd.time = kernel->time;
    }
  }
  if (known.count() == 0) return {};
  std::string text = fmt::format(
      "  note: for {:.0f} % of the kernels' time it is known what they compute; they reached these "
      "shares of the peaks of {} (the larger of operations and bytes; "
      "mean, least and most of those of {} us or more)\n",
      100 * to_seconds(known) / to_seconds(all), gpu.name, to_microseconds(kShort));
  for (const auto& [kind, of] : kinds) {
    const bool some_long = of.of_long.seconds > 0;
    text +=
        fmt::format("    {:<12} {:.2f}", name_of(kind), (some_long ? of.of_long : of.all).share());
    if (some_long) text += fmt::format(" ({:.2f} to {:.2f})", of.least, of.most);
    text += fmt::format(", {} kernels{}\n", of.kernels,
                        some_long ? "" : fmt::format(", all below {} us", to_microseconds(kShort)));
  }
  if (odd.kernels > 0) {
    text += fmt::format(
        "  warning: {} kernels of {} us or more reached less than {} or more than {} of a peak; "
        "the longest is '{}', {:.2f}: was it recorded on this GPU?\n",
        odd.kernels, to_microseconds(kShort), kLeastShare, kMostShare, odd.name, odd.share);
  }
  return text;
}

}  // namespace weft
