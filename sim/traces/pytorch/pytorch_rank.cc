#include "sim/traces/pytorch/pytorch_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "sim/traces/pytorch/host_time.h"
#include "sim/traces/pytorch/pytorch_calls.h"
#include "sim/traces/pytorch/pytorch_collective.h"
#include "sim/traces/pytorch/pytorch_kernel.h"

namespace weft {
namespace {

using EventId = std::uint32_t;  // of the profile's GPU events
constexpr std::int64_t kNoStream = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNoThread = std::numeric_limits<std::int64_t>::min();

// Walks through what the host did, in order, and appends a kernel to the rank's trace wherever one
// is launched. What it waits for is known then, since all of that has been launched before.
class RankBuilder {
 public:
  RankBuilder(const KinetoFile& profile, const PytorchEt* et, const TraceGroups& groups,
              PytorchSums& sums, TraceProblems& problems)
      : profile_(profile), et_(et), groups_(groups), sums_(sums), problems_(problems) {}

  RankTrace build() {
    trace_.file = profile_.name;
    for (EventId i = 0; i < profile_.gpu.size(); ++i) {
      by_correlation_[profile_.gpu[i].correlation] = i;
    }
    calls_ = find_calls(profile_, et_, groups_, by_correlation_, problems_);
    if (problems_.any()) return std::move(trace_);
    index_ = CallIndex(calls_);
    for (std::uint32_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].kernel) call_of_[*calls_[i].kernel] = i;
    }
    number_lanes();
    find_named();
    std::vector<Step> steps = steps_of_host();
    look_ahead(steps);
    host_.start(first_start(), static_cast<std::uint32_t>(lanes_.size()));
    for (const Step& step : steps) take(step);
    count_times();
    return std::move(trace_);
  }

 private:
  using NodeId = std::uint32_t;

  struct Step {
    enum class Kind : std::uint8_t { launch, call_waits, stream_waits, waits_stream, waits_device };
    Kind kind;
    std::int64_t at;
    std::int64_t thread;
    EventId event = 0;                     // launch
    std::int64_t sequence = -1;            // call_waits
    std::int64_t correlation = -1;         // of waits
    std::int64_t duration = 0;             // same
    std::int64_t next_stream = kNoStream;  // on which this thread launches next
  };

