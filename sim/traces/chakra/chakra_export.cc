#include "sim/traces/chakra/chakra_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "sim/models/fusions.h"
#include "sim/traces/chakra/wire.h"
#include "sim/traces/recorded_wgs.h"
#include "sim/traces/roofline.h"

namespace weft {
namespace {

// Numbers of et_def.proto.
enum class Type : std::uint8_t { compute = 4, send = 5, receive = 6, collective = 7 };
constexpr std::uint32_t kInt32 = 7;
constexpr std::uint32_t kInt64 = 9;
constexpr std::uint32_t kBool = 27;
constexpr std::uint32_t kString = 29;

std::uint64_t comm_type(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return 0;
    case CollectiveOp::all_gather:
      return 2;
    case CollectiveOp::broadcast:
      return 5;
    case CollectiveOp::all_to_all:
      return 6;
    case CollectiveOp::reduce_scatter:
      return 7;
    case CollectiveOp::point_to_point:
      break;
  }
  SIM_ASSERT(false);
}

std::string attribute(const char* name, std::uint32_t field, std::int64_t value) {
  WireWriter writer;
  writer.bytes(1, name);
  writer.varint(field, static_cast<std::uint64_t>(value));
  return writer.text();
}

std::string attribute(const char* name, const std::string& value) {
  WireWriter writer;
  writer.bytes(1, name);
  writer.bytes(kString, value);
  return writer.text();
}

class NodeWriter {
 public:
  NodeWriter(std::uint64_t id, const std::string& name, Type type) {
    if (id != 0) out_.varint(1, id);  // proto3 leaves zeros out
    out_.bytes(2, name);
    out_.varint(3, static_cast<std::uint64_t>(type));
  }
  void after(const std::vector<std::uint64_t>& ids) { out_.packed(5, ids); }
  void microseconds(std::int64_t us) { out_.varint(7, static_cast<std::uint64_t>(us)); }
  void add(const std::string& attribute) { out_.bytes(10, attribute); }
  [[nodiscard]] const std::string& text() const { return out_.text(); }

 private:
  WireWriter out_;
};

// Uneven all-to-all: what this rank sends; all-gather: its own block; otherwise the buffer.
std::int64_t comm_size(const CommunicationShape& call, std::uint32_t rank, std::size_t ranks) {
  const auto n = static_cast<std::int64_t>(ranks);
  if (!call.pair_bytes.empty()) {
    const auto first = call.pair_bytes.begin() + static_cast<std::int64_t>(rank) * n;
    return std::accumulate(first, first + n, std::int64_t{0});
  }
  if (call.op == CollectiveOp::all_gather) return (call.buffer.count() + n - 1) / n;
  return call.buffer.count();
}

void add_compute(NodeWriter& node, const OpShape& shape, const RecordedShape& wgs,
                 const GpuSpec& gpu) {
  constexpr std::int64_t kPsPerMicrosecond = 1'000'000;
  const std::int64_t ps = roofline_time(shape, gpu).count();
  node.microseconds(std::max<std::int64_t>((ps + kPsPerMicrosecond - 1) / kPsPerMicrosecond, 1));
  node.add(attribute("num_ops", kInt64, flops_of(shape).count()));
  node.add(attribute("tensor_size", kInt64, bytes_moved(shape).count()));
  node.add(attribute("num_wgs", kInt64, wgs.wgs));
  node.add(attribute("wg_threads", kInt64, wgs.threads));
  node.add(attribute("wg_registers_per_thread", kInt64, wgs.registers_per_thread));
  node.add(attribute("wg_lds_bytes", kInt64, wgs.lds.count()));
}

// Layers are alike: for equal operators the WGs are found only once.
std::vector<RecordedShape> wgs_of_all(const ModelGraph& graph, const GpuSpec& gpu) {
  std::vector<RecordedShape> all(graph.ops.size());
  std::vector<std::uint32_t> first;  // of each kind
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    const ModelOp& op = graph.ops[OpId(i)];
    if (communicates(op)) continue;
    const auto ranks = [&](const ModelOp& of) {
      return static_cast<std::uint32_t>(graph.places[of.place].groups.front().size());
    };
    const auto known = std::find_if(first.begin(), first.end(), [&](std::uint32_t other) {
      const ModelOp& earlier = graph.ops[OpId(other)];
      return earlier.shape == op.shape && ranks(earlier) == ranks(op);
    });
    all[i] = known != first.end() ? all[*known] : recorded_wgs(op.shape, gpu, ranks(op));
    if (known == first.end()) first.push_back(i);
  }
  return all;
}

template <class Is>
std::size_t count_calls(const ModelGraph& graph, Is is) {
  return static_cast<std::size_t>(
      std::count_if(graph.ops.begin(), graph.ops.end(), [&is](const ModelOp& op) {
        const auto* call = std::get_if<CommunicationShape>(&op.shape);
        return call != nullptr && is(*call);
      }));
}

}  // namespace

