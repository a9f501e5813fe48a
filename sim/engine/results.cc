#include "sim/engine/results.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

template <class Member>
Duration mean(const std::vector<GpuUse>& gpus, Member member) {
  if (gpus.empty()) return {};
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const GpuUse& gpu : gpus) sum += member(gpu).count();
  return picoseconds(static_cast<std::int64_t>(sum / static_cast<Wide>(gpus.size())));
}

}  // namespace

const char* name_of(Wait wait) {
  switch (wait) {
    case Wait::post:
      return "post";
    case Wait::nic_queue:
      return "nic_queue";
    case Wait::store:
      return "store";
    case Wait::flag:
      return "flag";
  }
  SIM_ASSERT(false);
}

std::vector<LinkRow> rows_of(const Transport& transport, SimTime until) {
  std::vector<LinkRow> rows;
  rows.reserve(transport.links());
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    const LinkId link(i);
    rows.push_back({.name = transport.name(link),
                    .link_class = transport.link_class(link),
                    .bandwidth = transport.bandwidth(link),
                    .use = transport.use(link)});
    rows.back().use.busy = transport.busy_until(link, until);
  }
  return rows;
}

void add(OperatorUse& sum, const OperatorUse& use, Duration later_by) {
  sum.first_start = std::min(sum.first_start, use.first_start + later_by);
  sum.first_place = std::min(sum.first_place, use.first_place + later_by);
  sum.last_end = later(sum.last_end, use.last_end + later_by);
  sum.longest = longer(sum.longest, use.longest);
  add_saturating(sum.sum, use.sum);
  sum.kernels += use.kernels;
  sum.cus = std::max(sum.cus, use.cus);
  sum.wgs += use.wgs;
  sum.messages += use.messages;
  sum.sent += use.sent;
  sum.hbm += use.hbm;
  add_saturating(sum.wg_time, use.wg_time);
  add_saturating(sum.cu_time, use.cu_time);
}

void add(Ledger& sum, const Ledger& done) {
  for (const auto entry : Ledger::kEntries) {
    add_saturating((sum.*entry).asked, (done.*entry).asked);
    add_saturating((sum.*entry).done, (done.*entry).done);
  }
}

bool Ledger::balanced() const {
  for (const auto entry : kEntries) {
    if ((this->*entry).asked != (this->*entry).done) return false;
  }
  return overdrawn.empty();
}

Duration RunResult::exposed_mean() const {
  return mean(gpus, [this](const GpuUse& gpu) { return exposed(gpu); });
}

Duration RunResult::computing_mean() const {
  return mean(gpus, [](const GpuUse& gpu) { return gpu.computing; });
}

}  // namespace weft