  // Lane 0 is the stream with the most kernels: it computes.
  void number_lanes() {
    std::map<std::int64_t, std::int64_t> kernels;
    for (EventId i = 0; i < profile_.gpu.size(); ++i) {
      if (!call_of_.contains(i)) ++kernels[profile_.gpu[i].stream];
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> streams;
    streams.reserve(kernels.size());
    for (const auto& [stream, count] : kernels) streams.emplace_back(-count, stream);
    std::sort(streams.begin(), streams.end());
    for (const auto& [count, stream] : streams) {
      const auto lane = static_cast<std::uint32_t>(lanes_.size());
      lanes_[stream] = lane;
    }
  }

  // When the first kernel started. What the host did before, it had done by then: it may have been
  // several steps ahead.
  [[nodiscard]] std::int64_t first_start() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const GpuEvent& event : profile_.gpu) first = std::min(first, event.start);
    return first;
  }

  // Finds the calls that a recorded wait names, and those in which nothing travels.
  void find_named() {
    for (const CallInterval& call : calls_) {
      if (call.waits()) named_.insert(call.call->sequence);
      if (call.kernel || !call.call || call.waits()) continue;
      silent_.insert(call.call->sequence);
      ++sums_.counts["collectives of a single rank or of no data, which have no kernel"];
    }
  }

  std::vector<Step> steps_of_host() {
    std::vector<Step> steps;
    std::set<EventId> launched;
    for (const HostEvent& event : profile_.host) {
      Step step{.kind = Step::Kind::launch,
                .at = event.start,
                .thread = event.thread,
                .correlation = event.correlation,
                .duration = event.duration};
      switch (event.kind) {
        case HostEvent::Kind::communicates:
          continue;
        case HostEvent::Kind::runtime: {
          const auto found = by_correlation_.find(event.correlation);
          if (found == by_correlation_.end() || !launched.insert(found->second).second) continue;
          step.event = found->second;
          break;
        }
        case HostEvent::Kind::stream_waits:
          step.kind = Step::Kind::stream_waits;
          if (in_call(step) && !profile_.syncs.contains(event.correlation)) continue;
          break;
        case HostEvent::Kind::waits_stream:
          step.kind = Step::Kind::waits_stream;
          break;
        case HostEvent::Kind::waits_device:
          step.kind = Step::Kind::waits_device;
          break;
      }
      steps.push_back(step);
    }
    for (const CallInterval& call : calls_) {
      if (!call.waits()) continue;
      steps.push_back({.kind = Step::Kind::call_waits,
                       .at = call.start,
                       .thread = call.thread,
                       .sequence = call.call->sequence});
    }
    add_unlaunched(launched, steps);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.at < b.at; });
    return steps;
  }

  // Kernels launched before the profile began: taken as launched when they started, by no thread.
  void add_unlaunched(const std::set<EventId>& launched, std::vector<Step>& steps) {
    for (EventId i = 0; i < profile_.gpu.size(); ++i) {
      if (launched.contains(i)) continue;
      steps.push_back({.kind = Step::Kind::launch,
                       .at = profile_.gpu[i].start,
                       .thread = kNoThread,
                       .event = i});
      ++sums_.counts["kernels whose launch is not in the profile"];
    }
  }

  // Steps within a call of the library do not matter: its kernel's dependencies are derived
  // differently.
  [[nodiscard]] bool in_call(const Step& step) const {
    return index_.at(calls_, step.thread, step.at).has_value();
  }

  // The call, without a kernel of the library, that launches this: it copies or scales its input.
  [[nodiscard]] const CallInterval* silent_call(const Step& step) const {
    if (step.kind != Step::Kind::launch || call_of_.contains(step.event)) return nullptr;
    const auto within = index_.at(calls_, step.thread, step.at);
    if (!within || calls_[*within].kernel || calls_[*within].waits()) return nullptr;
    return &calls_[*within];
  }

  void look_ahead(std::vector<Step>& steps) const {
    std::map<std::int64_t, std::int64_t> next;  // by thread
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const auto known = next.find(step->thread);
      if (known != next.end()) step->next_stream = known->second;
      if (step->kind == Step::Kind::launch && !call_of_.contains(step->event) &&
          silent_call(*step) == nullptr) {
        next[step->thread] = profile_.gpu[step->event].stream;
      }
    }
  }

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::launch:
        return launch(step);
      case Step::Kind::call_waits:
        return call_waits(step);
      case Step::Kind::stream_waits:
        return stream_waits(step);
      case Step::Kind::waits_stream:
        return host_waits(step);
      case Step::Kind::waits_device:
        for (const auto& [stream, node] : last_) finished_[stream] = node;
        return keep_wait(step, last_);
    }
  }

  // The host's time until it came to this step. False if it is not kept.
  bool keep_host_time(const Step& step) {
    if (sums_.host == HostTime::drop || step.thread == kNoThread) return false;
    if (!problems_.keep(profile_.name, kMemoryOfTraceNode)) return false;
    if (host_.go_to(step.at, trace_.nodes)) return true;
    problems_.add(profile_.name, "host: recorded", "the host launched nothing for more than a day");
    return false;
  }

  void keep_wait(const Step& step, const std::map<std::int64_t, NodeId>& waited_for) {
    if (keep_host_time(step)) host_.wait(step.duration, waited_for);
  }

  void launch(const Step& step) {
    const GpuEvent& event = profile_.gpu[step.event];
    const bool host_is_kept = keep_host_time(step);
    const auto call = call_of_.find(step.event);
    const CallInterval* silent = silent_call(step);
    std::optional<TraceNode> node;
    if (call != call_of_.end()) {
      node = node_of_call(*calls_[call->second].call);
      if (!node) return;
      wait_for_producer(step.thread, node->after);
    } else {
      node = kernel_node(event, lanes_.at(event.stream), sums_);
      if (silent != nullptr) wait_for_producer(step.thread, node->after);
    }
    if (host_is_kept) host_.add_to(node->after);
    wait_for_what_the_host_saw(event.stream, node->after);
    const auto pending = pending_.extract(event.stream);
    if (pending) {
      node->after.insert(node->after.end(), pending.mapped().begin(), pending.mapped().end());
    }
    // Order of the stream, said explicitly: nodes that take no time are in no stream's queue.
    if (const auto before = last_.find(event.stream); before != last_.end()) {
      node->after.push_back(before->second);
    }
    const CallInterval* of = call == call_of_.end() ? silent : &calls_[call->second];
    if (of != nullptr && of->call) split_into_messages(*of->call, *node);
    const auto id = static_cast<NodeId>(trace_.nodes.size());
    last_[event.stream] = id;
    if (of == nullptr) {
      current_[step.thread] = event.stream;
    } else if (of->call) {
      by_sequence_[of->call->sequence] = id;
      if (!named_.contains(of->call->sequence)) unnamed_[event.stream] = id;
    }
    trace_.nodes.push_back(std::move(*node));
  }

  // Of a kernel that does several messages at once: all begin with it, and it ends, as a node that
  // takes no time, when all have.
  void split_into_messages(const CommCall& call, TraceNode& kernel) {
    if (call.with.empty()) return;
    TraceNode end{.label = kernel.label,
                  .name = kernel.name,
                  .part = kernel.part,
                  .what = PassNode{},
                  .after = {}};
    const std::vector<NodeId> after = kernel.after;
    const auto add = [this, &end](TraceNode node) {
      if (auto* message = std::get_if<MessageNode>(&node.what)) message->meets = true;
      end.after.push_back(static_cast<NodeId>(trace_.nodes.size()));
      trace_.nodes.push_back(std::move(node));
    };
    add(std::exchange(kernel, {}));
    for (const CommCall& other : call.with) {
      auto node = node_of_call(other);
      if (!node) continue;
      node->after = after;
      add(std::move(*node));
    }
    kernel = std::move(end);
  }

  std::optional<TraceNode> node_of_call(const CommCall& call) {
    const std::string& file = et_ != nullptr ? et_->name : profile_.name;
    return collective_node(call, static_cast<std::uint32_t>(profile_.rank), file, groups_, sums_,
                           problems_);
  }

  // The library makes its stream wait for the one that its caller computes on.
  void wait_for_producer(std::int64_t thread, std::vector<NodeId>& after) {
    const auto current = current_.find(thread);
    if (current != current_.end()) {
      after.push_back(last_.at(current->second));
    } else {
      for (const auto& [stream, node] : last_) after.push_back(node);
    }
  }

  // What the host has waited for ends before anything that it launches afterwards starts.
  void wait_for_what_the_host_saw(std::int64_t stream, std::vector<NodeId>& after) {
    for (const auto& [finished, node] : finished_) {
      const auto [seen, first] = seen_.try_emplace({stream, finished}, node);
      if (!first && seen->second == node) continue;
      seen->second = node;
      after.push_back(node);
    }
  }

  // The thread's stream: the one on which it launches next, or otherwise launched last.
  [[nodiscard]] std::optional<std::int64_t> stream_of(const Step& step) const {
    if (step.next_stream != kNoStream) return step.next_stream;
    const auto current = current_.find(step.thread);
    if (current == current_.end()) return std::nullopt;
    return current->second;
  }

  void call_waits(const Step& step) {
    const auto started = by_sequence_.find(step.sequence);
    const auto stream = stream_of(step);
    if (started == by_sequence_.end()) {
      if (!silent_.contains(step.sequence))
        ++sums_.counts["waits for collectives of the previous step"];
    } else if (stream) {
      pending_[*stream].push_back(started->second);
    }
  }

  void stream_waits(const Step& step) {
    const auto sync = profile_.syncs.find(step.correlation);
    if (sync != profile_.syncs.end() && sync->second.on_stream >= 0) {
      const auto node = last_.find(sync->second.on_stream);
      if (node != last_.end()) pending_[sync->second.stream].push_back(node->second);
      return;
    }
    // The profile does not say what is waited for. Besides copies it can only be collectives that
    // no recorded wait names, unless it is they that wait: for their caller (wait_for_producer).
    const bool names_stream = sync != profile_.syncs.end() && sync->second.stream >= 0;
    const auto stream = names_stream ? std::optional(sync->second.stream) : stream_of(step);
    if (!stream || !lanes_.contains(*stream) || unnamed_.empty()) return;
    ++sums_.counts
          ["waits of a stream for something that is not recorded, assumed to be the "
           "collectives that no recorded wait names"];
    for (const auto& [other, node] : unnamed_) pending_[*stream].push_back(node);
  }

  void host_waits(const Step& step) {
    const auto sync = profile_.syncs.find(step.correlation);
    auto stream = current_.find(step.thread);
    std::int64_t waited = stream == current_.end() ? kNoStream : stream->second;
    if (sync != profile_.syncs.end() && sync->second.stream >= 0) waited = sync->second.stream;
    const auto node = last_.find(waited);
    if (node == last_.end()) return keep_wait(step, {});
    finished_[waited] = node->second;
    keep_wait(step, {*node});
  }

  void count_times() {
    Duration collectives;
    for (const auto& [event, call] : call_of_) {
      add_saturating(collectives, nanoseconds(profile_.gpu[event].duration));
    }
    add_saturating(sums_.collectives, collectives);
    const RecordedStep step = profile_.mean_step.value_or(recorded_step(profile_));
    const bool waited_less = !sums_.step_waited || collectives < *sums_.step_waited;
    if (waited_less || (collectives == *sums_.step_waited && step.time > sums_.step.time)) {
      sums_.step = step;
      sums_.step_waited = collectives;
    }
    sums_.summary.nodes += profile_.gpu.size();
  }

  const KinetoFile& profile_;
  const PytorchEt* et_;
  const TraceGroups& groups_;
  PytorchSums& sums_;
  TraceProblems& problems_;
  RankTrace trace_;
  HostClock host_;
  std::map<std::int64_t, EventId> by_correlation_;
  std::vector<CallInterval> calls_;
  CallIndex index_;
  std::map<EventId, std::uint32_t> call_of_;
  std::map<std::int64_t, std::uint32_t> lanes_;  // by stream
  std::set<std::int64_t> named_;                 // sequence numbers
  std::set<std::int64_t> silent_;                // the same for calls in which nothing travels
  std::map<std::int64_t, NodeId> by_sequence_;
  std::map<std::int64_t, NodeId> unnamed_;                        // the last by stream
  std::map<std::int64_t, NodeId> last_;                           // by stream
  std::map<std::int64_t, std::int64_t> current_;                  // stream, by thread
  std::map<std::int64_t, std::vector<NodeId>> pending_;           // by waiting stream
  std::map<std::int64_t, NodeId> finished_;                       // as the host saw, by stream
  std::map<std::pair<std::int64_t, std::int64_t>, NodeId> seen_;  // by launching, finished stream
};

}  // namespace

RankTrace read_pytorch_rank(const KinetoFile& profile, const PytorchEt* et,
                            const TraceGroups& groups, PytorchSums& sums, TraceProblems& problems) {
  return RankBuilder(profile, et, groups, sums, problems).build();
}

}  // namespace weft
