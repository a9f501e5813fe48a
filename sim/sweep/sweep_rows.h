// The rows of a sweep before they are run: each point's scenario is loaded once, for its hash.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/sweep/plan.h"
#include "sim/sweep/row.h"
#include "sim/sweep/sweep_options.h"

namespace weft {

struct SweepRow {
  Row row;
  const Point* point = nullptr;
  bool finished = false;  // from the start where its scenario does not load
  std::string problems;   // why not, as `weft run` would say it
};

struct Planning {
  int jobs = 0;
  bool lays_out = false;  // also finds what only shows when the work is laid out
  // So many of all points are planned. Called from several threads.
  std::function<void(std::size_t done, std::size_t all)> on_point = {};
};
// Those of the shard, in order. `plan` has to outlive them. Throws Interrupted.
std::vector<SweepRow> sweep_rows(const SweepPlan& plan, Shard shard, const Planning& how);
// The same of these points.
std::vector<SweepRow> rows_of_points(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                     const Planning& how);

SweepInfo info_of(const SweepPlan& plan, const SweepOptions& options);

// Rows of one scenario, which is run once.
struct SweepTask {
  std::string point;
  std::vector<std::size_t> rows;
};
// Of the rows that are not finished, in their order.
std::vector<SweepTask> tasks_of(const std::vector<SweepRow>& rows);

// "nodes=4 batch=512"
std::string name_of(const Row& row, const std::vector<AxisColumn>& axes);

// The same, of the axes on which it differs from another row only.
std::string difference_of(const Row& row, const Row& from, const std::vector<AxisColumn>& axes);

// Rows that failed for one reason: the first of them, and how many there are.
struct FailedRows {
  const Row* first = nullptr;
  std::size_t rows = 0;
};
// By the first row, in their order. `rows` must outlive them.
std::vector<FailedRows> failures_of(const std::vector<Row>& rows);

// The folder for results where none is given.
std::filesystem::path default_folder(const SweepPlan& plan, Shard shard);

}  // namespace weft
