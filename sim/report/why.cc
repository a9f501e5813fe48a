#include "sim/report/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/models/single_operator.h"
#include "sim/report/baseline.h"
#include "sim/report/c3.h"
#include "sim/report/measures.h"
#include "sim/report/numbers.h"
#include "sim/report/same_as_bulk.h"
#include "sim/report/senders.h"
#include "sim/report/step_gain.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

// From here on a resource is called the bound: were all else free, the run would be at most 1.25
// times as fast.
constexpr double kBound = 0.8;
constexpr double kPhase = 0.1;   // a part of the time worth a clause of its own
constexpr double kSame = 0.005;  // times this near are equal
constexpr double kNotablyLonger = 1.25;

double part(Duration duration, Duration whole) {
  return whole.count() > 0 ? in_us(duration) / in_us(whole) : 0;
}

// What carries the communication: the busiest link, or the CPU thread that posts for a GPU where
// that is busier.
struct Carrier {
  double busy;
  std::string name;
};
Carrier carrier(const Measures& m) {
  if (m.proxy_busy > m.link.busy) return {m.proxy_busy, "the CPU thread that posts for a GPU"};
  return {m.link.busy, m.link.link_class.empty() ? "links" : m.link.link_class};
}

// Its share of the exposed communication; above 1 it works beside computation too.
double busy_exposed(const Measures& m) {
  return m.exposed.count() > 0 ? carrier(m).busy * in_us(m.time) / in_us(m.exposed) : 0;
}

// A GPU has no kernel: before its first and between two, and behind its last.
Duration rest(const Measures& m) { return m.time - m.computing - m.exposed; }
bool is_mostly_ended(Duration ended, Duration rest) { return ended.count() >= rest.count() / 2; }

Bound bound_of(const Measures& m) {
  const double carried = carrier(m).busy;
  if (std::max(carried, m.hbm_busy) >= kBound) {
    if (carried < m.hbm_busy) return Bound::hbm;
    return m.proxy_busy > m.link.busy ? Bound::proxy : Bound::links;
  }
  if (rest(m) > m.computing + m.exposed) {
    return is_mostly_ended(m.ended, rest(m)) ? Bound::ends : Bound::gaps;
  }
  const double computing = part(m.computing, m.time);
  const double exposed = part(m.exposed, m.time);
  if (computing >= kPhase && exposed >= kPhase) return Bound::phases;
  if (exposed > computing) return Bound::transfer;
  return m.cu_busy >= kBound * computing ? Bound::wgs : Bound::tail;
}

// What a GPU does while nothing hides its communication.
std::string exposed_text(const Measures& m) {
  const std::string name = carrier(m).name;
  const double busy = busy_exposed(m);
  if (busy > 1) return fmt::format("{} busy during computation too", name);
  if (busy >= kBound) return fmt::format("bound by {}, {} busy", name, percent_text(busy));
  // A collective that waits for a GPU's kernel is not on the critical path meanwhile: that is.
  if (m.critical.count() > 0 && m.critical_exchange.count() < m.exposed.count() / 2) {
    return fmt::format("{} {} busy, most of the rest waits for GPUs that come later", name,
                       percent_text(busy));
  }
  return fmt::format(
      "{} {} busy, the rest {}", name, percent_text(busy),
      m.without_channels ? "start-up and latency" : "start-up, latency and channels");
}

std::string computing_text(const Measures& m) {
  const double busy = m.hbm_busy_computing;
  if (busy >= kBound) return fmt::format("bound by HBM, {} busy", percent_text(busy));
  return fmt::format("HBM {} busy", percent_text(busy));
}

// How busy everything is, where nothing is near its limit.
std::string busy_text(const Measures& m) {
  return fmt::format("CUs {} busy, HBM {}, {} {}", percent_text(m.cu_busy),
                     percent_text(m.hbm_busy), carrier(m).name, percent_text(carrier(m).busy));
}

std::string rest_text(const Measures& m) {
  if (is_mostly_ended(m.ended, rest(m))) {
    return fmt::format(
        "has GPUs that finish at different times: for {} of the time they wait for the last one",
        percent_text(part(m.ended, m.time)));
  }
  return fmt::format(
      "has no kernel on a GPU for {} of the time: launches, or waiting for other GPUs",
      percent_text(part(rest(m), m.time)));
}

