#include <fmt/format.h>

#include <limits>

#include "sim/traces/chakra/chakra_file.h"
#include "sim/traces/chakra/wire.h"

namespace weft {
namespace {

// Numbers of the fields in et_def.proto.
namespace metadata {
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kAttribute = 2;
}  // namespace metadata
namespace node_field {
constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kType = 3;
constexpr std::uint32_t kCtrlDeps = 4;
constexpr std::uint32_t kDataDeps = 5;
constexpr std::uint32_t kStart = 6;
constexpr std::uint32_t kDuration = 7;
constexpr std::uint32_t kInputs = 8;
constexpr std::uint32_t kAttribute = 10;
}  // namespace node_field
namespace attribute_field {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kInt32 = 7;
constexpr std::uint32_t kInt64 = 9;
constexpr std::uint32_t kUint32 = 11;
constexpr std::uint32_t kUint64 = 13;
constexpr std::uint32_t kSint32 = 15;
constexpr std::uint32_t kSint64 = 17;
constexpr std::uint32_t kFixed32 = 19;
constexpr std::uint32_t kFixed64 = 21;
constexpr std::uint32_t kSfixed32 = 23;
constexpr std::uint32_t kSfixed64 = 25;
constexpr std::uint32_t kBool = 27;
constexpr std::uint32_t kBoolList = 28;
constexpr std::uint32_t kString = 29;
}  // namespace attribute_field

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

struct Attribute {
  std::string_view name;
  ChakraValue value;
};

ChakraValue whole(std::int64_t number) {
  return {.kind = ChakraValue::Kind::whole, .whole = number, .text = {}};
}

ChakraValue not_negative(std::uint64_t number) {
  return {.kind = ChakraValue::Kind::whole,
          .whole = static_cast<std::int64_t>(number & kLargest),
          .fits = number <= kLargest,
          .is_unsigned = true,
          .text = {}};
}

std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

// The only field of a list is its values, packed or one by one.
ChakraValue truths(std::string_view list) {
  ChakraValue value{.kind = ChakraValue::Kind::truths, .text = {}};
  for (WireReader fields(list); const auto field = fields.next();) {
    if (field->type == WireType::varint && field->value == 0) value.all_true = false;
    for (const char c : field->bytes) value.all_true = value.all_true && c != 0;
  }
  return value;
}

ChakraValue value_of(const WireField& field) {
  switch (field.number) {
    case attribute_field::kInt32:
    case attribute_field::kInt64:
    case attribute_field::kSfixed64:
      return whole(static_cast<std::int64_t>(field.value));
    case attribute_field::kSfixed32:
      return whole(static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value)));
    case attribute_field::kSint32:
    case attribute_field::kSint64:
      return whole(zigzag(field.value));
    case attribute_field::kUint32:
    case attribute_field::kUint64:
    case attribute_field::kFixed32:
    case attribute_field::kFixed64:
      return not_negative(field.value);
    case attribute_field::kBool:
      return {.kind = ChakraValue::Kind::truth, .whole = field.value != 0 ? 1 : 0, .text = {}};
    case attribute_field::kBoolList:
      return truths(field.bytes);
    case attribute_field::kString:
      return {.kind = ChakraValue::Kind::text, .text = field.bytes};
    default:
      return {.text = {}};
  }
}

std::optional<Attribute> attribute_of(std::string_view bytes, std::string& problem) {
  Attribute attribute{.name = {}, .value = {.text = {}}};
  WireReader fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == attribute_field::kName) {
      attribute.name = field->bytes;
    } else if (field->number > 2) {  // 2 is a description
      attribute.value = value_of(*field);
    }
  }
  if (fields.problem().empty()) return attribute;
  problem = "attr: " + fields.problem();
  return std::nullopt;
}

// Packed, as proto3 writes them, or one by one.
bool take_ids(const WireField& field, std::vector<std::uint64_t>& ids) {
  if (field.type == WireType::varint) {
    ids.push_back(field.value);
    return true;
  }
  if (field.type != WireType::bytes) return false;
  const auto values = packed_varints(field.bytes);
  if (!values) return false;
  ids.insert(ids.end(), values->begin(), values->end());
  return true;
}

class NodeReader {
 public:
  NodeReader(ChakraFile& file, TraceProblems& problems) : file_(file), problems_(problems) {}

