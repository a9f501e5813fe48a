#include "sim/traces/nsys/nvtx_payload.h"

#include <cstddef>

namespace weft {
namespace {

constexpr std::size_t kHeadOfPayload = 32;
constexpr std::int64_t kLargestPayload = 1 << 16;
constexpr const char* kEntries = "NVTX_PAYLOAD_SCHEMA_ENTRIES";

// The caller has checked that they are there.
std::uint64_t number_at(std::string_view bytes, std::size_t at, int size) {
  std::uint64_t number = 0;
  for (int i = size; i-- > 0;) {
    number = (number << 8U) | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return number;
}

// Ids are written in eight bytes of which some versions use four for something else.
constexpr int kBytesOfId = 4;

}  // namespace

NvtxPayloads::NvtxPayloads(SqliteFile& file) {
  constexpr std::size_t kMostFields = 10'000;
  if (!file.has_table(kEntries)) return;
  SqliteRows rows(file,
                  std::string("SELECT domainId, schemaId, name, \"offset\" FROM ") + kEntries);
  for (std::size_t fields = 0; fields < kMostFields && rows.next(); ++fields) {
    const Schema schema{static_cast<std::uint32_t>(rows.whole(0)),
                        static_cast<std::uint32_t>(rows.whole(1))};
    constexpr std::int64_t kFirst = 0;  // the first field has no offset
    offsets_[schema][std::string(rows.text(2).substr(0, 100))] = rows.whole(3, kFirst);
  }
}

std::optional<std::uint64_t> NvtxPayloads::number(std::string_view payload,
                                                  const std::string& field, int size) const {
  constexpr std::size_t kSchemaAt = 8;
  if (payload.size() < kHeadOfPayload) return std::nullopt;
  const auto schema =
      offsets_.find({number_at(payload, 0, kBytesOfId), number_at(payload, kSchemaAt, kBytesOfId)});
  if (schema == offsets_.end()) return std::nullopt;
  const auto found = schema->second.find(field);
  if (found == schema->second.end()) return std::nullopt;
  if (found->second < 0 || found->second > kLargestPayload) return std::nullopt;
  const std::size_t at = kHeadOfPayload + static_cast<std::size_t>(found->second);
  if (payload.size() < at + static_cast<std::size_t>(size)) return std::nullopt;
  return number_at(payload, at, size);
}

}  // namespace weft
