#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

GroupsWork read_groups(MapReader map) {
  GroupsWork groups;
  groups.gpus = map.optional_counts_table("gpus", {0, 65'535},
                                          "the GPUs of each group, in the order of their ranks");
  const bool listed = !groups.gpus.empty();
  groups.size = map.where(!listed, "groups without a list of gpus")
                    .optional_count("size", {2, 65'536}, "GPUs of each group; default: all")
                    .value_or(0);
  groups.stride = map.where(!listed && groups.size > 0, "groups of a size")
                      .count_or("stride", 1, {1, 65'536},
                                "how far apart the GPUs of a group are; 1: neighbours");
  map.finish();
  return groups;
}

}  // namespace

CollectiveWork read_collective_work(MapReader map, std::optional<bool> applies) {
  constexpr Range<std::int64_t> kRank{0, 65'535};
  CollectiveWork work;
  const auto op = map.choice<CollectiveOp>("op", names::table(names::kCollectiveOps),
                                           "what the GPUs do together");
  work.op = op.value_or(CollectiveOp::all_to_all);
  const auto is = [&](bool suits) {
    if (!applies || (*applies && !op)) return std::optional<bool>();
    return std::optional(*applies && suits);
  };
  const bool broadcasts = work.op == CollectiveOp::broadcast;
  const bool one_pair = work.op == CollectiveOp::point_to_point;
  work.matrix = map.where(is(work.op == CollectiveOp::all_to_all), "op: all_to_all")
                    .optional_sizes_table("matrix",
                                          "uneven: a row for each rank, what it sends to"
                                          " each rank");
  work.bytes = map.where(is(work.matrix.empty()), "a collective without a matrix")
                   .size("bytes", "of each GPU: what it sends from, gathers into or reduces",
                         {bytes(1), kAnySize.high});
  work.groups = read_groups(map.map_of_defaults("groups", "several at once; default: one of all"));
  work.root = map.where(is(broadcasts || one_pair), "op: broadcast, point_to_point")
                  .count_or("root", 0, kRank, "rank that sends");
  work.target = map.where(is(one_pair), "op: point_to_point")
                    .count_or("target", 1, kRank, "rank that receives");
  return work;
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
