#include "sim/engine/recorder.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr std::uint32_t kCusOfWaves = 4;  // per GPU, whose WGs are kept

}  // namespace

Recorder::Recorder(const Cluster& cluster, const TaskGraph& graph, const RecordOptions& options,
                   std::size_t slots, const std::vector<std::uint32_t>& demand)
    : graph_(graph),
      options_(options),
      keeps_wgs_(options.detail >= Detail::waves),
      keeps_messages_(options.detail >= Detail::kernels),
      cus_kept_(static_cast<std::uint32_t>(cluster.spec.gpu.cus)),
      done_(cluster.gpus()),
      memory_(cluster.gpus()) {
  if (options.detail == Detail::waves) {
    cu_step_ = std::max(1U, cus_kept_ / kCusOfWaves);
    cus_kept_ = std::min(cus_kept_, kCusOfWaves);
  }
  recording_.detail = options.detail;
  recording_.gpus = cluster.gpus();
  const Transport transport(cluster.network);
  link_done_.resize(transport.links());
  for (std::uint32_t gpu = 0; gpu < cluster.gpus(); ++gpu) gpus_.push_back(gpu);
  for (std::uint32_t i = 0; i < transport.links(); ++i) links_.emplace_back(i);
  ChosenTracks chosen = choose_tracks(transport, cluster.gpus(), options.detail);
  recording_.tracks = std::move(chosen.tracks);
  class_of_ = std::move(chosen.class_of);
  expect_memory_jobs(demand);
  recording_.amounts = Intervals(recording_.tracks.size(), first_length(cluster.spec.gpu.memory));
  next_sample_ = SimTime{} + recording_.amounts.length();
  if (keeps_messages_) choose_watched(cluster.spec.gpu.cus);
  if (!keeps_wgs_) return;
  work_since_.resize(slots);
  last_work_.assign(slots, MessageRecord::kNoWg);
}

// Watches as many GPUs as there is room for what they do; at least the first one at work.
void Recorder::choose_watched(int cus) {
  std::vector<double> records(recording_.gpus);
  std::vector<double> kernels(recording_.gpus);
  for (const Kernel& kernel : graph_.kernels) kernels[kernel.gpu.value] += 1;
  const auto at_work = static_cast<double>(
      std::count_if(kernels.begin(), kernels.end(), [](double count) { return count > 0; }));
  const double share = static_cast<double>(cus_kept_) / cus;
  for (const Kernel& kernel : graph_.kernels) {
    if (keeps_wgs_) records[kernel.gpu.value] += 2.0 * kernel.items * share;  // and waits
  }
  const double sends = static_cast<double>(graph_.sends.size()) / std::max(1.0, at_work);
  double sum = 0;
  for (; recording_.watched < recording_.gpus; ++recording_.watched) {
    const std::uint32_t gpu = recording_.watched;
    if (kernels[gpu] == 0) continue;
    const double pairs = kernels[gpu] * (at_work - 1);
    const double messages = keeps_wgs_ ? sends * share : std::min(sends, pairs);
    const bool first = sum == 0;
    sum += records[gpu] + messages;
    if (!first && sum > static_cast<double>(options_.most)) return;
  }
}

bool Recorder::watches(const Where& where) const {
  if (where.gpu >= recording_.watched) return false;
  if (where.cu == UINT32_MAX || !keeps_wgs_) return true;
  return where.cu % cu_step_ == 0 && where.cu / cu_step_ < cus_kept_;
}

bool Recorder::room(SimTime now) {
  if (recording_.full) return false;
  const std::size_t kept = recording_.wgs.size() + recording_.messages.size() + pending_.size();
  if (kept < options_.most) return true;
  recording_.full = true;
  recording_.full_at = now;
  return false;
}

