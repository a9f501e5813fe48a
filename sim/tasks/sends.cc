#include "sim/tasks/sends.h"

#include <bit>
#include <optional>
#include <utility>

namespace weft {

void Sends::own(std::size_t first, std::uint16_t op) {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> last;  // a kind and what it becomes
  for (std::size_t i = first; i < stored_.size(); ++i) {
    std::uint32_t& kind = stored_[i].kind;
    if (!last || last->first != kind) {
      Kind owned = kinds_[kind];
      owned.op = op;
      last = {kind, index_of(owned)};
    }
    kind = last->second;
  }
}

Sends::Stored Sends::stored(const Send& send) {
  // Does not compile where a member is missing: it is to be kept below, and given back by [].
  [[maybe_unused]] const auto& [to, size, arrives, issued, entries, op, group, receive_traffic,
                                ordered, from_engine, in_switch] = send;
  return {.to = send.to,
          .size = send.size,
          .arrives = send.arrives,
          .issued = send.issued,
          .kind = index_of({.entries = send.entries,
                            .op = send.op,
                            .group = send.group,
                            .receive_traffic = send.receive_traffic,
                            .ordered = send.ordered,
                            .from_engine = send.from_engine,
                            .in_switch = send.in_switch})};
}

std::uint32_t Sends::index_of(const Kind& kind) {
  const auto word = std::bit_cast<std::uint64_t>(kind);
  const std::uint32_t next = static_cast<std::uint32_t>(kinds_.size());
  const auto [known, added] = index_.try_emplace(word, next);
  if (added) kinds_.push_back(kind);
  return known->second;
}

}  // namespace weft
