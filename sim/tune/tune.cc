#include "sim/tune/tune.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "sim/run/scenario_run.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/slurm_sweep.h"
#include "sim/sweep/sweep.h"
#include "sim/sweep/sweep_rows.h"
#include "sim/tune/several_searches.h"

namespace weft {
namespace {

// Of so many untried points the bounds are looked at in the end, to say how far the best may be
// from the best there is.
constexpr std::size_t kMostBounded = 2000;

class Tuning {
 public:
  Tuning(const SweepPlan& plan, const TuneOptions& options, const SweepMessages& messages,
         const OnTuneCounts& on_counts)
      : plan_(plan),
        options_(options),
        messages_(messages),
        on_counts_(on_counts),
        space_(space_of(plan)),
        sweep_(plan, options.sweep, messages) {}

  Tuned run() {
    run_start();
    tuned_.lacks_column =
        tuned_.start && !all_achieved(options_.objectives, tuned_.start->outcome.summary);
    if (tuned_.lacks_column) {
      tuned_.untried = space_.points();
      return std::move(tuned_);
    }
    SeveralSearches search(space_, options_.objectives.size(),
                           std::min(options_.most_points, space_.points()),
                           point_as_it_is(space_, tuned_.start_values));
    try {
      search_with(search);
    } catch (const Interrupted&) {  // while points were being planned: what is finished counts
    }
    tuned_.was_stopped = interrupted();
    for (const SweepRow& row : sweep_.rows()) {
      if (row.finished) tuned_.rows.push_back(row.row);
    }
    sweep_.finish();
    tuned_.simulated = search.simulated();
    finish_bound(search);
    return std::move(tuned_);
  }

 private:
  // What it is compared with is simulated last: time may be limited.
  void search_with(SeveralSearches& search) {
    for (std::vector<std::size_t> next = search.ask();
         !next.empty() && !interrupted() && !tuned_.gave_up; next = search.ask()) {
      try_points(search, without_hopeless(search, std::move(next)));
    }
    if (!interrupted()) run_defaults();
  }

  void run_start() {
    const SweepPlan plan = without_axes(plan_);
    std::vector<SweepRow> rows = sweep_rows(plan, Shard{}, {.jobs = options_.sweep.jobs});
    tuned_.start_problems = rows.front().problems;
    tuned_.start_values = values_as_it_is(plan_, rows.front().row.point);
    tuned_.start = run_one(plan, std::move(rows), "start");
  }

  void run_defaults() {
    const SweepPlan plan = with_defaults(plan_);
    std::vector<SweepRow> rows = sweep_rows(plan, Shard{}, {.jobs = options_.sweep.jobs});
    if (tuned_.start && rows.front().row.point == tuned_.start->point) return;
    tuned_.defaults = run_one(plan, std::move(rows), "defaults");
  }

  // A plan of one point, in a folder of its own; none: it cannot be run.
  std::optional<Row> run_one(const SweepPlan& plan, std::vector<SweepRow> rows,
                             const char* folder) const {
    SweepOptions options = options_.sweep;
    options.folder /= folder;
    Sweep sweep(plan, options, messages_);
    sweep.resume(std::move(rows));
    sweep.run([](const SweepCounts&) {});
    for (Row& row : sweep.finish()) {
      if (row.outcome.ok) return std::move(row);
    }
    return std::nullopt;
  }

  // Tells the search of those that cannot be the best, or of several objectives are beaten in all
  // of them whatever they take, and returns the others.
  std::vector<std::size_t> without_hopeless(SeveralSearches& search,
                                            std::vector<std::size_t> points) {
    const Objectives& all = options_.objectives;
    if (!std::all_of(all.begin(), all.end(), is_bounded) || !search.best()) return points;
    const std::vector<Bounds> bounds = bounds_of(points);
    std::vector<std::size_t> hopeful;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!bounds[i] || !search.beats(*bounds[i])) {
        hopeful.push_back(points[i]);
      } else {
        search.tell(points[i], std::nullopt);
        ++tuned_.beyond_bound;
      }
    }
    return hopeful;
  }

