#include <fmt/format.h>

#include <algorithm>

#include "sim/traces/load_trace.h"

namespace weft {

std::string to_text(const TraceSummary& summary) {
  std::string text = fmt::format(
      "trace {}: {}; {} ranks, {} nodes, {:.3f} ms of recorded kernels\n", summary.trace,
      summary.writer, summary.ranks, summary.nodes, to_microseconds(summary.recorded) / 1000);
  text += fmt::format("  {:<16} {:>10} {:>18} {:>12} {:>18}\n", "kind", "nodes", "bytes found",
                      "operators", "bytes simulated");
  for (const auto& [kind, total] : summary.by_kind) {
    text += fmt::format("  {:<16} {:>10} {:>18} {:>12} {:>18}\n", kind, total.nodes,
                        total.bytes_found, total.operators, total.bytes_simulated);
  }
  if (!summary.device.name.empty()) {
    text += fmt::format("  recorded on: {}\n", summary.device.name);
  }
  for (const std::string& choice : summary.choices) text += "  assumed: " + choice + "\n";
  for (const std::string& note : summary.notes) text += "  note: " + note + "\n";
  return text;
}

std::string to_text(const RecordedStep& step) {
  const double us = std::max(to_microseconds(step.time), 1e-3);
  return fmt::format(
      "{:.3f} ms from the first to the last kernel on the rank that waited least for others; for "
      "{:.0f} % of them its GPU had no kernel, for {:.0f} % because the host had not launched any: "
      "the host's own time is {}",
      us / 1000, 100 * to_microseconds(step.idle) / us, 100 * to_microseconds(step.unlaunched) / us,
      step.with_host ? "kept (host: recorded)" : "not simulated (host: drop)");
}

}  // namespace weft
