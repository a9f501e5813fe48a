// A result as text, so that two of them can be compared and shown.
#pragma once

#include <string>

#include "sim/engine/results.h"

namespace weft {

inline std::string text_of(const Ledger& ledger) {
  std::string text;
  for (const Ledger::Entry& entry : {ledger.wgs, ledger.flops, ledger.hbm_bytes, ledger.messages,
                                     ledger.message_bytes, ledger.sent_bytes}) {
    text += std::to_string(entry.asked) + "=" + std::to_string(entry.done) + " ";
  }
  return text + "\n";
}

// Bytes and messages of every GPU and link: what must not depend on the order of a tie.
inline std::string totals_of(const RunResult& result) {
  std::string text = text_of(result.ledger);
  for (const GpuUse& gpu : result.gpus) {
    text += std::to_string(gpu.hbm.count()) + " " + std::to_string(gpu.sent.count()) + " " +
            std::to_string(gpu.received.count()) + "\n";
  }
  for (const LinkRow& row : result.links) {
    text += row.name + " " + std::to_string(row.use.carried.count()) + " " +
            std::to_string(row.use.messages) + "\n";
  }
  return text;
}

// Everything.
inline std::string text_of(const RunResult& result) {
  std::string text = std::to_string(result.time.count()) + " ps, " + std::to_string(result.events) +
                     " events, fingerprint " + std::to_string(result.fingerprint) + "\n" +
                     totals_of(result);
  for (const GpuUse& gpu : result.gpus) {
    text += std::to_string(gpu.end.count()) + " " + std::to_string(gpu.computing.count()) + " " +
            std::to_string(gpu.active.count()) + " " + std::to_string(gpu.cu_busy.count());
    for (const Duration wait : gpu.waits) text += " " + std::to_string(wait.count());
    text += " " + std::to_string(gpu.proxy.count()) + "\n";
  }
  for (const OperatorUse& use : result.operators) {
    text += use.name + " " + std::to_string(use.first_start.count()) + " " +
            std::to_string(use.last_end.count()) + " " + std::to_string(use.longest.count()) + " " +
            std::to_string(use.sum.count()) + " " + std::to_string(use.kernels) + " " +
            std::to_string(use.wgs) + " " + std::to_string(use.messages) + " " +
            std::to_string(use.sent.count()) + " " + std::to_string(use.hbm.count()) + " " +
            std::to_string(use.wg_time.count()) + " " + std::to_string(use.cu_time.count()) + " " +
            std::to_string(use.exposed.count()) + " " + std::to_string(use.critical.count()) + " " +
            std::to_string(use.first_place.count()) + " " + std::to_string(use.cus) + "\n";
  }
  for (const PartUse& part : result.parts) {
    text += part.name + " " + std::to_string(part.computing.count()) + " " +
            std::to_string(part.exposed.count()) + "\n";
  }
  for (const ExitUse& exit : result.exits) {
    text += "exit " + std::to_string(exit.end.count());
    for (const Duration critical : exit.critical) text += " " + std::to_string(critical.count());
    text += " " + std::to_string(exit.path_gaps.count()) + "\n";
  }
  text += "idle " + std::to_string(result.idle.count()) + ", gaps " +
          std::to_string(result.path_gaps.count()) + "\n";
  for (const LinkRow& row : result.links) {
    text += row.name + " " + row.link_class + " " + std::to_string(row.use.busy.count()) + " " +
            std::to_string(row.use.queued.count()) + " " +
            std::to_string(row.use.queued_max.count()) + "\n";
  }
  return text;
}

}  // namespace weft
