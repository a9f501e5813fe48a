#include "sim/report/senders.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "sim/report/numbers.h"
#include "sim/report/why.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

constexpr double kLongWait = 0.2;       // of the time of those who wait
constexpr double kNotableWait = 0.005;  // of the WGs' time
constexpr double kIdleCus = 0.05;       // of a GPU's, that may compute instead

// The kernel of the CUs that only send.
const OperatorUse* sending_kernel(const RunReport& report, const RunResult& result) {
  if (result.mode != Mode::role_split || !is_pair(report.scenario.workload.kind)) return nullptr;
  return use_of(result, KernelRole::collective);
}

// What WGs that are at work for `at_work` otherwise spend waiting for flags, of their time.
double share_of_flags(const Measures& measured, double at_work) {
  const double waiting = measured.wait_us[static_cast<std::size_t>(Wait::flag)];
  return waiting > 0 ? waiting / (waiting + at_work) : 0;
}

bool is_at_a_limit(Bound bound) {
  return bound == Bound::links || bound == Bound::proxy || bound == Bound::hbm;
}

// Who is waited for, and for how long, as a share and in words.
struct Waited {
  double for_senders = 0;
  double for_results = 0;  // or for input to be needed
  std::string senders_text;
  std::string results_text;
};

// WGs that send wait for flags of those that compute, and are at work when these have ended.
Waited where_results_travel(const OperatorUse& sending, const Measures& measured) {
  double at_work = in_us(sending.wg_time);
  for (const Wait wait : {Wait::post, Wait::nic_queue, Wait::store}) {
    at_work += measured.wait_us[static_cast<std::size_t>(wait)];
  }
  const double after = in_us(measured.exposed) / in_us(measured.time);
  const double before = share_of_flags(measured, at_work);
  return {after, before, fmt::format("for {} of the time no WG computes", percent_text(after)),
          fmt::format("WGs that send wait for results for {} of their time", percent_text(before))};
}

// WGs that compute wait for flags of those that send, which wait for nobody.
Waited where_input_travels(const OperatorUse& sending, const OperatorUse& computing,
                           const Measures& measured, std::size_t gpus) {
  const double before = share_of_flags(measured, in_us(computing.wg_time));
  const double after = 1 - in_us(sending.sum) / (in_us(measured.time) * static_cast<double>(gpus));
  return {before, after,
          fmt::format("WGs that compute wait for input for {} of their time", percent_text(before)),
          fmt::format("those that send do nothing for {} of the time", percent_text(after))};
}

// WGs that hand their results to a wave of the CU's own go on while it waits: no share of their
// time.
bool waves_send(const RunReport& report, Mode mode) {
  return mode == Mode::fused && report.scenario.fused.sent_by == SentBy::wave;
}

}  // namespace

int sending_cus(const RunReport& report, const RunResult& result) {
  const OperatorUse* sending = sending_kernel(report, result);
  return sending != nullptr ? sending->cus : 0;
}

std::string senders_text(const RunReport& report, const RunResult& result,
                         const Measures& measured) {
  const OperatorUse* sending = sending_kernel(report, result);
  const OperatorUse* computing = use_of(result, KernelRole::fused);
  if (sending == nullptr || computing == nullptr) return "";
  if (is_at_a_limit(bound_of(report, result))) return "";
  const Waited waited =
      results_travel(report.scenario.workload.kind)
          ? where_results_travel(*sending, measured)
          : where_input_travels(*sending, *computing, measured, result.gpus.size());
  const int cus = report.cluster.spec.gpu.cus;
  if (waited.for_senders >= kLongWait && sending->cus < cus - 1) {
    return fmt::format(" Too few CUs send: {}; fused.sending_cus above {} may be faster.",
                       waited.senders_text, sending->cus);
  }
  if (waited.for_results * sending->cus >= kIdleCus * cus && sending->cus > 1) {
    return fmt::format(" Too few CUs compute: {}; fused.sending_cus below {} may be faster.",
                       waited.results_text, sending->cus);
  }
  return "";
}

std::string waits_text(const RunReport& report, Mode mode, const Measures& m) {
  constexpr std::array kSaid = {std::pair{Wait::post, "posting"},
                                std::pair{Wait::nic_queue, "waiting at a full NIC queue"},
                                std::pair{Wait::store, "waiting for stores into peers"}};
  std::string text;
  for (const auto& [wait, words] : kSaid) {
    if (wait_share(m, wait) < kNotableWait) continue;
    if (waves_send(report, mode)) return "waves that only send wait for links beside the WGs";
    text +=
        fmt::format("{}{}{} {}", text.empty() ? "WGs spend " : ", ",
                    percent_text(wait_share(m, wait)), text.empty() ? " of their time" : "", words);
  }
  return text;
}

}  // namespace weft
