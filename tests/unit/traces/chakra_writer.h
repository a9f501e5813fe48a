// Chakra traces written byte by byte, in the forms that the writers in use have.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/traces/chakra/wire.h"

namespace weft {

// Fields of AttributeProto.
enum class AttributeField : std::uint32_t {
  int32 = 7,
  int64 = 9,
  uint64 = 13,
  sint64 = 17,
  truth = 27,
  truths = 28,
  text = 29
};

inline std::string number_attribute(const std::string& name, AttributeField field,
                                    std::uint64_t value) {
  WireWriter writer;
  writer.bytes(1, name);
  writer.varint(static_cast<std::uint32_t>(field), value);
  return writer.text();
}
inline std::string text_attribute(const std::string& name, const std::string& value) {
  WireWriter writer;
  writer.bytes(1, name);
  writer.bytes(static_cast<std::uint32_t>(AttributeField::text), value);
  return writer.text();
}

struct WrittenNode {
  std::uint64_t id = 0;
  std::string name = "node";
  int type = 4;
  std::vector<std::uint64_t> data_deps = {};
  std::vector<std::uint64_t> ctrl_deps = {};
  std::uint64_t duration = 0;
  std::vector<std::string> attributes = {};

  [[nodiscard]] std::string text() const {
    WireWriter writer;
    if (id != 0) writer.varint(1, id);  // as proto3 does
    writer.bytes(2, name);
    writer.varint(3, static_cast<std::uint64_t>(type));
    writer.packed(4, ctrl_deps);
    writer.packed(5, data_deps);
    if (duration != 0) writer.varint(7, duration);
    for (const std::string& attribute : attributes) writer.bytes(10, attribute);
    return writer.text();
  }
};

inline WrittenNode compute(std::uint64_t id, std::uint64_t us,
                           std::vector<std::uint64_t> after = {}) {
  return {.id = id, .name = "compute", .data_deps = std::move(after), .duration = us};
}

inline WrittenNode collective(std::uint64_t id, std::uint64_t kind, std::uint64_t size,
                              std::vector<std::uint64_t> after = {}) {
  return {.id = id,
          .name = "coll",
          .type = 7,
          .data_deps = std::move(after),
          .attributes = {number_attribute("is_cpu_op", AttributeField::truth, 0),
                         number_attribute("comm_type", AttributeField::int64, kind),
                         number_attribute("comm_size", AttributeField::int64, size)}};
}

inline std::string generated(const std::vector<WrittenNode>& nodes) {
  WireWriter metadata;
  metadata.bytes(1, "0.0.4");
  WireWriter file;
  file.delimited(metadata.text());
  for (const WrittenNode& node : nodes) file.delimited(node.text());
  return file.text();
}

inline std::string recorded(const std::vector<WrittenNode>& nodes, const std::string& schema) {
  WireWriter metadata;
  metadata.bytes(2, text_attribute("schema", schema));
  WireWriter file;
  file.delimited(metadata.text());
  for (const WrittenNode& node : nodes) file.delimited(node.text());
  return file.text();
}

// A folder that goes with the test.
class TraceFolder {
 public:
  explicit TraceFolder(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("weft_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  ~TraceFolder() { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace weft
