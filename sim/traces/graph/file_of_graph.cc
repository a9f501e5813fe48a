// From a ModelGraph to the operators of a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/overloaded.h"
#include "sim/core/plain_text.h"
#include "sim/traces/graph/graph_file.h"

namespace weft {
namespace {

constexpr std::size_t kFewGpus = 8;

// A recorded name may be none that a file can have.
std::string name_for_file(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  if (wrong_as_name(name).empty()) return name;
  std::string plain = printable_line(name);
  std::replace(plain.begin(), plain.end(), '\t', ' ');
  plain = "_" + plain.substr(0, kLongest - 1);
  return wrong_as_name(plain).empty() ? plain : "_";
}

class FileOfGraph {
 public:
  FileOfGraph(const ModelGraph& graph, int gpus) : graph_(graph) { file_.gpus = gpus; }

  GraphFile make() {
    for (const ModelOp& op : graph_.ops) {
      ++same_name_[name_for_file(op.name)];
      waited_for_.push_back(false);
      for (const OpId before : op.after) waited_for_[before.value] = true;
    }
    for (const Block& block : graph_.blocks) {
      block_names_.push_back(numbered(name_for_file(block.name), same_block_));
    }
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) add(OpId(i));
    return std::move(file_);
  }

 private:
  // An id only where a name does not do.
  [[nodiscard]] bool has_id(OpId id) const {
    const std::string name = name_for_file(graph_.ops[id].name);
    const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
    return waited_for_[id.value] && (digits || same_name_.at(name) > 1);
  }
  [[nodiscard]] std::string word_for(OpId id) const {
    return has_id(id) ? std::to_string(id.value) : name_for_file(graph_.ops[id].name);
  }

  void add(OpId id) {
    const ModelOp& op = graph_.ops[id];
    GraphOperator& made = file_.operators.emplace_back();
    if (has_id(id)) made.id = id.value;
    made.name = name_for_file(op.name);
    if (op.part != usual_part(op.shape)) made.part = name_for_file(op.part);
    put(graph_.places[op.place], made);
    made.stream = op.stream;
    if (op.beside) made.beside = *op.beside;
    for (const OpId before : op.after) made.after.push_back(word_for(before));
    if (!op.block.is_none()) made.block = block_names_[op.block.value];
    std::visit(Overloaded{[&](const RecordedShape& shape) { made.recorded = shape; },
                          [&](const GemmShape& shape) { made.gemm = shape; },
                          [&](const AttentionShape& shape) { made.attention = shape; },
                          [&](const StreamShape& shape) { made.memory = shape; },
                          [&](const CommunicationShape& shape) { made.collective = shape; },
                          [](const EmbeddingShape&) { SIM_ASSERT(false); }},
               op.shape);
  }

  // One group of few GPUs is written where it is; others have a name.
  void put(const Groups& place, GraphOperator& op) {
    if (place.groups.size() == 1 && place.groups.front().size() <= kFewGpus) {
      op.gpus.assign(place.groups.front().begin(), place.groups.front().end());
      return;
    }
    const auto [known, added] = places_.try_emplace(place.groups);
    if (added) {
      known->second = new_name(place);
      GraphPlace& made = file_.places.emplace_back();
      made.name = known->second;
      for (const auto& group : place.groups) made.groups.emplace_back(group.begin(), group.end());
    }
    op.place = known->second;
  }

  // "16 groups of 8", "16 groups of 8 #2"
  std::string new_name(const Groups& place) {
    const std::size_t groups = place.groups.size();
    return numbered(fmt::format("{} {} of {}", groups, groups == 1 ? "group" : "groups",
                                place.groups.front().size()),
                    same_form_);
  }

  // The first of a name has it, others a number besides.
  static std::string numbered(const std::string& name, std::map<std::string, int>& times) {
    const int number = ++times[name];
    return number == 1 ? name : fmt::format("{} #{}", name, number);
  }

  const ModelGraph& graph_;
  GraphFile file_;
  std::vector<bool> waited_for_;          // by operator
  std::map<std::string, int> same_name_;  // operators of a name
  std::vector<std::string> block_names_;
  std::map<std::string, int> same_block_;
  std::map<std::string, int> same_form_;                                   // places, by name
  std::map<std::vector<std::vector<std::uint32_t>>, std::string> places_;  // their names
};

}  // namespace

std::string obstacle_to_writing(const ModelGraph& graph) {
  for (const ModelOp& op : graph.ops) {
    if (std::holds_alternative<EmbeddingShape>(op.shape)) {
      return fmt::format("'{}' looks up embeddings, which a graph has no keys for", op.name);
    }
    if (op.described) {
      return fmt::format(
          "'{}' is described down to its WGs, which a graph has no keys for; whole models and "
          "traces are written",
          op.name);
    }
  }
  return "";
}

GraphFile file_of(const ModelGraph& graph, int gpus, const RecordedRun& recording) {
  GraphFile file = FileOfGraph(graph, gpus).make();
  const RecordedStep step = recording.step.value_or(RecordedStep{});
  const std::string& gpu = recording.device.name;
  const bool unknown = gpu.empty() && recording.device.cus == 0 && step.time == Duration{};
  if (unknown) return file;
  file.recording = {.gpu = gpu.empty() ? "" : name_for_file(gpu),
                    .cus = recording.device.cus,
                    .step = step.time,
                    .idle = step.idle,
                    .unlaunched = step.unlaunched};
  return file;
}

}  // namespace weft
