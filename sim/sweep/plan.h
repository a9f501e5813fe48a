// The plan of a sweep: every point that is to be run, in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/load.h"
#include "sim/scenario/sweep_file.h"

namespace weft {

// A point: the index of its value on each axis.
struct Point {
  std::vector<std::uint32_t> values;
};

struct SweepPlan {
  std::string name;
  std::filesystem::path file;            // the sweep's
  std::optional<std::string> text = {};  // the sweep's, where no file has it
  std::filesystem::path scenario;        // the scenario's
  std::vector<std::filesystem::path> config_dirs;
  std::vector<Assignment> sets;  // for all points
  std::vector<SweepAxis> axes;   // every key has its column
  std::vector<Point> points;     // those that the filter keeps; the last axis changes fastest
};

struct PlanOptions {
  std::vector<std::string> sets;  // "cluster.nodes=4", over those of the file
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)> config_dirs;
};

struct LoadedPlan {
  std::optional<SweepPlan> plan;  // present when there is no error
  Diagnostics problems;
};

LoadedPlan load_plan(const std::filesystem::path& file, const PlanOptions& options);

// `name` stands for the file in messages, and its scenario is looked for from its folder.
LoadedPlan load_plan_text(std::string_view text, std::string_view name, const PlanOptions& options);

// The plan of these points of it, in this order. Numbers are from 1, and not above points.size().
SweepPlan only_points(SweepPlan plan, const std::vector<std::size_t>& numbers);

struct AxisColumn {
  std::string key;     // cluster.scale_out.link.bandwidth
  std::string column;  // bandwidth_gbps
  bool operator==(const AxisColumn&) const = default;
};
std::vector<AxisColumn> columns_of(const SweepPlan& plan);

// The columns' values at a point.
std::vector<Cell> cells_of(const SweepPlan& plan, const Point& point);

// As tables and messages show it.
std::string text_of(const Cell& cell);

// The point as --set arguments of `weft run`, outer keys before inner ones.
std::vector<std::string> sets_of(const SweepPlan& plan, const Point& point);

// Loads the scenarios of points; files are read once. One per thread; `plan` must outlive it.
class PointLoader {
 public:
  explicit PointLoader(const SweepPlan& plan);
  Loaded load(const Point& point);

 private:
  const SweepPlan& plan_;
  SourceFiles files_;
  Diagnostics found_;
};

}  // namespace weft
