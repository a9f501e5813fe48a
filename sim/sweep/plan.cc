#include "sim/sweep/plan.h"

#include <algorithm>
#include <utility>

#include "sim/report/csv_line.h"
#include "sim/scenario/load_tree.h"
#include "sim/scenario/said_here.h"
#include "sim/sweep/columns.h"
#include "sim/sweep/filter.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 1'000'000;  // before the filter

// Relative where it lies below the current folder: results of one sweep are then alike everywhere.
fs::path as_seen_from_here(const fs::path& file) {
  const fs::path relative = file.lexically_proximate(fs::current_path());
  return !relative.empty() && *relative.begin() != ".." ? relative : file;
}

Diagnostic error_at(const SourcePosition& at, std::string path, std::string message) {
  return {.at = at, .path = std::move(path), .message = std::move(message), .source_line = ""};
}

void add_new(std::vector<fs::path>& folders, const std::vector<fs::path>& more) {
  for (const fs::path& folder : more) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  }
}

// Fills in a SweepPlan from what a file says, and notes what does not go together.
class Planner {
 public:
  Planner(SourceFiles& files, const PlanOptions& options, Diagnostics& problems)
      : files_(files), options_(options), problems_(problems) {}

  SweepPlan plan(SweepFile sweep, const fs::path& file) {
    SweepPlan plan;
    plan.name = sweep.name;
    plan.file = file;
    if (!sweep.scenario.empty()) find_scenario(sweep, plan);
    plan.axes = std::move(sweep.axes);
    check_keys(plan.axes, sweep.sets);
    plan.sets = std::move(sweep.sets);
    add_sets(plan);
    name_columns(plan.axes, problems_);
    const std::optional<Filter> filter = read_filter(sweep, plan.axes);
    const std::size_t number = count_points(plan);
    if (!problems_.has_errors()) make_points(plan, number, filter);
    return plan;
  }

 private:
  void find_scenario(const SweepFile& sweep, SweepPlan& plan) {
    std::string name = sweep.scenario;
    constexpr std::string_view kYaml = ".yaml";
    if (name.ends_with(kYaml)) name.resize(name.size() - kYaml.size());
    std::vector<fs::path> folders{plan.file.parent_path()};
    add_new(folders, options_.config_dirs(plan.file));
    plan.scenario = as_seen_from_here(find_base(name, folders));
    if (plan.scenario.empty()) {
      problems_.add(error_at(sweep.scenario_at, "scenario", missing_base(name, folders)));
      return;
    }
    add_new(folders, options_.config_dirs(plan.scenario));
    plan.config_dirs = std::move(folders);
    const Node* tree = files_.tree_of(plan.scenario, sweep.scenario_at, problems_);
    if (tree != nullptr && tree->kind != Node::Kind::map) {
      problems_.add(error_at(tree->at, "", "a scenario must be a map of keys and values"));
    }
  }

  // One value has one master.
  void check_keys(const std::vector<SweepAxis>& axes, const std::vector<Assignment>& sets) {
    for (const SweepAxis& axis : axes) {
      for (const SweepKey& key : axis.keys) {
        if (std::find(on_axes_.begin(), on_axes_.end(), key.keys) == on_axes_.end()) {
          on_axes_.push_back(key.keys);
          continue;
        }
        problems_.add(error_at(key.at, "axes", "another axis already changes " + dotted(key.keys)));
      }
    }
    for (const Assignment& set : sets) check_set(set);
  }

  void check_set(const Assignment& set) {
    if (std::find(on_axes_.begin(), on_axes_.end(), set.keys) == on_axes_.end()) return;
    problems_.add(
        error_at(set.at, "set", "an axis changes " + dotted(set.keys) + "; remove one of them"));
  }

  void add_sets(SweepPlan& plan) {
    for (const std::string& text : options_.sets) {
      std::optional<Assignment> set = parse_set(text, problems_);
      if (!set) continue;
      check_set(*set);
      plan.sets.push_back(*std::move(set));
    }
  }

  std::optional<Filter> read_filter(const SweepFile& sweep, const std::vector<SweepAxis>& axes) {
    if (sweep.filter.empty()) return std::nullopt;
    std::vector<FilterName> names;
    for (const SweepAxis& axis : axes) {
      for (const SweepKey& key : axis.keys) {
        names.push_back({.name = key.column, .is_number = key.is_number});
      }
    }
    FilterProblem problem;
    std::optional<Filter> filter = Filter::parse(sweep.filter, names, problem);
    if (filter) return filter;
    if (sweep.has_unknown_axis && problem.message.find("no column '") != std::string::npos) {
      problem.message += " (among the axes that could be read)";
    }
    SourcePosition at = sweep.filter_at;
    const std::string line = files_.line_at(at);
    const auto begin = static_cast<std::size_t>(std::max(at.column, 1) - 1);
    const bool is_quoted = begin < line.size() && (line[begin] == '"' || line[begin] == '\'') &&
                           line[begin] != sweep.filter.front();
    const std::size_t letters = problem.at + (is_quoted ? 1 : 0);
    if (begin + letters <= line.size()) at.column += static_cast<int>(letters);
    problems_.add(error_at(at, "filter", problem.message));
    return std::nullopt;
  }