std::string and_rest(const std::string& text, const Measures& m) {
  return part(rest(m), m.time) < kPhase ? text : fmt::format("{}, and {}", text, rest_text(m));
}

std::string phases_text(const Measures& m) {
  const std::string text =
      fmt::format("computes for {} of the time ({}) and only communicates for {} ({})",
                  percent_text(part(m.computing, m.time)), computing_text(m),
                  percent_text(part(m.exposed, m.time)), exposed_text(m));
  return and_rest(text, m);
}

std::string bound_text(const Measures& m) {
  switch (bound_of(m)) {
    case Bound::links:
    case Bound::proxy:
      return fmt::format("is bound by {} ({} busy)", carrier(m).name,
                         percent_text(carrier(m).busy));
    case Bound::hbm:
      return fmt::format("is bound by HBM ({} busy)", percent_text(m.hbm_busy));
    case Bound::phases:
      return phases_text(m);
    case Bound::wgs:
      return and_rest(fmt::format("is bound by the latency and arithmetic of its resident WGs ({})",
                                  busy_text(m)),
                      m);
    case Bound::tail:
      if (m.unknown_wgs) {
        return fmt::format(
            "computes for {} of the time, as recorded: the trace does not say with how many WGs",
            percent_text(part(m.computing, m.time)));
      }
      return and_rest(
          fmt::format("computes for {} of the time with too few WGs, or a long tail ({})",
                      percent_text(part(m.computing, m.time)), busy_text(m)),
          m);
    case Bound::transfer:
      return fmt::format("only communicates for {} of the time ({})",
                         percent_text(part(m.exposed, m.time)), exposed_text(m));
    case Bound::ends:
    case Bound::gaps:
      return fmt::format("{} ({})", rest_text(m), busy_text(m));
  }
  SIM_ASSERT(false);
}

std::string hidden_text(const Measures& bulk, const Measures& other) {
  const std::string from_to =
      fmt::format("{} in bulk, {} here", time_text(bulk.exposed), time_text(other.exposed));
  if (other.exposed > bulk.exposed) {
    return fmt::format("exposes more communication ({})", from_to);
  }
  if (bulk.exposed.count() == 0) return "has nothing to hide, as bulk exposes no communication";
  const double left = part(other.exposed, bulk.exposed);
  return fmt::format("hides {} of the exposed communication ({})", percent_text(1 - left), from_to);
}

// Which part of the time grew most against bulk, and why that may be.
std::string loss_text(const RunReport& report, Mode mode, const Measures& bulk,
                      const Measures& other) {
  const Duration computing = other.computing - bulk.computing;
  const Duration exposed = other.exposed - bulk.exposed;
  const Duration gaps = rest(other) - rest(bulk);
  if (exposed >= computing && exposed >= gaps) {
    return fmt::format("its communication is exposed for {} longer", time_text(exposed));
  }
  if (gaps >= computing) {
    const Duration ended = other.ended - bulk.ended;
    if (is_mostly_ended(ended, gaps)) {
      return fmt::format("GPUs finish less evenly, and wait {} longer for the last one",
                         time_text(ended));
    }
    return fmt::format("GPUs have no kernel for {} longer (launches, or waiting for other GPUs)",
                       time_text(gaps));
  }
  std::string because;
  if (other.wgs_per_cu < bulk.wgs_per_cu) {
    because = fmt::format("{} WGs per CU instead of {}", other.wgs_per_cu, bulk.wgs_per_cu);
  }
  const std::string waits = waits_text(report, mode, other);
  if (!waits.empty()) because += (because.empty() ? "" : "; ") + waits;
  if (because.empty()) because = "smaller kernels, or more load on HBM from communication";
  return fmt::format("computing takes {} longer ({})", time_text(computing), because);
}

std::string effect_text(const RunReport& report, Mode mode, const Measures& bulk,
                        const Measures& other) {
  const double ratio = part(other.time, bulk.time);
  const std::string hidden = hidden_text(bulk, other);
  if (std::abs(ratio - 1) < kSame) return fmt::format("takes as long and {}", hidden);
  if (ratio < 1) return fmt::format("is {} as fast: it {}", ratio_text(1 / ratio), hidden);
  return fmt::format("is slower by {}: {}; it {}", percent_text(ratio - 1),
                     loss_text(report, mode, bulk, other), hidden);
}

