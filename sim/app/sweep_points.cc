#include "sim/app/sweep_points.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <string>

#include "sim/app/colors.h"
#include "sim/core/plural.h"
#include "sim/report/aligned.h"
#include "sim/run/exit_code.h"

namespace weft {

int print_points(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  const std::vector<AxisColumn> axes = columns_of(plan);
  TableRow head;
  head.reserve(axes.size() + 1);
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
