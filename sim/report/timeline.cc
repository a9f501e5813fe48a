#include "sim/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/report/measures.h"
#include "sim/report/numbers.h"
#include "sim/report/over_time.h"
#include "sim/report/timeline_threads.h"
#include "sim/report/trace_events.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

constexpr std::size_t kBytesPerRecord = 130;  // of text, about
constexpr std::size_t kBytesPerCounter = 70;  // the same
constexpr std::size_t kBytesWithoutNames = 110;

// One mode: a process for the cluster, and one for each GPU.
class ModeTimeline {
 public:
  ModeTimeline(const RunReport& report, const ModeRun& run, std::uint64_t first_process,
               TraceEvents& events, std::vector<std::string>& left_out)
      : report_(report),
        run_(run.recording),
        mode_(name_of(run.result.mode)),
        process_(first_process),
        over_time_(report, run_),
        events_(events),
        left_out_(left_out) {}

  // Within so many bytes.
  void write(std::size_t most) {
    const std::size_t before = events_.in_use();
    events_.use_at_most(before + most / 2);
    add_cluster();
    choose_gpus(most / 2);
    add_kernels();
    for (std::uint32_t gpu = 0; gpu < std::min(gpus_, run_.tracks.gpus); ++gpu)
      add_counters_of(gpu);
    events_.use_at_most(before + most);
    add_wgs_and_messages();
    say_what_was_not_recorded();
  }

 private:
  [[nodiscard]] std::uint64_t process_of(std::uint32_t gpu) const { return process_ + 1 + gpu; }
  [[nodiscard]] const Recording& recording_of(std::uint32_t play) const {
    return run_.recordings[run_.played[play].recording];
  }
  void leaves_out(const std::string& what) {
    left_out_.push_back(fmt::format("{}: {}", mode_, what));
  }

  void add_cluster() {
    events_.name_process(process_, fmt::format("{}: {}", mode_, report_.cluster.spec.name));
    add_counter(process_, "CU busy, mean", [this](auto i) { return over_time_.cu_busy(i); });
    add_counter(process_, "HBM busy, mean", [this](auto i) { return over_time_.hbm_busy(i); });
    for (std::size_t i = 0; i < run_.tracks.classes.size(); ++i) {
      const Tracks::LinkClass& own = run_.tracks.classes[i];
      add_counter(process_, fmt::format("{}, mean of {}", own.name, own.links),
                  [this, i](auto at) { return over_time_.class_busy(at, i); });
    }
    for (std::size_t i = 0; i < run_.tracks.links.size(); ++i) {
      add_counter(process_, run_.tracks.links[i],
                  [this, i](auto at) { return over_time_.link_busy(at, i); });
    }
  }

  void add_counters_of(std::uint32_t gpu) {
    add_counter(process_of(gpu), "CU busy",
                [this, gpu](auto at) { return over_time_.cu_busy_of(at, gpu); });
    add_counter(process_of(gpu), "HBM busy",
                [this, gpu](auto at) { return over_time_.hbm_busy_of(at, gpu); });
  }

  // Only changes, in tenths of a per cent.
  void add_counter(std::uint64_t process, const std::string& name,
                   const std::function<double(std::size_t)>& share) {
    std::int64_t shown = -1;
    for (std::size_t i = 0; i < over_time_.size(); ++i) {
      const auto tenths = std::llround(share(i) * 1000);
      if (tenths == shown) continue;
      shown = tenths;
      events_.counter(process, run_.amounts.from(i), name, static_cast<double>(tenths) / 10);
    }
    const std::size_t last = over_time_.size();
    if (last > 0) events_.counter(process, run_.amounts.until(last - 1), name, 0);
  }

  // As many as have room with all of their kernels.
  void choose_gpus(std::size_t most) {
    const std::uint32_t all = report_.cluster.gpus();
    const std::size_t counters = 2 * kBytesPerCounter * over_time_.size();
    std::vector<std::size_t> sizes(all, run_.tracks.gpus > 0 ? counters : 0);
    for (const Played& played : run_.played) {
      const Recording& recording = run_.recordings[played.recording];
      for (const KernelRecord& kernel : recording.kernels) {
        sizes[kernel.gpu + played.first_gpu] +=
            kBytesWithoutNames + recording.operators[kernel.op].size();
      }
    }
    std::size_t sum = 0;
    for (gpus_ = 0; gpus_ < all; ++gpus_) {
      sum += sizes[gpus_];
      if (sum > most) break;
    }
    if (gpus_ == all) return;
    leaves_out(fmt::format("GPUs {} to {}", gpus_, all - 1));
  }