std::string price_text(const RunReport& report, const Measures& bulk, const RunResult& result,
                       const Measures& fused) {
  std::vector<std::string> parts;
  if (const int sending = sending_cus(report, result); sending > 0) {
    parts.push_back(fmt::format("{} of {} CUs only send", sending, report.cluster.spec.gpu.cus));
  }
  if (fused.wgs_per_cu < bulk.wgs_per_cu) {
    parts.push_back(fmt::format("{} WGs per CU instead of {}", fused.wgs_per_cu, bulk.wgs_per_cu));
  }
  if (fused.spilled > 0) {
    parts.push_back(fmt::format("{} registers a thread are spilled, or a CU would hold fewer WGs",
                                fused.spilled));
  }
  std::string waits = waits_text(report, result.mode, fused);
  if (!waits.empty()) parts.push_back(std::move(waits));
  if (parts.empty()) return "as many WGs per CU as in bulk, and hardly any waiting";
  return fmt::format("{}", fmt::join(parts, "; "));
}

// How much of the waiting for links is at those that a GPU sends by to some of its peers only:
// others of its links are idle meanwhile, or several GPUs send to one. What waits at the one way
// out of a GPU would wait in any order.
double waiting_at_links_of_some_peers(const RunReport& report, const RunResult& result) {
  const Transport transport(report.cluster.network);
  const std::size_t links = std::min(result.links.size(), transport.links());
  double all = 0;
  double of_some = 0;
  for (std::size_t i = 0; i < links; ++i) {
    const double queued = in_us(result.links[i].use.queued);
    all += queued;
    if (!transport.is_only_way_out(LinkId(static_cast<std::uint32_t>(i)))) of_some += queued;
  }
  return all > 0 ? of_some / all : 0;
}

// Of what the link could carry in this time, at most: a message that others hold up on its way
// keeps its links busy too.
double most_filled(const RunResult& result) {
  double most = 0;
  for (const LinkRow& link : result.links) {
    const double could = static_cast<double>(link.bandwidth.count()) * to_seconds(result.time);
    if (could > 0) most = std::max(most, static_cast<double>(link.use.carried.count()) / could);
  }
  return most;
}

// Results made for one GPU after the other fill one link at a time, while WGs wait for it. Without
// that waiting, and with links filled, the run would be done in the rest of the WGs' time or in
// that which the fullest link needs. Of a whole model the links are idle for other reasons.
std::string order_text(const RunReport& report, const RunResult& result, const Measures& fused) {
  const double filled = std::max(most_filled(result), fused.proxy_busy);
  const double waiting = wait_share(fused, Wait::store);
  if (std::max(1 - waiting, filled) > kBound) return "";
  if (1 - waiting * waiting_at_links_of_some_peers(report, result) > kBound) return "";
  if (!order_changes(report.scenario, report.cluster, DestinationOrder::staggered)) return "";
  return fmt::format(
      " Yet no link carries more than {} of what it could: results are made for one GPU after "
      "another; fused.order: staggered may spread them over more links.",
      percent_text(filled));
}

Duration of_collectives(const RunResult& result) {
  Duration sum;
  for (const OperatorUse& use : result.operators) {
    if (use.role == KernelRole::collective) sum += use.sum;
  }
  return sum;
}

// Kernels that ask more of the HBM than it gives slow down all that moves bytes there, channels of
// collectives included (docs/model.md, "Beside kernels bound by memory").
std::string crowded_text(const RunResult& bulk, const ModeRun& run, const Measures& measured) {
  if (run.result.mode != Mode::kernel || measured.hbm_busy_computing < kBound) return "";
  const double longer = part(of_collectives(run.result), of_collectives(bulk));
  if (longer < kNotablyLonger) return "";
  return fmt::format(
      " In kernel, collectives take {} their time in bulk: each chunk starts one, and concurrent "
      "kernels ask more of the HBM than it gives, which slows down channels too.",
      ratio_text(longer));
}

