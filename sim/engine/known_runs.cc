#include "sim/engine/known_runs.h"

#include <string>
#include <utility>

#include "sim/core/packing.h"
#include "sim/engine/packed_run.h"

namespace weft {

// Not in a namespace without a name: the packer would not find it.
template <class Visit, class Lowering>
  requires std::same_as<std::remove_const_t<Lowering>, KnownLowering>
void each_member(Visit& visit, Lowering& lowering) {
  auto& [run, first_operators] = lowering;
  visit(run.low, run.high, first_operators);
}

template <class Visit, class Choice>
  requires std::same_as<std::remove_const_t<Choice>, KnownChoice>
void each_member(Visit& visit, Choice& known) {
  auto& [choice] = known;
  visit(choice);
}

namespace {

std::int64_t bytes_of(const KnownChoice& /*choice*/) { return sizeof(RunResult); }

std::int64_t bytes_of(const RunResult& result) {
  const std::size_t size =
      sizeof(RunResult) + result.gpus.size() * sizeof(GpuUse) +
      result.operators.size() * (sizeof(OperatorUse) + 32) +
      result.parts.size() * (sizeof(PartUse) + 16) + result.links.size() * (sizeof(LinkRow) + 16) +
      result.exits.size() * (sizeof(ExitUse) + result.operators.size() * sizeof(Duration));
  return static_cast<std::int64_t>(size);
}

std::int64_t bytes_of(const KnownLowering& lowering) {
  return static_cast<std::int64_t>(sizeof(RunResult) +
                                   lowering.first_operators.size() * sizeof(OperatorId));
}

template <class Known>
std::string packed(const Known& known) {
  Packer packer;
  packer(known);
  return packer.take();
}

std::optional<RunResult> unpacked(std::string_view bytes, const RunResult* /*type*/) {
  return unpacked_run(bytes);
}

template <class Known>
std::optional<Known> unpacked(std::string_view bytes, const Known* /*type*/) {
  Known known;
  Unpacker unpacker(bytes);
  unpacker(known);
  if (!unpacker.is_done()) return std::nullopt;
  return known;
}

}  // namespace

KnownRuns::KnownRuns(Bytes most, const std::optional<KnownFolder>& folder)
    : most_(most.count()), files_(folder ? std::make_unique<KnownFiles>(*folder) : nullptr) {}

template <class Of>
std::optional<Of> KnownRuns::find_value(const RunKey& key) const {
  {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key);
    if (found != known_.end()) return std::get<Of>(found->second.value);
  }
  if (!files_) return std::nullopt;
  const std::optional<std::string> bytes = files_->find(key);
  if (!bytes) return std::nullopt;
  std::optional<Of> value = unpacked(*bytes, static_cast<const Of*>(nullptr));
  if (value) keep(key, {.value = *value, .bytes = bytes_of(*value)});
  return value;
}

template <class Of>
void KnownRuns::put_value(const RunKey& key, const Of& value) {
  keep(key, {.value = value, .bytes = bytes_of(value)});
  if (files_) files_->put(key, packed(value));
}

void KnownRuns::keep(const RunKey& key, Known&& known) const {
  const std::int64_t bytes = known.bytes;
  if (bytes > most_) return;
  const std::lock_guard lock(guard_);
  if (!known_.try_emplace(key, std::move(known)).second) return;
  in_order_.push_back(key);
  bytes_ += bytes;
  while (bytes_ > most_) {
    const auto oldest = known_.find(in_order_.front());
    bytes_ -= oldest->second.bytes;
    known_.erase(oldest);
    in_order_.pop_front();
  }
}

std::optional<RunResult> KnownRuns::find(const RunKey& key) const {
  return find_value<RunResult>(key);
}

void KnownRuns::put(const RunKey& key, const RunResult& result) { put_value(key, result); }

std::optional<KnownLowering> KnownRuns::find_lowering(const RunKey& key) const {
  return find_value<KnownLowering>(key);
}

void KnownRuns::put_lowering(const RunKey& key, const KnownLowering& lowering) {
  put_value(key, lowering);
}

std::optional<KnownChoice> KnownRuns::find_choice(const RunKey& key) const {
  return find_value<KnownChoice>(key);
}

void KnownRuns::put_choice(const RunKey& key, const KnownChoice& choice) { put_value(key, choice); }

std::size_t KnownRuns::size() const {
  const std::lock_guard lock(guard_);
  return known_.size();
}

std::unique_ptr<KnownRuns> KnownRuns::for_a_child() const {
  return std::make_unique<KnownRuns>(bytes(most_),
                                     files_ ? std::optional(files_->where()) : std::nullopt);
}

}  // namespace weft
