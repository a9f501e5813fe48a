// From the operators of a file to a ModelGraph: where they run, what they wait for, what recurs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/core/plural.h"
#include "sim/traces/graph/graph_file.h"
#include "sim/traces/problems.h"

namespace weft {
namespace {

std::string path_of_operator(std::size_t index) { return fmt::format("operators[{}]", index); }

class GraphOfFile {
 public:
  GraphOfFile(const GraphFile& file, int gpus, Reading& reading)
      : file_(file), gpus_(gpus), reading_(reading) {}

  std::optional<ModelGraph> build() {
    check_gpus();
    for (std::size_t i = 0; i < file_.places.size(); ++i) add_named_place(i);
    for (std::size_t i = 0; i < file_.operators.size(); ++i) remember(i);
    for (std::size_t i = 0; i < file_.operators.size(); ++i) add_operator(i);
    if (reading_.problems().has_errors()) return std::nullopt;
    return std::move(graph_);
  }

 private:
  void fail(const std::string& path, std::string message) {
    reading_.error_at_key(path, std::move(message));
  }
  [[nodiscard]] bool is_good(const std::string& path) const {
    const std::string_view one = path;
    return reading_.good_within({&one, 1});
  }

  void check_gpus() {
    if (!is_good("gpus") || file_.gpus == gpus_) return;
    fail("gpus", fmt::format("the graph is for {} {}, but it is to run on {}", file_.gpus,
                             plural(file_.gpus, "GPU", "GPUs"), gpus_));
  }

  // --- places

  void add_named_place(std::size_t index) {
    const GraphPlace& place = file_.places[index];
    const std::string path = fmt::format("places[{}]", index);
    if (!places_.try_emplace(place.name, groups_of(place.groups, path + ".groups")).second) {
      fail(path + ".name", fmt::format("there is a place '{}' before this one", place.name));
    }
    if (is_good(path) && place.groups.empty()) {
      fail(path + ".groups", "required: the GPUs of each group");
    }
  }

  // Without those that do not exist or are there twice.
  Groups groups_of(const Fields::Table& table, const std::string& path) {
    Groups place;
    std::set<std::int64_t> seen;
    for (const std::vector<std::int64_t>& group : table) {
      place.groups.emplace_back();
      for (const std::int64_t gpu : group) {
        if (gpu >= gpus_) {
          fail(path, fmt::format("there is no GPU {}; the last is {}", gpu, gpus_ - 1));
        } else if (!seen.insert(gpu).second) {
          fail(path, fmt::format("GPU {} is listed twice", gpu));
        } else {
          place.groups.back().push_back(static_cast<std::uint32_t>(gpu));
        }
      }
    }
    return place;
  }

  Groups place_of(const GraphOperator& op, const std::string& path) {
    if (op.gpus.empty() == op.place.empty()) {
      fail(path + ".gpus", "an operator has either gpus or a place");
      return {};
    }
    if (op.place.empty()) return groups_of({op.gpus}, path + ".gpus");
    const auto known = places_.find(op.place);
    if (known != places_.end()) return known->second;
    std::vector<std::string> names;
    names.reserve(places_.size());
    for (const auto& [name, groups] : places_) names.push_back(name);
    const std::string guess = nearest(op.place, names);
    fail(path + ".place", fmt::format("there is no place '{}'{}", op.place,
                                      guess.empty() ? "" : "; did you mean '" + guess + "'?"));
    return {};
  }

  // --- what an operator waits for

  void remember(std::size_t index) {
    const GraphOperator& op = file_.operators[index];
    names_[op.name].push_back(index);
    if (op.id < 0) return;
    if (!ids_.try_emplace(std::to_string(op.id), index).second) {
      fail(path_of_operator(index) + ".id", fmt::format("another operator has id {}", op.id));
    }
  }

  // The operator that is meant; nothing after a mistake.
  std::optional<std::size_t> meant_by(const std::string& word, std::size_t by) {
    const std::string path = path_of_operator(by) + ".after";
    if (const auto with_id = ids_.find(word); with_id != ids_.end()) {
      return earlier(with_id->second, word, by);
    }
    const auto named = names_.find(word);
    if (named == names_.end()) {
      const std::string guess = nearest(word, words_to_guess());
      fail(path, fmt::format("there is no operator with the id or name '{}'{}", word,
                             guess.empty() ? "" : "; did you mean '" + guess + "'?"));
      return std::nullopt;
    }
    if (named->second.size() == 1) return earlier(named->second.front(), word, by);
    fail(path, fmt::format("{} operators are called '{}'; give the one that is meant an id, and "
                           "wait for that",
                           named->second.size(), word));
    return std::nullopt;
  }

  std::optional<std::size_t> earlier(std::size_t op, const std::string& word, std::size_t by) {
    if (op < by) return op;
    fail(path_of_operator(by) + ".after",
         fmt::format("'{}' does not stand before this operator; move it there", word));
    return std::nullopt;
  }