bool several_fuse(const RunReport& report) {
  return std::count_if(report.runs.begin(), report.runs.end(),
                       [](const ModeRun& run) { return is_fused(run.result.mode); }) > 1;
}

// Pipelined is often the best of whole kernels, and no default.
const char* of_those_run(const RunReport& report) {
  const bool could = why_not(report.scenario, Mode::pipelined).empty();
  return could && find_run(report, Mode::pipelined) == nullptr
             ? " of the modes that were run (pipelined was not)"
             : "";
}

// What fusing brings over the best that whole kernels reach.
std::string over_unfused_text(const RunReport& report) {
  const ModeRun* fused = best_fused(report);
  const ModeRun* best = best_unfused(report);
  if (fused == nullptr || best == nullptr || best->result.mode == Mode::bulk) return "";
  const bool several = several_fuse(report);
  const char* name = name_of(best->result.mode);
  const char* mode = name_of(fused->result.mode);
  const std::string fusing = several ? fmt::format("Fusing at its best, {},", mode) : "Fusing";
  const double ratio = part(fused->result.time, best->result.time);
  if (std::abs(ratio - 1) < kSame) {
    return fmt::format(" {} takes as long as {}, the best without it{}.", fusing, name,
                       of_those_run(report));
  }
  if (ratio > 1) {
    return fmt::format(" {} is slower by {} than {}, the best without it{}.", fusing,
                       percent_text(ratio - 1), name, of_those_run(report));
  }
  return fmt::format(" Over {}, the best without fusing{}, {}{} is {} as fast.", name,
                     of_those_run(report), mode, several ? ", the best with it," : "",
                     ratio_text(1 / ratio));
}

std::string why_against(const RunReport& report, const ModeRun& bulk_run) {
  const Measures bulk = measure(report, bulk_run.result);
  const bool several = several_fuse(report);
  std::string effects;
  std::string crowded;
  std::string prices;
  for (const ModeRun& run : report.runs) {
    const RunResult& result = run.result;
    if (result.mode == Mode::bulk) continue;
    if (is_bulk_again(run, &bulk_run)) continue;
    const Measures other = measure(report, result);
    const char* name = name_of(result.mode);
    effects += fmt::format("{} {} {}", effects.empty() ? " Against bulk," : ";", name,
                           effect_text(report, result.mode, bulk, other));
    crowded += crowded_text(bulk_run.result, run, other);
    if (!is_fused(result.mode)) continue;
    prices += fmt::format(" The price of {}: {}.{}{}", several ? name : "fusing",
                          price_text(report, bulk, result, other),
                          order_text(report, result, other), senders_text(report, result, other));
  }
  const std::string baseline = baseline_text(report, bulk_run.result);
  std::string text =
      effects + (effects.empty() ? "" : ".") + over_unfused_text(report) + crowded + prices;
  if (!effects.empty() && !baseline.empty()) text += fmt::format(" Bulk here: {}.", baseline);
  return text + same_as_bulk_text(report, bulk_run);
}

// What the power limit takes; the more a mode computes at a time, the more.
std::string power_text(const RunReport& report) {
  std::string text;
  for (const ModeRun& run : report.runs) {
    const double clock = run.result.clock;
    if (clock == 0 || clock == 1) continue;
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name_of(run.result.mode),
                        100 * clock);
  }
  if (text.empty()) return "";
  return fmt::format(" The power limit leaves of the clock of short kernels: {}.", text);
}

}  // namespace

Bound bound_of(const RunReport& report, const RunResult& result) {
  return bound_of(measure(report, result));
}

std::string why(const RunReport& report) {
  if (report.scenario.workload.kind == WorkloadKind::c3) return why_c3(report);
  const ModeRun* bulk_run = find_run(report, Mode::bulk);
  std::string bounds;
  for (const ModeRun& run : report.runs) {
    if (is_bulk_again(run, bulk_run)) continue;
    bounds += fmt::format("{}{} {}", bounds.empty() ? "" : "; ", name_of(run.result.mode),
                          bound_text(measure(report, run.result)));
  }
  bounds += "." + power_text(report) + recording_text(report) + refused_text(report);
  if (bulk_run == nullptr || report.runs.size() < 2) return bounds;
  return bounds + why_against(report, *bulk_run);
}

}  // namespace weft