void Recorder::keep_work(SimTime now, const Where& where, std::uint32_t item) {
  if (!watches(where)) return;
  last_work_[where.slot] = MessageRecord::kNoWg;
  if (!room(now)) return;
  last_work_[where.slot] = static_cast<std::uint32_t>(recording_.wgs.size());
  recording_.wgs.push_back({.start = work_since_[where.slot],
                            .end = now,
                            .kernel = where.kernel,
                            .cu = where.cu,
                            .slot = where.slot,
                            .item = item,
                            .waits_for = {}});
}

void Recorder::keep_wait(SimTime now, const Where& where, SimTime since, Wait why) {
  if (since == now || !watches(where) || !room(now)) return;
  recording_.wgs.push_back({.start = since,
                            .end = now,
                            .kernel = where.kernel,
                            .cu = where.cu,
                            .slot = where.slot,
                            .item = WgRecord::kWaits,
                            .waits_for = why});
}

// What the switch adds up has no single sender.
void Recorder::keep_posted(SimTime now, const Where& where, std::uint32_t send) {
  if (!watches(where)) return;
  const Send& what = graph_.sends[send];
  if (what.in_switch == InSwitch::reduces) return;
  const bool copies = what.in_switch == InSwitch::multicasts;
  if (!room(now)) return;
  pending_[send] = {
      .message = {.posted = now,
                  .arrived = {},
                  .kernel = where.kernel,
                  .wg = keeps_wgs_ ? last_work_[where.slot] : MessageRecord::kNoWg,
                  .to = what.to,
                  .size = what.size},
      .left = copies ? static_cast<std::uint32_t>(graph_.groups[what.group].size()) : 1};
}

void Recorder::keep_arrived(SimTime now, std::uint32_t send, std::uint32_t gpu) {
  const auto found = pending_.find(send);
  if (found == pending_.end()) return;
  MessageRecord message = found->second.message;
  message.arrived = now;
  message.to = gpu;
  if (--found->second.left == 0) pending_.erase(found);
  if (graph_.kernels[KernelId(message.kernel)].gpu.value == gpu) return;  // its own copy
  if (keeps_wgs_) {
    if (room(now)) recording_.messages.push_back(message);
    return;
  }
  const auto [known, added] =
      last_of_pair_.try_emplace((std::uint64_t{message.kernel} << 32U) | gpu,
                                static_cast<std::uint32_t>(recording_.messages.size()));
  if (!added) {
    recording_.messages[known->second] = message;
  } else if (room(now)) {
    recording_.messages.push_back(message);
  } else {
    last_of_pair_.erase(known);
  }
}

void Recorder::watch_only(std::vector<std::uint32_t> gpus, std::vector<LinkId> links) {
  gpus_ = std::move(gpus);
  links_ = std::move(links);
}

void Recorder::sample(const Sources& sources) {
  add_up(next_sample_, sources, Booked::until_now);
  const Intervals& amounts = recording_.amounts;
  const std::int64_t length = amounts.length().count();
  next_sample_ = SimTime::from_count((last_sample_.count() / length + 1) * length);
}

void Recorder::expect_memory_jobs(const std::vector<std::uint32_t>& demand) {
  for (const Kernel& kernel : graph_.kernels) {
    Memory& memory = memory_[kernel.gpu.value];
    graph_.for_each_run(kernel, [&](const Item& item, std::uint32_t count) {
      const std::uint32_t kind = kernel.first_work + item.work;
      const Work& work = graph_.works[kind];
      memory.in_all += Drawn{demand[kind]} *
                       static_cast<Drawn>(scaled(work.memory_alone.count(), item.scale)) * count;
      memory.traffic += bytes(scaled(work.traffic.count(), item.scale)) * std::int64_t{count};
    });
  }
}

// The length that intervals would have in the end if the run were as short as its memory traffic
// allows: fewer samples to take, and the same intervals.
Duration Recorder::first_length(const MemorySpec& memory) const {
  Duration least;
  for (const Memory& jobs : memory_) {
    least = longer(least, transfer_time(jobs.traffic, memory.bandwidth));
  }
  Duration length = nanoseconds(1);
  while (length * 2 * Intervals::kMost <= least) length = length * 2;
  return length;
}