  // Before the filter.
  std::size_t count_points(const SweepPlan& plan) {
    std::size_t number = 1;
    for (const SweepAxis& axis : plan.axes) {
      const std::size_t values = std::clamp<std::size_t>(axis.size(), 1, kMostPoints + 1);
      number = std::min(number * values, kMostPoints + 1);
    }
    if (number > kMostPoints) {
      problems_.add(error_at(plan.axes.front().keys.front().at, "axes",
                             "more than " + std::to_string(kMostPoints) + " points"));
    }
    return number;
  }

  void make_points(SweepPlan& plan, std::size_t number, const std::optional<Filter>& filter) {
    Point point{.values = std::vector<std::uint32_t>(plan.axes.size(), 0)};
    for (std::size_t i = 0; i < number; ++i) {
      if (!filter || filter->keeps(cells_of(plan, point))) plan.points.push_back(point);
      for (std::size_t axis = plan.axes.size(); axis-- > 0;) {
        if (++point.values[axis] < plan.axes[axis].size()) break;
        point.values[axis] = 0;
      }
    }
    if (plan.points.empty()) {
      problems_.add(error_at({.file = plan.file.generic_string()}, "filter",
                             "keeps none of " + std::to_string(number) + " points"));
    }
  }

  SourceFiles& files_;
  const PlanOptions& options_;
  Diagnostics& problems_;
  std::vector<std::vector<std::string>> on_axes_;  // keys
};

// Wide keys first: what is inside them is laid over what they bring.
std::vector<Assignment> assignments_of(const SweepPlan& plan, const Point& point) {
  std::vector<Assignment> all = plan.sets;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    for (const SweepKey& key : plan.axes[i].keys) {
      const Node& value = key.values[point.values[i]];
      all.push_back({.keys = key.keys, .at = value.at, .value = value});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Assignment& a, const Assignment& b) {
    return a.keys.size() < b.keys.size();
  });
  return all;
}

LoadedPlan plan_of(SourceFiles& files, const Node* tree, const fs::path& file,
                   const PlanOptions& options, Diagnostics found) {
  LoadedPlan loaded;
  Reading reading(Reading::Purpose::read);
  if (tree != nullptr && tree->kind != Node::Kind::map) {
    found.add(error_at(tree->at, "", "a sweep must be a map of keys and values"));
  } else if (tree != nullptr) {
    SweepFile sweep;
    read_fields(MapReader(reading, *tree), [&sweep](Fields& map) { fields(map, sweep); });
    found.append(reading.problems());
    SweepPlan plan = Planner(files, options, found).plan(std::move(sweep), file);
    if (!found.has_errors()) loaded.plan = std::move(plan);
  }
  loaded.problems = with_lines({&found}, files);
  return loaded;
}

}  // namespace

LoadedPlan load_plan(const fs::path& file, const PlanOptions& options) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, found);
  return plan_of(files, tree, file, options, std::move(found));
}

LoadedPlan load_plan_text(std::string_view text, std::string_view name,
                          const PlanOptions& options) {
  SourceFiles files;
  Diagnostics found;
  const Node* tree = files.tree_of_text(text, name, found);
  LoadedPlan loaded = plan_of(files, tree, name, options, std::move(found));
  if (loaded.plan) loaded.plan->text = text;
  return loaded;
}

std::vector<AxisColumn> columns_of(const SweepPlan& plan) {
  std::vector<AxisColumn> columns;
  for (const SweepAxis& axis : plan.axes) {
    for (const SweepKey& key : axis.keys) {
      columns.push_back({.key = dotted(key.keys), .column = key.column});
    }
  }
  return columns;
}

std::vector<Cell> cells_of(const SweepPlan& plan, const Point& point) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    for (const SweepKey& key : plan.axes[i].keys) cells.push_back(key.cells[point.values[i]]);
  }
  return cells;
}

std::string text_of(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? std::get<std::string>(cell) : csv_text(*number);
}

SweepPlan only_points(SweepPlan plan, const std::vector<std::size_t>& numbers) {
  std::vector<Point> points;
  points.reserve(numbers.size());
  for (const std::size_t number : numbers) points.push_back(plan.points.at(number - 1));
  plan.points = std::move(points);
  return plan;
}

std::vector<std::string> sets_of(const SweepPlan& plan, const Point& point) {
  const std::vector<Assignment> assignments = assignments_of(plan, point);
  std::vector<std::string> sets;
  sets.reserve(assignments.size());
  for (const Assignment& one : assignments) {
    const Node value = said_here(one);
    sets.push_back(dotted(one.keys) + '=' + flow_text(value));
  }
  return sets;
}

PointLoader::PointLoader(const SweepPlan& plan) : plan_(plan) {
  // For the lines that messages show.
  if (plan.text) {
    files_.tree_of_text(*plan.text, plan.file.generic_string(), found_);
  } else {
    files_.tree_of(plan.file, {}, found_);
  }
}

Loaded PointLoader::load(const Point& point) {
  Diagnostics problems = found_;
  const Node* tree =
      files_.tree_of(plan_.scenario, {.file = plan_.scenario.generic_string()}, problems);
  if (tree == nullptr) {
    return {.scenario = std::nullopt,
            .problems = with_lines({&problems}, files_),
            .inputs = files_.inputs()};
  }
  Node root = *tree;
  for (const Assignment& one : assignments_of(plan_, point)) assign(root, one);
  return load_tree(files_, std::move(root),
                   {.file = plan_.scenario, .config_dirs = plan_.config_dirs}, std::move(problems));
}

}  // namespace weft
