#include "sim/traces/meetings.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>

#include "sim/collectives/collective.h"

namespace weft {
namespace {

class MeetingFinder {
 public:
  MeetingFinder(const std::vector<RankTrace>& ranks, const TraceGroups& groups,
                TraceProblems& problems)
      : ranks_(ranks), groups_(groups), problems_(problems) {}

  std::vector<Meeting> find() {
    // Calls by group and rank (of all ranks), in program order.
    std::vector<CallsByRank> calls(groups_.ranks.size());
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      for (std::uint32_t i = 0; i < ranks_[r].nodes.size(); ++i) {
        const auto& what = ranks_[r].nodes[i].what;
        if (const auto* call = std::get_if<CollectiveNode>(&what)) {
          if (is_member(r, i, call->group)) calls[call->group][r].push_back(i);
        } else if (const auto* message = std::get_if<MessageNode>(&what)) {
          take_end({r, i}, *message);
        }
      }
    }
    for (std::uint32_t g = 0; g < calls.size(); ++g) meet_group(g, calls[g]);
    meet_messages();
    return std::move(meetings_);
  }

 private:
  using CallsByRank = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  struct Way {  // what its ends have in common
    std::uint32_t group;
    std::uint32_t source;
    std::uint32_t target;
    std::int64_t tag;
    auto operator<=>(const Way&) const = default;
  };
  struct Ends {
    std::vector<NodeAt> sends;
    std::vector<NodeAt> receives;
  };

  [[nodiscard]] const TraceNode& node(NodeAt at) const { return ranks_[at.rank].nodes[at.node]; }

  void wrong(NodeAt at, const char* field, std::string message) {
    problems_.add(ranks_[at.rank].file, node(at).label + ": " + field, std::move(message));
  }

  bool is_member(std::uint32_t r, std::uint32_t i, std::uint32_t g) {
    if (g == 0) return true;  // the group of all ranks
    const std::vector<std::uint32_t>& members = groups_.ranks[g];
    if (std::find(members.begin(), members.end(), r) != members.end()) return true;
    wrong({r, i}, "pg_name", fmt::format("rank {} is not in group '{}'", r, groups_.names[g]));
    return false;
  }

  void take_end(NodeAt at, const MessageNode& message) {
    const bool sends = message.end == MessageNode::End::send;
    const std::uint32_t named = sends ? message.source : message.target;
    const std::uint32_t other = sends ? message.target : message.source;
    const char* own_field = sends ? "comm_src" : "comm_dst";
    const char* other_field = sends ? "comm_dst" : "comm_src";
    if (named != at.rank) {
      return wrong(at, own_field,
                   fmt::format("{}, but this is the trace of rank {}", named, at.rank));
    }
    if (other >= ranks_.size() || other == at.rank) {
      return wrong(at, other_field,
                   fmt::format("{}; must be another rank of 0 to {}", other, ranks_.size() - 1));
    }
    Ends& ends = messages_[{message.group, message.source, message.target, message.tag}];
    (sends ? ends.sends : ends.receives).push_back(at);
  }

  void meet_group(std::uint32_t g, CallsByRank& calls) {
    if (calls.empty()) return;
    const std::vector<std::uint32_t>& members = groups_.ranks[g];
    std::size_t least = SIZE_MAX;
    for (const std::uint32_t r : members) least = std::min(least, calls[r].size());
    for (std::size_t k = 0; k < least; ++k) {
      Meeting meeting;
      meeting.ranks = members;
      for (const std::uint32_t r : members) meeting.members.push_back({r, calls[r][k]});
      agree(meeting);
      meetings_.push_back(std::move(meeting));
    }
    for (const std::uint32_t r : members) {
      if (calls[r].size() == least) continue;
      const auto fewer = std::find_if(members.begin(), members.end(), [&](std::uint32_t other) {
        return calls[other].size() == least;
      });
      wrong({r, calls[r][least]}, "collective",
            fmt::format("number {} of group '{}' on rank {}, but rank {} has only {} of them; both "
                        "must be recorded over the same steps",
                        least + 1, groups_.names[g], r, *fewer, least));
    }
  }