  // The costs that a point cannot be below, of each objective; none: it cannot be run.
  using Bounds = std::optional<std::vector<double>>;

  [[nodiscard]] std::vector<Bounds> bounds_of(const std::vector<std::size_t>& points) const {
    std::vector<Bounds> bounds(points.size());
    using Range = tbb::blocked_range<std::size_t>;
    tbb::task_arena(options_.sweep.jobs).execute([&] {
      tbb::parallel_for(Range(0, points.size()), [&](const Range& some) {
        PointLoader loader(plan_);
        for (std::size_t i = some.begin(); i < some.end() && !interrupted(); ++i) {
          bounds[i] = bounds_of(loader, plan_.points[points[i]]);
        }
      });
    });
    return bounds;
  }

  // 0 where it is not known. All are 0 where finding them throws: what is too large for this
  // machine says so when it is run.
  [[nodiscard]] Bounds bounds_of(PointLoader& loader, const Point& point) const {
    std::vector<double> costs(options_.objectives.size(), 0);
    try {
      const Loaded loaded = loader.load(point);
      if (!loaded.scenario) return std::nullopt;
      const ScenarioRun run(loaded);
      if (!run.ready()) return std::nullopt;
      const std::vector<std::optional<double>> values = weft::bounds_of(options_.objectives, run);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        if (values[i] && *values[i] > 0) costs[i] = cost_of(options_.objectives[i], *values[i]);
      }
    } catch (const std::exception&) {
    }
    return costs;
  }

  void try_points(SeveralSearches& search, const std::vector<std::size_t>& points) {
    if (points.empty()) return;
    std::vector<SweepRow> rows = sweep_.rows();
    std::vector<SweepRow> fresh = rows_of_points(plan_, points, {.jobs = options_.sweep.jobs});
    rows.insert(rows.end(), std::make_move_iterator(fresh.begin()),
                std::make_move_iterator(fresh.end()));
    std::sort(rows.begin(), rows.end(),
              [](const SweepRow& a, const SweepRow& b) { return a.row.row < b.row.row; });
    sweep_.resume(std::move(rows));
    const std::size_t before = search.simulated();
    const std::size_t known = sweep_.rows().size() - points.size();
    const auto on_done = [&](std::size_t done) {
      on_counts_(
          {.simulated = before + done, .at_most = std::min(options_.most_points, space_.points())});
    };
    if (options_.slurm) {
      run_on_slurm(points, on_done);
    } else {
      sweep_.run([&](const SweepCounts& counts) {
        on_done(counts.done > known ? counts.done - known : 0);
      });
    }
    tell(search, points);
  }

  // A job array of what is not finished of them, in a folder named by it: a search that was stopped
  // asks for the same points again, and finds their tasks in the queue.
  void run_on_slurm(const std::vector<std::size_t>& points,
                    const std::function<void(std::size_t)>& on_done) {
    SlurmOptions slurm = *options_.slurm;
    std::string named;
    for (const std::size_t point : points) {
      if (row_of(point).finished) continue;
      slurm.only.push_back(point + 1);
      named += std::to_string(point) + ' ';
    }
    if (slurm.only.empty()) return;
    const SweepPlan plan = only_points(plan_, slurm.only);
    SweepOptions options = options_.sweep;
    options.folder /= "on_slurm/" + fnv1a_64_hex(named);
    SlurmSweep sweep(plan, options, slurm, messages_);
    sweep.launch();
    if (!sweep.wait([&](const SweepCounts& counts) { on_done(counts.done); })) {
      messages_.warning(
          "the tasks continue; the same command waits for them again, scancel --name=" +
          sweep.name() + " ends them");
      return;
    }
    const std::optional<Merged> merged = sweep.merge();
    if (merged) sweep_.take(merged->rows);
    tuned_.gave_up = !merged || !merged->problems.empty() || sweep.has_unfinished();
    if (!tuned_.gave_up) std::filesystem::remove_all(options.folder);
  }

  [[nodiscard]] const SweepRow& row_of(std::size_t point) const {
    return *std::lower_bound(  // they are sorted
        sweep_.rows().begin(), sweep_.rows().end(), point,
        [](const SweepRow& one, std::size_t number) { return one.row.row < number; });
  }

  void tell(SeveralSearches& search, const std::vector<std::size_t>& points) {
    for (const std::size_t point : points) {
      const SweepRow& row = row_of(point);
      if (!row.finished) continue;  // stopped
      const auto here = all_achieved(options_.objectives, row.row.outcome.summary);
      if (!here) ++tuned_.cannot_run;
      search.tell(point, here ? std::optional(costs_of(options_.objectives, *here)) : std::nullopt);
    }
  }

  void finish_bound(const SeveralSearches& search) {
    std::vector<std::size_t> untried;
    for (std::size_t point = 0; point < space_.points(); ++point) {
      if (!search.told(point)) untried.push_back(point);
    }
    tuned_.untried = untried.size();
    if (!is_bounded(first()) || !search.best() || tuned_.was_stopped || tuned_.gave_up) {
      return;
    }
    if (untried.size() > kMostBounded) return;
    double least = search.best()->cost;
    for (const Bounds& bounds : bounds_of(untried)) {
      if (bounds) least = std::min(least, bounds->front());
    }
    // The value that costs so: costs are values or their inverses.
    if (!interrupted() && least > 0) tuned_.bound = cost_of(first(), least);
  }

  [[nodiscard]] const Objective& first() const { return options_.objectives.front(); }

  const SweepPlan& plan_;
  const TuneOptions& options_;
  const SweepMessages& messages_;
  const OnTuneCounts& on_counts_;
  Space space_;
  Sweep sweep_;
  Tuned tuned_;
};

}  // namespace

