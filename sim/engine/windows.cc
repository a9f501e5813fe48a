// A share of a cluster, window by window: node by node, each in the order that its events have in
// one queue (WindowQueue, docs/decisions/0014-windows.md).

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {

bool Simulator::is_here(GpuId gpu) const {
  return shares_->of_node(cluster_.node_of(gpu)) == share_;
}

std::vector<std::uint32_t> Simulator::gpus_here() const {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < cluster_.gpus(); ++gpu) {
    if (is_here(GpuId(gpu))) gpus.push_back(gpu);
  }
  return gpus;
}

std::vector<LinkId> Simulator::links_from_here() const {
  std::vector<LinkId> links;
  for (std::uint32_t i = 0; i < transport_.links(); ++i) {
    if (shares_->of_place[shares_->places.from_link[i]] == share_) links.emplace_back(i);
  }
  return links;
}

void Simulator::start() {
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
    const GpuId gpu = graph_.kernels[KernelId(k)].gpu;
    if (!is_here(gpu)) continue;
    place_ = shares_->places.of_node[cluster_.node_of(gpu)];
    start_kernel_without_dependencies(k);
  }
}

void Simulator::run_window(SimTime first, SimTime stop) {
  assert_context() = {.seed = options_.seed, .simulated_ps = first.count()};
  windows_->begin_window(first, stop);
  while (windows_->next_place()) {
    place_ = windows_->place();
    fetch_links();
    windows_->for_next_place([this](std::uint64_t content) { fetch_ahead(content); });
    while (windows_->more()) {
      happen(windows_->pop());
      if (unsettled_ && !windows_->more_now()) settle_instant();
    }
    latest_ = later(latest_, now_);
  }
}

// A visit touches nearly all links of its place and, of each, the first message or the place of the
// next one: lines that the caches have lost since the last window. So they are fetched while what
// comes before is still to be done: the links, and later what these point to, all at once and
// without looking at what a link has, as one branch on what has not come yet would wait for it.
// Where a visit has few events this would cost more than it brings.
void Simulator::fetch_links() const {
  constexpr std::uint32_t kWorthFetching = 4;  // events
  if (const auto place = windows_->place_after(2, kWorthFetching)) {
    for (const LinkId link : links_of_places_->into(*place)) transport_.fetch(link);
    for (const LinkId link : links_of_places_->from(*place)) transport_.fetch(link);
  }
  if (const auto place = windows_->place_after(1, kWorthFetching)) {
    for (const LinkId link : links_of_places_->into(*place)) transport_.fetch_first(link);
    for (const LinkId link : links_of_places_->from(*place)) transport_.fetch_end(link);
  }
}

// WGs are touched a few times for each of their items, out of the caches every time. Here is known
// which ones are next, while what comes before them is still to be done.
void Simulator::fetch_ahead(std::uint64_t content) const {
  const auto id = static_cast<std::uint32_t>(content);
  const auto kind = static_cast<EventKind>(content >> kKindShift);
  if (kind == EventKind::worker) fetch_worker(id / worker_stride_, id % worker_stride_);
  if (kind == EventKind::memory) fetch_worker(id, memory_[id].next_job());
}

std::vector<Transport::HandedOver>& Simulator::handed_over() { return transport_.handed_over(); }

void Simulator::take_over(const Transport::HandedOver& message) {
  const Wake wake = transport_.take_over(message);
  if (!wake.link.is_none()) schedule(wake.at, EventKind::link, wake.link.value);
}

// Not what is only needed while something happens.
void Simulator::take_over(Simulator& other) {
  accounts_.take_over(other.accounts_, other.gpus_here());
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
    if (!other.is_here(graph_.kernels[KernelId(k)].gpu)) continue;
    kernels_[k] = other.kernels_[k];
    spans_[k] = other.spans_[k];
  }
  transport_.add_uses(other.transport_);
  fingerprint_.add(other.fingerprint_);
  events_ += other.events_;
  kernels_left_ += other.kernels_left_;
  latest_ = later(latest_, other.latest_);
}

}  // namespace weft