  // Checks that all members say the same; the first one stands for all.
  void agree(Meeting& meeting) {
    const auto call_of = [this](NodeAt at) -> const CollectiveNode& {
      return std::get<CollectiveNode>(node(at).what);
    };
    const NodeAt leader = meeting.members.front();
    const CollectiveNode& first = call_of(leader);
    meeting.shape.op = first.op;
    meeting.shape.root = first.root;
    bool uneven = false;
    for (const NodeAt at : meeting.members) {
      const CollectiveNode& call = call_of(at);
      uneven = uneven || !call.sends.empty();
      meeting.shape.buffer = std::max(meeting.shape.buffer, call.buffer);
      if (call.op != first.op) {
        wrong(at, "comm_type",
              fmt::format("{}, but {} of rank {} is {}", name_of(call.op), node(leader).label,
                          leader.rank, name_of(first.op)));
      } else if (call.root != first.root) {
        wrong(at, "root",
              fmt::format("{}, but {} of rank {} says {}", call.root, node(leader).label,
                          leader.rank, first.root));
      } else if (call.buffer != first.buffer && first.op != CollectiveOp::all_to_all) {
        wrong(at, "comm_size",
              fmt::format("{} B, but {} of rank {} has {} B", call.buffer.count(),
                          node(leader).label, leader.rank, first.buffer.count()));
      }
    }
    if (first.op == CollectiveOp::all_to_all) fill_pairs(meeting, uneven);
  }

  // Blocks of an uneven all-to-all: as the ranks say; otherwise each rank's bytes in even parts.
  void fill_pairs(Meeting& meeting, bool uneven) {
    const auto n = static_cast<std::int64_t>(meeting.members.size());
    for (const NodeAt at : meeting.members) {
      const auto& call = std::get<CollectiveNode>(node(at).what);
      uneven = uneven || call.buffer != meeting.shape.buffer;
    }
    if (!uneven) return;
    for (const NodeAt at : meeting.members) {
      const auto& call = std::get<CollectiveNode>(node(at).what);
      for (std::int64_t to = 0; to < n; ++to) {
        meeting.shape.pair_bytes.push_back(call.sends.empty()
                                               ? call.buffer.count() / n
                                               : call.sends[static_cast<std::size_t>(to)]);
      }
    }
  }

  // In which order its ends are matched.
  [[nodiscard]] std::string order_of(const Way& way) const {
    if (way.group == 0) return fmt::format("(tag {})", way.tag);
    return fmt::format("(group '{}')", groups_.names[way.group]);
  }

  void meet_messages() {
    for (const auto& [way, ends] : messages_) {
      const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
      for (std::size_t k = 0; k < both; ++k) {
        Meeting meeting;
        meeting.ranks = {way.source, way.target};
        meeting.members = {ends.sends[k], ends.receives[k]};
        meeting.shape.op = CollectiveOp::point_to_point;
        const auto& send = std::get<MessageNode>(node(ends.sends[k]).what);
        meeting.shape.buffer = send.size;
        const auto& receive = std::get<MessageNode>(node(ends.receives[k]).what);
        const Bytes expected = receive.size;
        meeting.shape.meets = send.meets || receive.meets;
        if (expected != meeting.shape.buffer) {
          wrong(ends.receives[k], "comm_size",
                fmt::format("{} B, but {} of rank {} sends {} B{}", expected.count(),
                            node(ends.sends[k]).label, way.source, meeting.shape.buffer.count(),
                            way.group == 0 ? "" : " " + order_of(way)));
        }
        meetings_.push_back(std::move(meeting));
      }
      for (std::size_t k = both; k < ends.sends.size(); ++k) {
        wrong(ends.sends[k], "comm_dst",
              fmt::format("rank {} never receives it {}", way.target, order_of(way)));
      }
      for (std::size_t k = both; k < ends.receives.size(); ++k) {
        wrong(ends.receives[k], "comm_src",
              fmt::format("rank {} never sends it {}", way.source, order_of(way)));
      }
    }
  }

  const std::vector<RankTrace>& ranks_;
  const TraceGroups& groups_;
  TraceProblems& problems_;
  std::map<Way, Ends> messages_;
  std::vector<Meeting> meetings_;
};

}  // namespace

std::vector<Meeting> find_meetings(const std::vector<RankTrace>& ranks, const TraceGroups& groups,
                                   TraceProblems& problems) {
  return MeetingFinder(ranks, groups, problems).find();
}

}  // namespace weft