  void add_kernels() {
    kernels_ = kernels_on_threads(run_, gpus_);
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      events_.name_process(process_of(gpu), fmt::format("{}: GPU {}", mode_, gpu));
    }
    for (const PlayedKernel& played : kernels_) {
      if (named_.insert({played.gpu, played.thread}).second) {
        events_.name_thread({process_of(played.gpu), played.thread}, name_of_stream(played.thread));
      }
      const Recording& recording = recording_of(played.play);
      const KernelRecord& kernel = recording.kernels[played.kernel];
      events_.slice({.thread = {process_of(played.gpu), played.thread},
                     .start = played.start,
                     .end = played.end,
                     .category = name_of(kernel.role),
                     .name = recording.operators[kernel.op],
                     .args = fmt::format(R"("items":{})", kernel.items)});
    }
  }

  // Of each recording, where it is played first.
  void add_wgs_and_messages() {
    std::vector<bool> shown(run_.recordings.size());
    bool repeats = false;
    for (std::uint32_t play = 0; play < run_.played.size(); ++play) {
      const std::uint32_t recording = run_.played[play].recording;
      repeats = repeats || shown[recording];
      if (shown[recording]) continue;
      shown[recording] = true;
      if (add_wgs_and_messages(play)) continue;
      return;
    }
    if (!repeats) return;
    leaves_out("WGs and messages of all repetitions but the first (they are the same)");
  }

  bool add_wgs_and_messages(std::uint32_t play);
  bool add_wg(const Played& played, const Recording& recording, std::uint32_t index);
  bool add_message(const Played& played, const Recording& recording, const MessageRecord& message);
  void find_kernels_of(std::uint32_t play);
  [[nodiscard]] const PlayedKernel* receiver(const Recording& recording,
                                             const MessageRecord& message, SimTime arrived) const;

  void say_what_was_not_recorded() {
    for (const Recording& recording : run_.recordings) {
      if (recording.watched < recording.gpus) {
        leaves_out(fmt::format("WGs and messages of GPUs {} to {}", recording.watched,
                               recording.gpus - 1));
      }
      if (recording.full) {
        leaves_out(
            fmt::format("WGs and messages from {} on", time_text(recording.full_at - SimTime{})));
      }
    }
  }

  const RunReport& report_;
  const RunRecording& run_;
  std::string mode_;
  std::uint64_t process_;
  OverTime over_time_;
  TraceEvents& events_;
  std::vector<std::string>& left_out_;
  std::uint32_t gpus_ = 0;  // shown
  std::vector<PlayedKernel> kernels_;
  // Of the recording that is being shown:
  std::vector<const PlayedKernel*> kernel_at_;  // by kernel; null: not shown
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>
      kernels_of_;                           // by operator and GPU, by start
  std::vector<std::uint64_t> thread_of_wg_;  // by WG record; 0: not shown
  WgThreads wg_threads_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> named_;  // GPU and thread
};

void ModeTimeline::find_kernels_of(std::uint32_t play) {
  const Recording& recording = recording_of(play);
  kernel_at_.assign(recording.kernels.size(), nullptr);
  kernels_of_.clear();
  for (const PlayedKernel& played : kernels_) {
    if (played.play != play) continue;
    kernel_at_[played.kernel] = &played;
    const KernelRecord& kernel = recording.kernels[played.kernel];
    kernels_of_[{kernel.op, kernel.gpu}].push_back(played.kernel);
  }
}

bool ModeTimeline::add_wgs_and_messages(std::uint32_t play) {
  const Played& played = run_.played[play];
  const Recording& recording = recording_of(play);
  find_kernels_of(play);
  thread_of_wg_.assign(recording.wgs.size(), 0);
  std::vector<std::uint32_t> wgs(recording.wgs.size());
  std::iota(wgs.begin(), wgs.end(), 0U);
  std::stable_sort(wgs.begin(), wgs.end(), [&recording](std::uint32_t a, std::uint32_t b) {
    return recording.wgs[a].start < recording.wgs[b].start;
  });
  std::vector<std::uint32_t> messages(recording.messages.size());
  std::iota(messages.begin(), messages.end(), 0U);
  std::stable_sort(messages.begin(), messages.end(),
                   [&recording](std::uint32_t a, std::uint32_t b) {
                     return recording.messages[a].posted < recording.messages[b].posted;
                   });
  auto message = messages.begin();
  const auto messages_until = [&](SimTime time) {
    for (; message != messages.end() && recording.messages[*message].posted <= time; ++message) {
      if (!add_message(played, recording, recording.messages[*message])) return false;
    }
    return true;
  };
  for (const std::uint32_t wg : wgs) {
    const SimTime start = recording.wgs[wg].start;
    if (messages_until(start) && add_wg(played, recording, wg)) continue;
    leaves_out(fmt::format("WGs and messages from {} on",
                           time_text(played.start + (start - SimTime{}) - SimTime{})));
    return false;
  }
  if (messages_until(SimTime::from_count(INT64_MAX))) return true;
  leaves_out(fmt::format(
      "messages from {} on",
      time_text(played.start - SimTime{} + (recording.messages[*message].posted - SimTime{}))));
  return false;
}