  void read(std::string_view message) {
    WireReader fields(message);
    // The id may be anywhere in the message; attributes are read after it, so that problems can
    // name the node.
    std::vector<std::string_view> attributes;
    std::string_view inputs;
    while (const auto field = fields.next()) {
      if (field->number == node_field::kAttribute) {
        attributes.push_back(field->bytes);
      } else if (field->number == node_field::kInputs) {
        inputs = field->bytes;
      } else {
        take(*field);
      }
    }
    if (!fields.problem().empty()) return fail("", fields.problem());
    if (lists_groups(node_)) take_inputs(inputs);
    for (const std::string_view bytes : attributes) take_attribute_message(bytes);
    add_node(file_, std::move(node_), problems_);
  }

 private:
  void take(const WireField& field) {
    switch (field.number) {
      case node_field::kId:
        node_.id = field.value;
        break;
      case node_field::kName:
        node_.name = field.bytes;
        break;
      case node_field::kType:
        if (field.value < kChakraKinds) node_.kind = static_cast<ChakraKind>(field.value);
        break;
      case node_field::kCtrlDeps:
        if (!take_ids(field, node_.ctrl_deps)) fail("ctrl_deps", "not a list of ids");
        break;
      case node_field::kDataDeps:
        if (!take_ids(field, node_.data_deps)) fail("data_deps", "not a list of ids");
        break;
      case node_field::kStart:
        take_time(field, "start_time_micros", node_.start_us);
        break;
      case node_field::kDuration:
        take_time(field, "duration_micros", node_.duration_us);
        break;
      default:  // outputs
        break;
    }
  }

  // An IOInfo: values, shapes, types.
  void take_inputs(std::string_view message) {
    WireReader fields(message);
    while (const auto field = fields.next()) {
      if (field->number == 1) node_.inputs = field->bytes;
    }
    if (!fields.problem().empty()) fail("inputs", fields.problem());
  }

  void take_time(const WireField& field, const char* name, std::int64_t& time) {
    if (field.type != WireType::varint || field.value > kLargest) {
      return fail(name, "must be microseconds below 2^63");
    }
    time = static_cast<std::int64_t>(field.value);
  }

  void take_attribute_message(std::string_view bytes) {
    std::string problem;
    if (const auto attribute = attribute_of(bytes, problem)) {
      take_attribute(file_, node_, attribute->name, attribute->value, problems_);
    } else {
      fail("attr", problem);
    }
  }

  void fail(const char* field, const std::string& message) {
    const std::string where = label_of(node_);
    problems_.add(file_.name, *field == '\0' ? where : where + ": " + field, message);
  }

  ChakraFile& file_;
  TraceProblems& problems_;
  ChakraNode node_;
};

void read_metadata(std::string_view message, ChakraFile& file, TraceProblems& problems) {
  WireReader fields(message);
  while (const auto field = fields.next()) {
    if (field->number <= metadata::kAttribute && field->type != WireType::bytes) {
      return problems.add(file.name, "metadata",
                          "the first message cannot be read: not a Chakra trace?");
    }
    if (field->number == metadata::kVersion) file.version = field->bytes;
    if (field->number != metadata::kAttribute) continue;
    std::string problem;
    const auto attribute = attribute_of(field->bytes, problem);
    if (!attribute) {
      problems.add(file.name, "metadata: attr", problem);
    } else if (attribute->name == "schema") {
      file.version = attribute->value.text;
      file.recorded = true;
    }
  }
  if (!fields.problem().empty()) problems.add(file.name, "metadata", fields.problem());
}

}  // namespace

ChakraFile read_chakra_wire(std::string_view bytes, const std::string& name,
                            TraceProblems& problems) {
  ChakraFile file;
  file.name = name;
  WireReader messages(bytes);
  const auto first = messages.next_delimited();
  if (first) read_metadata(*first, file, problems);
  while (const auto message = messages.next_delimited()) {
    NodeReader(file, problems).read(*message);
    if (is_enough(problems)) break;
  }
  if (!messages.problem().empty()) {
    problems.add(
        name,
        file.nodes.empty() ? "file" : fmt::format("file, after {}", label_of(file.nodes.back())),
        messages.problem());
  }
  check_nodes(file, problems);
  return file;
}

}  // namespace weft
