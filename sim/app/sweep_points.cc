#include "sim/app/sweep_points.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "sim/app/colors.h"
#include "sim/core/plural.h"
#include "sim/report/aligned.h"
#include "sim/run/exit_code.h"

namespace weft {

std::optional<SweepPlan> plan_of_points(const SweepPlan& plan,
                                        const std::vector<std::size_t>& only) {
  if (only.empty()) return plan;
  const std::size_t last = *std::max_element(only.begin(), only.end());
  if (last > plan.points.size()) {
    spdlog::error("--only {}: there are {} points", last, plan.points.size());
    return std::nullopt;
  }
  return only_points(plan, only);
}

int print_points(const SweepPlan& plan, const std::vector<SweepRow>& rows,
                 const std::vector<std::size_t>& only) {
  const std::vector<AxisColumn> axes = columns_of(plan);
  TableRow head{"#"};
  head.reserve(axes.size() + 2);
  for (const AxisColumn& axis : axes) head.push_back(axis.column);
  head.emplace_back("point");
  std::vector<TableRow> table{head};
  std::set<std::string> different;
  std::set<std::string> said;
  std::size_t wrong = 0;
  for (const SweepRow& row : rows) {
    different.insert(row.row.point);
    const bool is_wrong = !row.problems.empty();
    TableRow& line = table.emplace_back();
    line.push_back(std::to_string(only.empty() ? row.row.row + 1 : only[row.row.row]));
    for (const Cell& cell : row.row.cells) line.push_back(text_of(cell));
    line.push_back(row.row.point + (is_wrong ? " (cannot be run)" : ""));
    if (!is_wrong) continue;
    ++wrong;
    if (said.insert(row.problems).second) fmt::print(stderr, "{}", row.problems);
  }
  print_text(aligned(table));
  fmt::print("{} {}, {} different {}", rows.size(), plural(rows.size(), "point", "points"),
             different.size(), plural(different.size(), "scenario", "scenarios"));
  if (wrong > 0) fmt::print(", {} {} not run", wrong, plural(wrong, "does", "do"));
  fmt::print("\n");
  return wrong == 0 ? exit_code::ok : exit_code::user;
}

}  // namespace weft