  // None where there are many, or have been many mistakes: that would take long.
  [[nodiscard]] std::vector<std::string> words_to_guess() const {
    constexpr std::size_t kMost = 1'000;
    std::vector<std::string> all;
    if (names_.size() > kMost || reading_.problems().all().size() > TraceProblems::kListed) {
      return all;
    }
    for (const auto& [name, operators] : names_) all.push_back(name);
    return all;
  }

  std::vector<OpId> inputs_of(std::size_t index, const Groups& place) {
    std::vector<OpId> after;
    for (const std::string& word : file_.operators[index].after) {
      const std::optional<std::size_t> before = meant_by(word, index);
      if (!before) continue;
      const OpId id(static_cast<std::uint32_t>(*before));
      if (!meets(place, graph_.places[graph_.ops[id].place])) {
        fail(path_of_operator(index) + ".after",
             fmt::format("'{}' runs on none of this operator's GPUs; only collectives make GPUs "
                         "wait for one another",
                         word));
      }
      after.push_back(id);
    }
    return after;
  }

  static bool meets(const Groups& a, const Groups& b) {
    if (a.groups.empty() || b.groups.empty()) return true;  // said elsewhere
    std::set<std::uint32_t> gpus;
    for (const auto& group : a.groups) gpus.insert(group.begin(), group.end());
    return std::any_of(b.groups.begin(), b.groups.end(), [&](const auto& group) {
      return std::any_of(group.begin(), group.end(),
                         [&](std::uint32_t gpu) { return gpus.contains(gpu); });
    });
  }

  // --- blocks

  BlockId block_of(std::size_t index) {
    const std::string& name = file_.operators[index].block;
    const std::string path = path_of_operator(index);
    if (name.empty() != file_.operators.front().block.empty()) {
      fail(path, "either all operators of a graph have a block, or none has one");
    }
    if (name.empty()) return BlockId::none();
    if (!graph_.blocks.empty() && graph_.blocks.back().name == name) {
      return BlockId(static_cast<std::uint32_t>(graph_.blocks.size()) - 1);
    }
    if (!blocks_.insert(name).second) {
      fail(path + ".block", fmt::format("the operators of block '{}' do not stand together", name));
    }
    return graph_.blocks.push_back({.name = name});
  }

  // --- all of it

  void add_operator(std::size_t index) {
    const GraphOperator& given = file_.operators[index];
    const std::string path = path_of_operator(index);
    const Groups place = place_of(given, path);
    ModelOp op;
    op.name = given.name;
    op.place = place_id(place);
    op.stream = static_cast<std::uint32_t>(given.stream);
    op.beside = given.beside;
    op.after = inputs_of(index, place);
    op.block = block_of(index);
    if (const std::optional<OpShape> shape = shape_of(given, path)) {
      op.shape = *shape;
      op.part = given.part.empty() ? usual_part(*shape) : given.part;
      if (is_good(path) && !place.groups.empty()) check_shape(given, place, path, reading_);
    }
    graph_.add(std::move(op));
  }

  PlaceId place_id(const Groups& place) {
    const auto [known, added] = place_ids_.try_emplace(place.groups);
    if (added) known->second = graph_.places.push_back(place);
    return known->second;
  }

  std::optional<OpShape> shape_of(const GraphOperator& op, const std::string& path) {
    std::vector<OpShape> shapes;
    const auto add = [&shapes](const auto& shape) {
      if (shape) shapes.emplace_back(*shape);
    };
    add(op.recorded);
    add(op.gemm);
    add(op.attention);
    add(op.memory);
    add(op.collective);
    if (shapes.size() == 1) return shapes.front();
    if (shapes.empty() && !is_good(path)) return std::nullopt;  // it may be what is misspelt
    fail(path, fmt::format("an operator has one of recorded, gemm, attention, memory, collective; "
                           "this one has {}",
                           shapes.empty() ? "none" : "several"));
    return std::nullopt;
  }

  const GraphFile& file_;
  int gpus_;
  Reading& reading_;
  ModelGraph graph_;
  std::map<std::string, Groups> places_;  // by name
  std::map<std::vector<std::vector<std::uint32_t>>, PlaceId> place_ids_;
  std::map<std::string, std::size_t> ids_;
  std::map<std::string, std::vector<std::size_t>> names_;  // operators, in their order
  std::set<std::string> blocks_;
};

}  // namespace

std::optional<ModelGraph> graph_of(const GraphFile& file, int gpus, Reading& reading) {
  return GraphOfFile(file, gpus, reading).build();
}

std::string usual_part(const OpShape& shape) {
  if (std::holds_alternative<RecordedShape>(shape)) return "recorded";
  if (std::holds_alternative<GemmShape>(shape)) return "gemm";
  if (std::holds_alternative<AttentionShape>(shape)) return "attention";
  if (const auto* call = std::get_if<CommunicationShape>(&shape)) return name_of(call->op);
  return "memory";
}

}  // namespace weft
