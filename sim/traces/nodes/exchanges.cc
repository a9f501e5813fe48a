#include "sim/traces/nodes/exchanges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

constexpr std::string_view kSend = "send";  // as nccl_calls.cc names them
constexpr std::string_view kReceive = "recv";

using ExchangeId = std::uint32_t;

struct Exchanging {
  std::uint32_t rank = 0;
  std::int64_t own = 0;  // its rank in the communicator
  CommCall* call = nullptr;
  bool to_itself = false;
  bool whole = true;  // each message has both ends
};

// The messages of a kernel.
template <class Function>
void for_each_message(const CommCall& call, Function&& take) {
  take(call);
  for (const CommCall& other : call.with) take(other);
}

class ExchangeFinder {
 public:
  ExchangeFinder(std::map<std::int64_t, KinetoFile>& profiles, Communicators& communicators)
      : profiles_(profiles), communicators_(communicators) {}

  AllToAlls find() {
    for (auto& [rank, profile] : profiles_) {
      add_kernels(static_cast<std::uint32_t>(rank), profile);
    }
    link();
    std::map<ExchangeId, std::vector<ExchangeId>> linked;
    for (ExchangeId k = 0; k < kernels_.size(); ++k) linked[first_of(k)].push_back(k);
    for (const auto& [first, kernels] : linked) {
      if (is_all_to_all(kernels)) make_all_to_all(kernels);
    }
    return found_;
  }

 private:
  struct Way {
    std::string communicator;
    std::int64_t source = 0;
    std::int64_t target = 0;
    auto operator<=>(const Way&) const = default;
  };
  struct Ends {
    std::vector<ExchangeId> sends;
    std::vector<ExchangeId> receives;
  };

  // In order: a communicator's kernels run one after another.
  void add_kernels(std::uint32_t rank, KinetoFile& profile) {
    std::vector<GpuEvent*> events;
    for (GpuEvent& event : profile.gpu) {
      if (event.call && (event.call->name == kSend || event.call->name == kReceive)) {
        events.push_back(&event);
      }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const GpuEvent* a, const GpuEvent* b) { return a->start < b->start; });
    for (GpuEvent* event : events) add(rank, *event->call);
  }

  void add(std::uint32_t rank, CommCall& call) {
    leave_out_empty(call);
    const std::vector<std::uint32_t>& members = communicators_.at(call.group);
    const auto own = std::find(members.begin(), members.end(), rank) - members.begin();
    const auto id = static_cast<ExchangeId>(kernels_.size());
    Exchanging& kernel = kernels_.emplace_back();
    kernel.rank = rank;
    kernel.own = own;
    kernel.call = &call;
    for_each_message(call, [&](const CommCall& one) {
      const bool sends = one.name == kSend;
      const bool known = one.peer >= 0 && one.peer < static_cast<std::int64_t>(members.size()) &&
                         one.elements <= trace_limits::kBytes;
      if (!known) {
        kernel.whole = false;
      } else if (one.peer == own) {
        kernel.to_itself = kernel.to_itself || sends;
      } else if (sends) {
        ends_[{call.group, own, one.peer}].sends.push_back(id);
      } else {
        ends_[{call.group, one.peer, own}].receives.push_back(id);
      }
    });
  }

  // A kernel of nothing else keeps one, which is then a problem.
  void leave_out_empty(CommCall& call) {
    std::vector<CommCall> messages = std::exchange(call.with, {});
    messages.insert(messages.begin(), call);
    const auto filled = [](const CommCall& one) { return one.elements != 0; };
    if (std::none_of(messages.begin(), messages.end(), filled)) messages.resize(1);
    if (messages.size() > 1) {
      found_.empty += std::erase_if(messages, [&](const CommCall& one) { return !filled(one); });
    }
    call = std::move(messages.front());
    messages.erase(messages.begin());
    call.with = std::move(messages);
  }

  void link() {
    linked_to_.resize(kernels_.size());
    std::iota(linked_to_.begin(), linked_to_.end(), 0U);
    for (const auto& [way, ends] : ends_) {
      const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
      for (std::size_t k = 0; k < both; ++k) unite(ends.sends[k], ends.receives[k]);
      for (std::size_t k = both; k < ends.sends.size(); ++k) {
        kernels_[ends.sends[k]].whole = false;
      }
      for (std::size_t k = both; k < ends.receives.size(); ++k) {
        kernels_[ends.receives[k]].whole = false;
      }
    }
  }

  void unite(ExchangeId a, ExchangeId b) {
    a = first_of(a);
    b = first_of(b);
    linked_to_[std::max(a, b)] = std::min(a, b);
  }

  ExchangeId first_of(ExchangeId k) {
    while (linked_to_[k] != k) k = linked_to_[k] = linked_to_[linked_to_[k]];
    return k;
  }

  // Kernels are in order of their ranks.
  [[nodiscard]] bool is_all_to_all(const std::vector<ExchangeId>& kernels) const {
    const auto of_one_rank = [this](ExchangeId a, ExchangeId b) {
      return kernels_[a].rank == kernels_[b].rank;
    };
    return std::any_of(kernels.begin(), kernels.end(),
                       [this](ExchangeId k) { return kernels_[k].to_itself; }) &&
           std::all_of(kernels.begin(), kernels.end(),
                       [this](ExchangeId k) { return kernels_[k].whole; }) &&
           std::adjacent_find(kernels.begin(), kernels.end(), of_one_rank) == kernels.end();
  }

  void make_all_to_all(const std::vector<ExchangeId>& kernels) {
    std::map<std::int64_t, std::size_t> positions;  // of ranks of the communicator
    std::vector<std::uint32_t> ranks;
    for (const ExchangeId k : kernels) {
      positions[kernels_[k].own] = ranks.size();
      ranks.push_back(kernels_[k].rank);
    }
    std::string group = kernels_[kernels.front()].call->group;
    if (ranks != communicators_.at(group)) {
      group = fmt::format("{} of {}", group, fmt::join(ranks, " "));
      communicators_.try_emplace(group, ranks);
    }
    for (const ExchangeId k : kernels) {
      CommCall& call = *kernels_[k].call;
      const CommCall messages = call;
      call.label = "range 'ncclGroupEnd'";
      call.name = "alltoall";
      call.group = group;
      call.with.clear();
      call.elements = 0;
      call.splits.assign(ranks.size(), 0);
      for_each_message(messages, [&](const CommCall& one) {
        if (one.name != kSend) return;
        call.splits[positions.at(one.peer)] += one.elements;
        call.elements += one.elements;
      });
    }
    ++found_.found;
  }

  std::map<std::int64_t, KinetoFile>& profiles_;
  Communicators& communicators_;
  AllToAlls found_;
  std::vector<Exchanging> kernels_;    // by rank, then in order
  std::vector<ExchangeId> linked_to_;  // an earlier one, or itself
  std::map<Way, Ends> ends_;
};

}  // namespace

AllToAlls find_all_to_alls(std::map<std::int64_t, KinetoFile>& profiles,
                           Communicators& communicators) {
  return ExchangeFinder(profiles, communicators).find();
}

}  // namespace weft