ChakraExport::ChakraExport(const ModelGraph& graph, const GpuSpec& gpu, int gpus)
    : graph_(graph), gpu_(gpu), gpus_(gpus), wgs_(wgs_of_all(graph, gpu)) {
  std::set<PlaceId> communicate;
  for (const ModelOp& op : graph.ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call != nullptr && call->op != CollectiveOp::point_to_point) communicate.insert(op.place);
  }
  for (std::uint32_t p = 0; p < graph.places.size(); ++p) {
    std::vector<Member> members(static_cast<std::size_t>(gpus));
    const Groups& place = graph.places[PlaceId(p)];
    for (std::size_t g = 0; g < place.groups.size(); ++g) {
      const std::vector<std::uint32_t>& ranks = place.groups[g];
      for (std::uint32_t r = 0; r < ranks.size(); ++r) {
        members[ranks[r]] = {.group = static_cast<std::int32_t>(g), .rank = r};
      }
      const bool all = ranks.size() == static_cast<std::size_t>(gpus) &&
                       std::is_sorted(ranks.begin(), ranks.end());
      if (all || !communicate.contains(PlaceId(p))) continue;
      names_.try_emplace(ranks, static_cast<std::uint32_t>(names_.size() + 1));
    }
    members_.push_back(std::move(members));
  }
}

std::string ChakraExport::rank(std::uint32_t gpu) const {
  WireWriter metadata;
  metadata.bytes(1, "0.0.4");
  WireWriter file;
  file.delimited(metadata.text());
  std::map<std::uint32_t, std::uint64_t> last;  // by stream
  for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
    const ModelOp& op = graph_.ops[OpId(i)];
    if (members_[op.place.value][gpu].group < 0) continue;
    std::set<std::uint64_t> after;
    if (const auto before = last.find(op.stream); before != last.end()) {
      after.insert(before->second);
    }
    for (const OpId before : op.after) {
      if (members_[graph_.ops[before].place.value][gpu].group >= 0) after.insert(before.value);
    }
    last[op.stream] = i;
    file.delimited(node(OpId(i), gpu, {after.begin(), after.end()}));
  }
  return file.text();
}

std::string ChakraExport::node(OpId id, std::uint32_t gpu,
                               const std::vector<std::uint64_t>& after) const {
  const ModelOp& op = graph_.ops[id];
  const Member member = members_[op.place.value][gpu];
  const std::vector<std::uint32_t>& ranks =
      graph_.places[op.place].groups[static_cast<std::size_t>(member.group)];
  const auto* call = std::get_if<CommunicationShape>(&op.shape);
  const bool message = call != nullptr && call->op == CollectiveOp::point_to_point;
  Type type = call == nullptr ? Type::compute : Type::collective;
  if (message) type = member.rank == call->root ? Type::send : Type::receive;
  NodeWriter node(id.value, op.name, type);
  node.after(after);
  if (call == nullptr) add_compute(node, op.shape, wgs_[id.value], gpu_);
  if (call == nullptr && op.stream > 0) node.add(attribute("stream", kInt64, op.stream));
  if (!op.block.is_none()) node.add(attribute("model_block", kInt64, op.block.value));
  node.add(attribute("is_cpu_op", kBool, is_host_time(op) ? 1 : 0));
  if (call == nullptr) return node.text();
  node.add(attribute("comm_size", kInt64, comm_size(*call, member.rank, ranks.size())));
  if (message) {
    node.add(attribute("comm_src", kInt32, ranks[call->root]));
    node.add(attribute("comm_dst", kInt32, ranks[call->target]));
    node.add(attribute("comm_tag", kInt32, id.value));
    if (call->meets) node.add(attribute("send_waits_for_receive", kBool, 1));
    return node.text();
  }
  node.add(attribute("comm_type", kInt64, static_cast<std::int64_t>(comm_type(call->op))));
  if (call->op == CollectiveOp::broadcast) node.add(attribute("root_rank", kInt64, call->root));
  const std::string name = group_name(ranks);
  if (!name.empty()) node.add(attribute("pg_name", name));
  return node.text();
}

std::string ChakraExport::group_name(const std::vector<std::uint32_t>& ranks) const {
  const auto found = names_.find(ranks);
  return found == names_.end() ? "" : std::to_string(found->second);
}

std::string ChakraExport::groups() const {
  if (names_.empty()) return "";
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_name;
  for (const auto& [ranks, name] : names_) by_name[name] = ranks;
  nlohmann::ordered_json json;
  for (const auto& [name, ranks] : by_name) json[std::to_string(name)] = ranks;
  return json.dump() + "\n";
}

std::size_t ChakraExport::uneven() const {
  return count_calls(graph_,
                     [](const CommunicationShape& call) { return !call.pair_bytes.empty(); });
}

std::size_t ChakraExport::by_rows() const {
  return count_calls(graph_,
                     [](const CommunicationShape& call) { return static_cast<bool>(call.puts); });
}

std::size_t ChakraExport::beside_receives() const {
  return static_cast<std::size_t>(
      std::count_if(graph_.ops.begin(), graph_.ops.end(),
                    [](const ModelOp& op) { return static_cast<bool>(op.beside); }));
}

std::size_t ChakraExport::of_host() const {
  return static_cast<std::size_t>(
      std::count_if(graph_.ops.begin(), graph_.ops.end(), is_host_time));
}

}  // namespace weft
