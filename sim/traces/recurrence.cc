#include "sim/traces/recurrence.h"

#include <algorithm>
#include <string_view>

namespace weft {
namespace {

constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;  // of hashes modulo 2^64
constexpr std::uint32_t kShortest = 4;
constexpr std::uint32_t kLongestPeriod = 4096;

// "layer12_mlp" is "layer#_mlp".
std::string without_numbers(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) plain += c;
    if (digit && (plain.empty() || plain.back() != '#')) plain += '#';
  }
  return plain;
}

// Whether ranks of its groups do different things.
bool has_roles(const ModelOp& op) {
  const auto* call = std::get_if<CommunicationShape>(&op.shape);
  return call != nullptr && (call->op == CollectiveOp::point_to_point ||
                             call->op == CollectiveOp::broadcast || !call->pair_bytes.empty());
}

bool alike(const ModelOp& a, const ModelOp& b) {
  return a.part == b.part && a.stream == b.stream && a.shape == b.shape && a.beside == b.beside &&
         a.layer_rules == b.layer_rules;
}

// So that few have to be compared.
std::int64_t size_of(const ModelOp& op) {
  if (const auto* kernel = std::get_if<RecordedShape>(&op.shape)) return kernel->time.count();
  const auto* call = std::get_if<CommunicationShape>(&op.shape);
  return call != nullptr ? call->buffer.count() : flops_of(op.shape).count();
}

}  // namespace

OpId Kinds::first_alike(OpId id) {
  const ModelOp& op = graph_.ops[id];
  std::vector<OpId>& others = by_name_[{without_numbers(op.name), size_of(op)}];
  const auto known = std::find_if(others.begin(), others.end(),
                                  [&](OpId other) { return alike(graph_.ops[other], op); });
  if (known != others.end()) return *known;
  others.push_back(id);
  return id;
}

Kind Kinds::of(OpId first, std::size_t group, std::size_t rank) {
  const std::size_t role = has_roles(graph_.ops[first]) ? rank : 0;
  const std::tuple key(first.value, group, role);
  return numbers_.try_emplace(key, static_cast<Kind>(numbers_.size())).first->second;
}

Cuts::Cuts(const std::vector<Kind>& kinds) : sums_{0}, powers_{1} {
  sums_.reserve(kinds.size() + 1);
  powers_.reserve(kinds.size() + 1);
  for (const Kind kind : kinds) {
    sums_.push_back(sums_.back() * kBase + kind + 1);
    powers_.push_back(powers_.back() * kBase);
  }
}

std::uint64_t Cuts::hash(std::uint32_t first, std::uint32_t count) const {
  return sums_[first + count] - sums_[first] * powers_[count];
}

bool Cuts::same(std::uint32_t a, std::uint32_t b, std::uint32_t count) const {
  return hash(a, count) == hash(b, count);
}

// 0: nothing recurs here.
std::uint32_t Cuts::period_at(std::uint32_t at, std::uint32_t end) const {
  const std::uint32_t most = std::min(kLongestPeriod, (end - at) / 2);
  for (std::uint32_t period = kShortest; period <= most; ++period) {
    if (same(at, at + period, period)) return period;
  }
  return 0;
}

void Cuts::cut(std::uint32_t begin, std::uint32_t end, std::vector<std::uint32_t>& starts) const {
  std::uint32_t rest = begin;
  for (std::uint32_t at = begin; at < end;) {
    const std::uint32_t period = period_at(at, end);
    if (period == 0) {
      ++at;
      continue;
    }
    if (rest < at) starts.push_back(rest);
    starts.push_back(at);
    for (at += period; at + period <= end && same(at - period, at, period); at += period) {
      starts.push_back(at);
    }
    rest = at;
  }
  if (rest < end) starts.push_back(rest);
}

}  // namespace weft