bool ModeTimeline::add_wg(const Played& played, const Recording& recording, std::uint32_t index) {
  const WgRecord& wg = recording.wgs[index];
  const KernelRecord& kernel = recording.kernels[wg.kernel];
  const std::uint32_t gpu = kernel.gpu + played.first_gpu;
  if (gpu >= gpus_) return true;
  const std::uint64_t thread = wg_threads_.thread_of(gpu, wg);
  if (named_.insert({gpu, thread}).second) {
    events_.name_thread({process_of(gpu), thread}, WgThreads::name_of(thread));
  }
  thread_of_wg_[index] = thread;
  const bool waits = wg.item == WgRecord::kWaits;
  return events_.slice({.thread = {process_of(gpu), thread},
                        .start = played.start + (wg.start - SimTime{}),
                        .end = played.start + (wg.end - SimTime{}),
                        .category = waits ? "wait" : "wg",
                        .name = waits ? fmt::format("wait: {}", name_of(wg.waits_for))
                                      : recording.operators[kernel.op],
                        .args = waits ? "" : fmt::format(R"("item":{})", wg.item)});
}

// The kernel of the same operator that is there when the message comes; else the next one.
const PlayedKernel* ModeTimeline::receiver(const Recording& recording, const MessageRecord& message,
                                           SimTime arrived) const {
  const auto kernels = kernels_of_.find({recording.kernels[message.kernel].op, message.to});
  if (kernels == kernels_of_.end()) return nullptr;
  const auto later_end =
      std::find_if(kernels->second.begin(), kernels->second.end(),
                   [&](std::uint32_t kernel) { return recording.kernels[kernel].end >= arrived; });
  return later_end == kernels->second.end() ? nullptr : kernel_at_[*later_end];
}

bool ModeTimeline::add_message(const Played& played, const Recording& recording,
                               const MessageRecord& message) {
  const PlayedKernel* from = kernel_at_[message.kernel];
  const PlayedKernel* to = receiver(recording, message, message.arrived);
  if (from == nullptr || to == nullptr) return true;
  const auto end_in = [&](const PlayedKernel& kernel, SimTime at) {
    return TraceEvents::End{.thread = {process_of(kernel.gpu), kernel.thread},
                            .start = kernel.start,
                            .end = kernel.end,
                            .at = played.start + (at - SimTime{})};
  };
  TraceEvents::End begin = end_in(*from, message.posted);
  if (message.wg != MessageRecord::kNoWg && thread_of_wg_[message.wg] != 0) {
    const WgRecord& wg = recording.wgs[message.wg];
    begin.thread.thread = thread_of_wg_[message.wg];
    begin.start = played.start + (wg.start - SimTime{});
    begin.end = played.start + (wg.end - SimTime{});
  }
  return events_.arrow(begin, end_in(*to, message.arrived),
                       bytes_text(static_cast<std::int64_t>(message.size)));
}

std::string other_data(const RunReport& report, const std::vector<std::string>& left_out) {
  std::string list;
  for (const std::string& what : left_out) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", json_text(what));
  }
  return fmt::format(
      R"({{"scenario":{},"scenario_hash":{},"version":{},"command":{},"left_out":[{}]}})",
      json_text(report.scenario.name), json_text(report.scenario.hash), json_text(report.version),
      json_text(report.command), list);
}

}  // namespace

RecordOptions record_options(const TimelineOptions& options, std::size_t modes) {
  const auto bytes_each = static_cast<std::size_t>(options.limit.count()) / modes;
  return {.detail = options.detail, .most = bytes_each / kBytesPerRecord};
}

Timeline timeline(const RunReport& report, const TimelineOptions& options) {
  const auto limit = static_cast<std::size_t>(options.limit.count());
  TraceEvents events(limit);
  Timeline timeline;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const std::uint64_t first_process = 1 + i * (std::uint64_t{report.cluster.gpus()} + 1);
    const std::size_t left = limit - std::min(limit, events.in_use());
    ModeTimeline(report, report.runs[i], first_process, events, timeline.left_out)
        .write(left / (report.runs.size() - i));
  }
  timeline.json = events.json(other_data(report, timeline.left_out));
  return timeline;
}

}  // namespace weft