// Written bytes draw more than bytes read, so bytes are computed as jobs' part of what all draw.

Bytes Recorder::moved_by_jobs(std::uint32_t gpu, Drawn left) const {
  const Memory& memory = memory_[gpu];
  if (memory.begun < left) return {};
  const Drawn drawn = std::min(memory.begun - left, memory.in_all);
  const auto share = static_cast<double>(drawn) / static_cast<double>(memory.in_all);
  return bytes(static_cast<std::int64_t>(static_cast<double>(memory.traffic.count()) * share));
}

// What accounts, memories and links have done since they were last asked belongs to the interval
// that ends now. What is booked ahead is not done yet.
void Recorder::add_up(SimTime now, const Sources& sources, Booked booked) {
  Intervals& amounts = recording_.amounts;
  const Tracks& tracks = recording_.tracks;
  const std::size_t interval = amounts.at(last_sample_);
  constexpr std::int64_t kDrawnPerByte = 1'000'000'000;  // kB/s x ps
  for (const std::uint32_t gpu : gpus_) {
    Done& done = done_[gpu];
    const Duration cu_time = sources.accounts.cu_time(gpu, now);
    const Accounts::Hbm booked_bytes = sources.accounts.hbm(gpu);
    Bytes hbm = booked_bytes.all;
    if (booked == Booked::until_now) {
      const SharedServer& memory = sources.memory[gpu];
      hbm -= bytes(static_cast<std::int64_t>(memory.background_left(now) / kDrawnPerByte));
      if (memory_[gpu].in_all > 0) {  // else all that jobs move takes no time
        hbm -= booked_bytes.all - booked_bytes.background;
        hbm += moved_by_jobs(gpu, memory.jobs_left(now));
      }
      hbm = std::max(hbm, done.hbm);  // whole bytes
    }
    const std::int64_t more_time = (cu_time - done.cu_time).count();
    const std::int64_t more_bytes = (hbm - done.hbm).count();
    done = {.cu_time = cu_time, .hbm = hbm};
    amounts.add(interval, Tracks::cu_time(), more_time);
    amounts.add(interval, Tracks::hbm_bytes(), more_bytes);
    if (tracks.gpus == 0) continue;
    amounts.add(interval, tracks.cu_time(gpu), more_time);
    amounts.add(interval, tracks.hbm_bytes(gpu), more_bytes);
  }
  add_up_links(now, sources.transport);
  last_sample_ = now;
}

void Recorder::add_up_links(SimTime now, const Transport& transport) {
  Intervals& amounts = recording_.amounts;
  const std::size_t interval = amounts.at(last_sample_);
  for (const LinkId link : links_) {
    const std::uint32_t i = link.value;
    const Duration busy = transport.busy_until(link, now);
    const std::int64_t more = (busy - link_done_[i]).count();
    if (more == 0) continue;
    link_done_[i] = busy;
    amounts.add(interval, Tracks::of_class(class_of_[i]), more);
    if (!recording_.tracks.links.empty()) amounts.add(interval, recording_.tracks.of_link(i), more);
  }
}

Recording Recorder::close(Duration time, const Sources& sources,
                          const std::vector<KernelSpan>& spans) {
  const SimTime end = SimTime{} + time;
  add_up(later(end, last_sample_), sources, Booked::altogether);
  recording_.amounts.close(end);
  if (options_.detail == Detail::intervals) return std::move(recording_);
  for (const Operator& op : graph_.operators) recording_.operators.push_back(op.name);
  recording_.kernels.reserve(spans.size());
  for (std::uint32_t k = 0; k < spans.size(); ++k) {
    const Kernel& kernel = graph_.kernels[KernelId(k)];
    recording_.kernels.push_back({.gpu = kernel.gpu.value,
                                  .op = kernel.op.value,
                                  .role = kernel.role,
                                  .executor = kernel.executor,
                                  .items = kernel.items,
                                  .start = spans[k].start,
                                  .end = spans[k].end});
  }
  return std::move(recording_);
}

}  // namespace weft
