// The rows of a sweep before they are run: each point's scenario is loaded once, for its hash.
#pragma once

#include <string>
#include <vector>

#include "sim/app/sweep_command.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/row.h"

namespace weft {

struct SweepRow {
  Row row;
  const Point* point = nullptr;
  bool finished = false;  // from the start where its scenario does not load
  std::string problems;   // why not, as `weft run` would say it
};

// Those of the shard, in order. `plan` has to outlive them.
std::vector<SweepRow> sweep_rows(const Plan& plan, Shard shard, int jobs);

SweepInfo info_of(const Plan& plan, const SweepCommand& command);

// Rows of one scenario, which is run once.
struct SweepTask {
  std::string point;
  std::vector<std::size_t> rows;
};
// Of the rows that are not finished, in their order.
std::vector<SweepTask> tasks_of(const std::vector<SweepRow>& rows);

// "nodes=4 batch=512"
std::string name_of(const Row& row, const std::vector<AxisColumn>& axes);

// The folder for results where none is given.
std::filesystem::path default_folder(const Plan& plan, Shard shard);

// Prints the points; the exit code.
int print_points(const Plan& plan, std::vector<SweepRow> rows);

}  // namespace weft
