// Binary payloads of NVTX ranges: NCCL's say what a call moves, and among whom.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/traces/sqlite.h"

namespace weft {

// Where each schema has its fields, from tables NVTX_PAYLOAD_SCHEMA_ENTRIES. A payload stands
// behind a head of 32 bytes, which names domain and schema.
class NvtxPayloads {
 public:
  explicit NvtxPayloads(SqliteFile& file);

  // Unsigned numbers, little-endian, of so many bytes. Nothing if the payload lacks the field.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view payload,
                                                    const std::string& field, int size) const;

 private:
  using Schema = std::pair<std::uint64_t, std::uint64_t>;  // domain, schema
  std::map<Schema, std::map<std::string, std::int64_t>> offsets_;
};

}  // namespace weft
