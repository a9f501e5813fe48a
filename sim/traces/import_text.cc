#include "sim/traces/import_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/collectives/collective.h"
#include "sim/core/overloaded.h"
#include "sim/core/plain_text.h"

namespace weft {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* word_of(DataType type) {
  switch (type) {
    case DataType::fp32:
      return "fp32";
    case DataType::fp16:
      return "fp16";
    case DataType::bf16:
      return "bf16";
  }
  return "";
}

OrderedJson json_of(const GemmShape& gemm) {
  OrderedJson json{{"m", gemm.m},
                   {"n", gemm.n},
                   {"k", gemm.k},
                   {"batch", gemm.batch},
                   {"dtype", word_of(gemm.dtype)}};
  if (!gemm.m_by_rank.empty()) json["m_by_rank"] = gemm.m_by_rank;
  return json;
}

OrderedJson json_of(const AttentionShape& attention) {
  return {{"batch", attention.batch},
          {"heads", attention.heads},
          {"kv_heads", attention.kv_heads},
          {"head_dim", attention.head_dim},
          {"value_head_dim", attention.value_head_dim},
          {"queries", attention.queries},
          {"keys", attention.keys},
          {"causal", attention.causal},
          {"backward", attention.backward},
          {"dtype", word_of(attention.dtype)}};
}

OrderedJson json_of(const EmbeddingShape& bag) {
  return {{"batch", bag.work.batch},
          {"tables_per_gpu", bag.work.tables_per_gpu},
          {"rows_per_table", bag.work.rows_per_table},
          {"dim", bag.work.dim},
          {"pooling", bag.work.pooling},
          {"dtype", word_of(bag.work.dtype)},
          {"backward", bag.backward}};
}

OrderedJson json_of(const StreamShape& stream) {
  return {{"read_bytes", stream.read.count()},
          {"written_bytes", stream.written.count()},
          {"flops", stream.flops.count()}};
}

OrderedJson json_of(const RecordedShape& kernel) {
  OrderedJson json{{"us", to_microseconds(kernel.time)},
                   {"wgs", kernel.wgs},
                   {"threads", kernel.threads},
                   {"registers_per_thread", kernel.registers_per_thread},
                   {"lds_bytes", kernel.lds.count()}};
  if (kernel.beside) json["beside_others"] = true;
  if (!kernel.work) return json;
  json["computes"] = name_of(kernel.work->kind);
  json["flops"] = kernel.work->flops.count();
  json["read_bytes"] = kernel.work->read.count();
  json["written_bytes"] = kernel.work->written.count();
  if (const auto& gemm = kernel.work->gemm) {
    json["m"] = gemm->m;
    json["n"] = gemm->n;
    json["k"] = gemm->k;
    json["batch"] = gemm->batch;
    if (gemm->tile_m > 0) json["tile"] = {gemm->tile_m, gemm->tile_n};
    if (gemm->split_k > 1) json["split_k"] = gemm->split_k;
  }
  return json;
}

OrderedJson json_of(const CommunicationShape& call) {
  OrderedJson json{{"buffer_bytes", call.buffer.count()}};
  if (call.op == CollectiveOp::broadcast || call.op == CollectiveOp::point_to_point) {
    json["root"] = call.root;
  }
  if (call.op == CollectiveOp::point_to_point) json["target"] = call.target;
  if (!call.pair_bytes.empty()) json["pair_bytes"] = call.pair_bytes;
  return json;
}

std::string key_of(const OpShape& shape) {
  return std::visit(Overloaded{[](const GemmShape&) { return "gemm"; },
                               [](const AttentionShape&) { return "attention"; },
                               [](const EmbeddingShape&) { return "embedding"; },
                               [](const StreamShape&) { return "memory"; },
                               [](const RecordedShape&) { return "recorded"; },
                               [](const CommunicationShape& call) { return name_of(call.op); }},
                    shape);
}

OrderedJson json_of(const ModelGraph& graph, OpId id) {
  const ModelOp& op = graph.ops[id];
  OrderedJson json{{"id", id.value},
                   {"name", op.name},
                   {"part", op.part},
                   {"place", op.place.value},
                   {"stream", op.stream}};
  OrderedJson after = OrderedJson::array();
  for (const OpId before : op.after) after.push_back(before.value);
  json["after"] = std::move(after);
  if (!op.block.is_none()) json["block"] = op.block.value;
  json[key_of(op.shape)] = std::visit([](const auto& shape) { return json_of(shape); }, op.shape);
  return json;
}

// Names may contain bytes that are not UTF-8; they are shown as replacement characters.
std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// JSON on one line is also YAML.
std::string section(const char* name, const OrderedJson& list) {
  if (list.empty()) return fmt::format("{}: []\n", name);
  std::string text = fmt::format("{}:\n", name);
  for (const OrderedJson& one : list) text += "  - " + json_as_yaml(line_of(one)) + "\n";
  return text;
}

}  // namespace

std::string import_text(const ModelGraph& graph, int gpus, GraphText form) {
  OrderedJson places = OrderedJson::array();
  for (const Groups& place : graph.places) places.push_back(place.groups);
  OrderedJson blocks = OrderedJson::array();
  for (const Block& block : graph.blocks) blocks.push_back(block.name);
  OrderedJson ops = OrderedJson::array();
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) ops.push_back(json_of(graph, OpId(i)));
  if (form == GraphText::yaml) {
    return fmt::format("gpus: {}\n", gpus) + section("places", places) + section("blocks", blocks) +
           section("ops", ops);
  }
  const OrderedJson all{{"gpus", gpus},
                        {"places", std::move(places)},
                        {"blocks", std::move(blocks)},
                        {"ops", std::move(ops)}};
  return all.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace weft
