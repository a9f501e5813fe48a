// Results: what a run did. Reports are functions of it; models never print.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/transport.h"
#include "sim/tasks/task_graph.h"

namespace weft {

// Why a WG held its slot without working.
enum class Wait : std::uint8_t {
  post,       // flushing caches, writing work-queue entries, ringing the doorbell
  nic_queue,  // the NIC's queue was full
  store,      // its stores into a peer had not left, or not arrived (fence)
  flag,       // a latch was not open
};
constexpr std::size_t kWaits = 4;
const char* name_of(Wait wait);

struct GpuUse {
  SimTime end;         // of its last kernel
  Duration computing;  // at least one WG of a compute or fused kernel at work
  Duration active;     // at least one kernel between its first WG and its end
  Duration cu_busy;    // sum over CUs of the time with at least one WG at work
  Bytes hbm;           // read and written
  Flops flops;
  Bytes sent;
  Bytes received;
  Duration proxy;  // its CPU thread at work on operations, not held by a full queue
  std::array<Duration, kWaits> waits{};  // sums over WGs
};

struct OperatorUse {
  std::string name;
  std::string part;  // of the model
  KernelRole role = KernelRole::compute;
  Law law = Law::recorded;
  SimTime first_start = SimTime::from_count(INT64_MAX);  // over GPUs
  SimTime first_place = SimTime::from_count(INT64_MAX);  // a WG's first slot or copy engine
  SimTime last_end;
  Duration longest;   // of one GPU's kernel
  Duration sum;       // over GPUs
  Duration critical;  // of the run's critical path (critical_path.h)
  std::uint64_t kernels = 0;
  int cus = 0;  // of a GPU, on which its WGs may be, at most; 0: copy engines
  std::uint64_t wgs = 0;
  std::uint64_t messages = 0;
  Bytes sent;
  Bytes hbm;
  Duration wg_time;  // WGs at work, summed
  Duration cu_time;  // of CUs with WGs at work, the last of which was its own, summed
  Duration exposed;  // time in which GPUs compute nothing and wait for it, summed
};

// Adds what the same operator has done elsewhere, in a run that began by `later_by` later; but for
// `exposed` and `critical`, which depend on what is beside it. `use` has kernels, or nothing begins
// later.
void add(OperatorUse& sum, const OperatorUse& use, Duration later_by = {});

// When the last kernel of an exit of the task graph ended, and the critical path up to then.
struct ExitUse {
  SimTime end = {};
  std::vector<Duration> critical = {};  // by operator
  Duration path_gaps = {};  // launches on it; with the operators, the time until `end` ...
  SimTime path_from = {};   // ... from here on: the release of the operator with which it begins
};

// A part of a model, summed over GPUs: time in which it computes, and time in which a GPU that has
// kernels but computes nothing waits for it. Of several parts at once, the one that started first.
struct PartUse {
  std::string name;
  Duration computing;
  Duration exposed;
};

struct LinkRow {
  std::string name;
  std::string link_class;
  Bandwidth bandwidth;
  LinkUse use;
};

// What each link of the network has done up to `until`.
std::vector<LinkRow> rows_of(const Transport& transport, SimTime until);

// What the task graph requests and what the run did.
struct Ledger {
  struct Entry {
    std::int64_t asked = 0;
    std::int64_t done = 0;
  };
  Entry wgs;
  Entry flops;
  Entry hbm_bytes;  // of WGs and copy engines
  Entry messages;   // posted, and delivered
  Entry message_bytes;
  Entry sent_bytes;  // requested, and posted
  static constexpr std::array kEntries = {&Ledger::wgs,           &Ledger::flops,
                                          &Ledger::hbm_bytes,     &Ledger::messages,
                                          &Ledger::message_bytes, &Ledger::sent_bytes};
  // What did more than its rate and the time allow, in words; empty: nothing.
  std::string overdrawn;
  [[nodiscard]] bool balanced() const;
};

// Adds the entries of what was done elsewhere.
void add(Ledger& sum, const Ledger& done);

enum class Ending { finished, deadlock, event_limit, time_limit, memory_limit };

struct RunResult {
  Mode mode = Mode::bulk;
  Ending ending = Ending::finished;
  std::string stopped_because;  // unless finished: who waits for whom, or which limit
  Duration time;                // start to the end of the slowest GPU
  double clock = 0;  // under the power limit, over that of short kernels; 0: not computed
  std::vector<GpuUse> gpus;
  std::vector<OperatorUse> operators;
  std::vector<PartUse> parts;
  Duration idle;  // time without a kernel, summed over GPUs; with `parts`, all of the GPUs' time
  Duration path_gaps;          // launches on the critical path; with its operators, the run's time
  SimTime path_from;           // 0, unless it begins with an operator that is released later
  std::vector<ExitUse> exits;  // in the task graph's order
  std::vector<LinkRow> links;
  Ledger ledger;
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0;

  // Time on a GPU with a kernel active but no WG computing: communication that is not hidden.
  [[nodiscard]] Duration exposed(const GpuUse& gpu) const { return gpu.active - gpu.computing; }
  [[nodiscard]] Duration exposed_mean() const;
  [[nodiscard]] Duration computing_mean() const;
};

}  // namespace weft
