// The keys of a collective alone.
#include <optional>

#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {

static void fields(Fields& map, GroupsWork& groups) {
  map.counts_table("gpus", groups.gpus, {0, 65'535}, "the GPUs of each group, in rank order");
  const bool listed = !groups.gpus.empty();
  map.only_if(!listed, "groups without a list of gpus")
      .add("size", groups.size,
           {.help = "GPUs per group; default: all",
            .range = {{2, 65'536}},
            .fallback = 0,
            .means = "optional"});
  map.only_if(!listed && groups.size > 0, "groups of a size")
      .add("stride", groups.stride,
           {.help = "distance between the GPUs of a group; 1: neighbours",
            .range = {{1, 65'536}},
            .fallback = 1});
}

namespace {

// One group of all is not written.
void groups_field(Fields& map, GroupsWork& groups) {
  std::optional<GroupsWork> given;
  if (map.writes() && (!groups.gpus.empty() || groups.size > 0)) given = groups;
  map.optional_map("groups", given,
                   "several groups run concurrently; default: one group of all GPUs");
  if (given) groups = *given;
}

}  // namespace

void collective_fields(Fields map, CollectiveWork& work) {
  constexpr Range<int> kRank{0, 65'535};
  map.choice("op", work.op, names::kCollectiveOps, {.help = "what the GPUs do together"});
  map.where("op", {"all_to_all"})
      .sizes_table("matrix", work.matrix,
                   "uneven all-to-all: one row per rank, with what it sends to each rank");
  const bool op_is_known = map.says("op", {}).has_value();
  map.only_if(op_is_known ? std::optional(work.matrix.empty()) : std::nullopt,
              "a collective without a matrix")
      .add("bytes", work.bytes,
           {.help = "buffer of each GPU: what it sends from, gathers into or reduces",
            .range = {{bytes(1), kAnySize.high}}});
  groups_field(map, work.groups);
  map.where("op", {"broadcast", "point_to_point"})
      .add("root", work.root, {.help = "rank that sends", .range = kRank, .fallback = 0});
  map.where("op", {"point_to_point"})
      .add("target", work.target, {.help = "rank that receives", .range = kRank, .fallback = 1});
}

std::vector<std::vector<std::uint32_t>> groups_of(const GroupsWork& groups, int gpus) {
  std::vector<std::vector<std::uint32_t>> all;
  for (const std::vector<std::int64_t>& ranks : groups.gpus) {
    all.emplace_back();
    for (const std::int64_t gpu : ranks) all.back().push_back(static_cast<std::uint32_t>(gpu));
  }
  if (!all.empty()) return all;
  const int size = groups.size > 0 ? groups.size : gpus;
  for (int first = 0; first < gpus; ++first) {
    if (first / groups.stride % size != 0) continue;
    all.emplace_back();
    for (int rank = 0; rank < size; ++rank) {
      all.back().push_back(static_cast<std::uint32_t>(first + rank * groups.stride));
    }
  }
  return all;
}

}  // namespace weft
