#include "sim/engine/known_runs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sim/core/fingerprint.h"
#include "sim/scenario/load.h"

namespace weft {
namespace {

// Of a sequence of numbers, two that have nothing to do with one another.
class Digest {
 public:
  void add(std::uint64_t value) {
    low_ = mix64(low_ ^ value) + 0x9E3779B97F4A7C15ULL;
    high_ = (std::rotl(high_, 29) ^ mix64(value + high_)) * 0xD6E8FEB86659FD93ULL;
  }
  template <class... Values>
  void add_all(const Values&... values) {
    (add(number(values)), ...);
  }
  void add(const std::string& text) {
    add(text.size());
    add(fnv1a(text));
    add(fnv1a(text, 0x6C62272E07BB0142ULL));
  }
  // Whole vectors of plain data without gaps between its members.
  template <class Items>
  void add_plain(const Items& items) {
    using Item = std::remove_cvref_t<decltype(*items.begin())>;
    static_assert(std::has_unique_object_representations_v<Item>);
    add(items.size());
    const std::size_t size = items.size() * sizeof(Item);
    const auto* bytes = size == 0 ? nullptr : reinterpret_cast<const char*>(&*items.begin());
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < size; at += sizeof(word)) {
      word = 0;
      std::memcpy(&word, bytes + at, std::min(sizeof(word), size - at));
      add(word);
    }
  }
  [[nodiscard]] RunKey key() const { return {.low = low_, .high = high_}; }

 private:
  template <class Value>
  static std::uint64_t number(const Value& value) {
    if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>) {
      return static_cast<std::uint64_t>(value);
    } else if constexpr (requires { value.count(); }) {
      return static_cast<std::uint64_t>(value.count());
    } else {
      return value.value;
    }
  }

  std::uint64_t low_ = 0xCBF29CE484222325ULL;
  std::uint64_t high_ = 0x84222325CBF29CE4ULL;
};

// Structured bindings do not compile where a member is missing.
void add(Digest& digest, const Work& work) {
  const auto& [traffic, written_more, memory_alone, flops, arithmetic_alone, arithmetic_share,
               fixed, shares] = work;
  digest.add_all(traffic, written_more, memory_alone, flops, arithmetic_alone, arithmetic_share,
                 fixed, shares);
}

void add(Digest& digest, const Kernel& kernel) {
  const auto& [gpu, op, role, executor, persistent, fenced, waves_fence, work_list, puts_by,
               handover, first_run, items, runs, first_work, store_rate, flag, finish, ended,
               first_end, max_grid, launch, startup, wg, cus, priority, first_dependency,
               dependencies, team_first, team_size] = kernel;
  const auto& [waves, registers, lds, slots] = wg;
  const auto& [first_cu, number_of_cus] = cus;
  digest.add_all(gpu, op, role, executor, persistent, fenced, waves_fence, work_list, puts_by,
                 handover, first_run, items, runs, first_work, store_rate, flag, finish, ended,
                 first_end, max_grid, launch, startup, waves, registers, lds, slots, first_cu,
                 number_of_cus, priority, first_dependency, dependencies, team_first, team_size);
}

void add(Digest& digest, const Operator& op) {
  const auto& [name, role, part, law] = op;
  digest.add(name);
  digest.add(part);
  digest.add_all(role, law);
}

void add(Digest& digest, const TaskGraph& graph) {
  digest.add(graph.works.size());
  for (const Work& work : graph.works) add(digest, work);
  digest.add(graph.operators.size());
  for (const Operator& op : graph.operators) add(digest, op);
  digest.add(graph.kernels.size());
  for (const Kernel& kernel : graph.kernels) add(digest, kernel);
  digest.add_plain(graph.dependencies);
  digest.add_plain(graph.items.runs());
  digest.add_plain(graph.items.ends());
  digest.add_plain(graph.latches);
  digest.add_plain(graph.sends);
  digest.add(graph.groups.size());
  for (const std::vector<std::uint32_t>& group : graph.groups) digest.add_plain(group);
  digest.add(graph.exits.size());
  for (const std::vector<KernelId>& exit : graph.exits) digest.add_plain(exit);
}

std::int64_t bytes_of(const RunResult& result) {
  const std::size_t size =
      sizeof(RunResult) + result.gpus.size() * sizeof(GpuUse) +
      result.operators.size() * (sizeof(OperatorUse) + 32) +
      result.parts.size() * (sizeof(PartUse) + 16) + result.links.size() * (sizeof(LinkRow) + 16) +
      result.exits.size() * (sizeof(ExitUse) + result.operators.size() * sizeof(Duration));
  return static_cast<std::int64_t>(size);
}

}  // namespace

RunKey key_of(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options) {
  Digest digest;
  digest.add(to_text(cluster.spec));
  digest.add_all(options.max_events, options.max_time, options.tie_shuffle);
  add(digest, graph);
  return digest.key();
}

std::optional<RunResult> KnownRuns::find(const RunKey& key) const {
  const std::lock_guard lock(guard_);
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return found->second.result;
}

void KnownRuns::put(const RunKey& key, const RunResult& result) {
  const std::int64_t bytes = bytes_of(result);
  if (bytes > most_) return;
  const std::lock_guard lock(guard_);
  if (!known_.try_emplace(key, Known{.result = result, .bytes = bytes}).second) return;
  in_order_.push_back(key);
  bytes_ += bytes;
  while (bytes_ > most_) {
    const auto oldest = known_.find(in_order_.front());
    bytes_ -= oldest->second.bytes;
    known_.erase(oldest);
    in_order_.pop_front();
  }
}

std::size_t KnownRuns::size() const {
  const std::lock_guard lock(guard_);
  return known_.size();
}

}  // namespace weft