Space space_of(const SweepPlan& plan) {
  std::vector<std::uint32_t> sizes;
  sizes.reserve(plan.axes.size());
  for (const SweepAxis& axis : plan.axes) sizes.push_back(static_cast<std::uint32_t>(axis.size()));
  std::vector<Space::Values> points;
  points.reserve(plan.points.size());
  for (const Point& point : plan.points) points.push_back(point.values);
  return {std::move(sizes), std::move(points)};
}

SweepPlan without_axes(SweepPlan plan) {
  plan.axes.clear();
  plan.points.assign(1, Point{});
  return plan;
}

SweepPlan with_defaults(const SweepPlan& plan) {
  SweepPlan with = without_axes(plan);
  for (const SweepAxis& axis : plan.axes) {
    SweepPlan more = with;
    for (const SweepKey& key : axis.keys) {
      more.sets.push_back({.keys = key.keys, .at = key.at, .value = node_at(key.at)});
    }
    if (PointLoader(more).load(Point{}).scenario) with = std::move(more);
  }
  return with;
}

Space::Values values_as_it_is(const SweepPlan& plan, const std::string& hash) {
  Space::Values values;
  for (const SweepAxis& axis : plan.axes) {
    SweepPlan one = without_axes(plan);
    one.axes = {axis};
    PointLoader loader(one);
    std::uint32_t value = 0;
    for (; value < axis.size(); ++value) {
      const Loaded loaded = loader.load({.values = {value}});
      if (loaded.scenario && loaded.scenario->hash == hash) break;
    }
    values.push_back(value);
  }
  return values;
}

std::optional<std::size_t> point_as_it_is(const Space& space, Space::Values as_it_is) {
  for (std::size_t axis = 0; axis < as_it_is.size(); ++axis) {
    if (as_it_is[axis] == space.size_of(axis)) as_it_is[axis] /= 2;
  }
  return space.find(as_it_is);
}

Tuned tune(const SweepPlan& plan, const TuneOptions& options, const SweepMessages& messages,
           const OnTuneCounts& on_counts) {
  return Tuning(plan, options, messages, on_counts).run();
}

}  // namespace weft
