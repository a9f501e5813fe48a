#include "sim/measured/torch_pairs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

constexpr std::string_view kPrefix = "torch.";

struct TorchOperator {
  std::string_view name;
  CollectiveOp op;
  Travels travels;
};
constexpr std::array kOperators = {
    TorchOperator{"gemm", CollectiveOp::all_to_all, Travels::result},
    TorchOperator{"gemm_rs", CollectiveOp::reduce_scatter, Travels::result},
    TorchOperator{"ag_gemm", CollectiveOp::all_gather, Travels::input},
};

struct Way {
  std::string_view end;  // of the kind
  bool computes = true;
  bool communicates = true;
  Mode mode = Mode::bulk;
};
constexpr std::array kWays = {
    Way{".compute", true, false},
    Way{".comm", false, true},
    Way{".bulk"},
    Way{".pytorch", true, true, Mode::pipelined},
};

const TorchOperator* find_operator(std::string_view name) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](const TorchOperator& row) { return row.name == name; });
  return found == kOperators.end() ? nullptr : found;
}
const Way* find_way(std::string_view kind) {
  const auto* found = std::find_if(kWays.begin(), kWays.end(),
                                   [&](const Way& way) { return kind.ends_with(way.end); });
  return found == kWays.end() ? nullptr : found;
}

// "ag_gemm" of "torch.ag_gemm.bulk".
std::string_view operator_of(std::string_view kind) {
  kind.remove_prefix(kPrefix.size());
  return kind.substr(0, kind.find('.'));
}

}  // namespace

bool name_torch_pair(MeasuredLine& line) {
  const auto by = line.words.find("by");
  if (by == line.words.end()) return false;
  line.kind = std::string(kPrefix) + line.kind + "." + by->second;
  line.words.erase(by);
  line.numbers.erase("runs");  // how often it was timed
  return true;
}

bool is_torch_pair(const std::string& kind) {
  if (!kind.starts_with(kPrefix)) return false;
  return find_operator(operator_of(kind)) != nullptr && find_way(kind) != nullptr;
}

std::string bulk_of_torch_pair(const std::string& kind) {
  if (!is_torch_pair(kind) || !kind.ends_with(".pytorch")) return "";
  return kind.substr(0, kind.rfind('.')) + ".bulk";
}

TorchPair torch_pair(const MeasuredLine& line, Diagnostics& problems) {
  const auto needed = [&](const char* name) { return line.needed(name, problems).value_or(1); };
  const TorchOperator* what = find_operator(operator_of(line.kind));
  const Way* way = find_way(line.kind);
  SIM_ASSERT(what != nullptr && way != nullptr);
  const GemmShape gemm{.m = needed("m"), .n = needed("n"), .k = needed("k")};
  const std::int64_t width = what->travels == Travels::input ? gemm.k : gemm.n;

  TorchPair pair;
  pair.gpus = static_cast<std::uint32_t>(needed("gpus"));
  pair.mode = way->mode;
  std::vector<std::uint32_t> all(pair.gpus);
  std::iota(all.begin(), all.end(), 0U);
  const PlaceId place = pair.graph.add_place({.groups = {all}});
  const auto add = [&](const char* called, OpShape shape) {
    ModelOp op;
    op.name = op.part = called;
    op.shape = std::move(shape);
    op.place = place;
    if (!pair.graph.ops.empty()) op.after = {OpId(0)};
    pair.graph.add(std::move(op));
  };
  const CommunicationShape call{.op = what->op,
                                .buffer = bytes(gemm.m * width * size_of(gemm.dtype).count()),
                                .pair_bytes = {}};
  if (way->communicates && what->travels == Travels::input) add(name_of(what->op), call);
  if (way->computes) add("gemm", gemm);
  if (way->communicates && what->travels == Travels::result) add(name_of(what->op), call);
  return pair;
}

}  // namespace weft
