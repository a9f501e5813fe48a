// Measures: what all reports say about one mode, computed in one place.
//
// A share is a fraction from 0 to 1. Means are over GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/report/field_value.h"
#include "sim/report/run_report.h"

namespace weft {

struct LinkPeak {
  double busy = 0;  // share of the time
  std::string link_class;
};

struct Measures {
  Duration time;
  Duration computing;
  Duration exposed;
  Duration ended;              // a GPU's last kernel has ended, but not another GPU's
  Duration critical;           // of the critical path, if it is known
  Duration critical_exchange;  // of it collectives, as kernels of their own
  double cu_busy = 0;
  double hbm_busy = 0;
  double hbm_busy_computing = 0;         // by the kernels that compute, while they do
  LinkPeak link;                         // the busiest one
  double proxy_busy = 0;                 // of the busiest GPU's CPU thread; 0 where GPUs post
  int wgs_per_cu = 0;                    // of the kernel that computes; 0: the workload has none
  int spilled = 0;                       // registers of its threads that are kept in memory
  double wg_time_us = 0;                 // WGs at work, summed
  std::array<double, kWaits> wait_us{};  // WGs waiting, summed
  double gpu_end_skew = 0;               // latest end / earliest end - 1
  bool without_channels = false;         // only fused kernels or copy engines communicate
  bool unknown_wgs = false;              // a trace gives them for few kernels; the others have one
};

Measures measure(const RunReport& report, const RunResult& result);

// The share of all WGs' time that they spent waiting for this.
double wait_share(const Measures& measures, Wait wait);

const char* name_of(KernelRole role);  // "compute"

// The first operator with this role that had kernels; null if none had.
const OperatorUse* use_of(const RunResult& result, KernelRole role);

std::string fingerprint_text(std::uint64_t fingerprint);  // 16 hexadecimal digits

// One entry of a ledger, with the name that reports give it.
struct LedgerLine {
  const char* name;
  Ledger::Entry entry;
};
std::array<LedgerLine, 6> lines_of(const Ledger& ledger);

// What does not balance, in words; empty where everything does.
std::string imbalance(const RunReport& report);

}  // namespace weft
