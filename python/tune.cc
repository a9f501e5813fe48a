#include "python/tune.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/given.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/load.h"
#include "sim/sweep/sweep_rows.h"
#include "sim/sweep/tables.h"
#include "sim/tune/answer.h"
#include "sim/tune/several_searches.h"
#include "sim/tune/told.h"
#include "sim/tune/tune.h"

namespace weft {
namespace {

// What is printed, tune.json, and the best as a scenario; empty: nothing could be run.
struct TuneAnswer {
  std::string text;
  std::string json;
  std::string best;
};

// Asks for points and is told their outcomes, as `weft tune` does without lower bounds.
class TuneOfPoints {
 public:
  TuneOfPoints(const Source& source, const Strings& sets, const Folders& folders,
               Objectives objectives, std::size_t points)
      : objectives_(std::move(objectives)) {
    std::optional<SweepPlan> plan = plan_of(source, sets, folders, problems_);
    if (!plan) return;
    plan_ = *std::move(plan);
    start_plan_ = without_axes(plan_);
    start_ = sweep_rows(start_plan_, {}, {.jobs = 1}).front().row;
    tuned_.start_values = values_as_it_is(plan_, start_.point);
    defaults_plan_ = with_defaults(plan_);
    defaults_ = sweep_rows(defaults_plan_, {}, {.jobs = 1}).front().row;
    space_.emplace(space_of(plan_));
    search_.emplace(*space_, objectives_.size(), std::min(points, space_->points()),
                    point_as_it_is(*space_, tuned_.start_values));
  }
  TuneOfPoints(const TuneOfPoints&) = delete;  // parts point to one another
  TuneOfPoints& operator=(const TuneOfPoints&) = delete;

  [[nodiscard]] const Problems& problems() const { return problems_; }
  [[nodiscard]] const fs::path& scenario() const { return plan_.scenario; }
  [[nodiscard]] const Folders& folders() const { return plan_.config_dirs; }

  // The --set arguments of the scenario as it is.
  [[nodiscard]] Strings start() const { return sets_of(start_plan_, start_plan_.points.front()); }
  void tell_start(std::string summary, std::string error) {
    start_.outcome = outcome_of(std::move(summary), std::move(error));
    if (start_.outcome.ok) tuned_.start = start_;
  }

  // Those with the defaults of the axes' keys; none: the scenario as it is has no others.
  [[nodiscard]] std::optional<Strings> defaults() const {
    if (tuned_.start && defaults_.point == tuned_.start->point) return std::nullopt;
    return sets_of(defaults_plan_, defaults_plan_.points.front());
  }
  void tell_defaults(std::string summary, std::string error) {
    defaults_.outcome = outcome_of(std::move(summary), std::move(error));
    if (defaults_.outcome.ok) tuned_.defaults = defaults_;
  }

  // Numbers of the next points, and their --set arguments; none: it has ended.
  std::vector<std::pair<std::size_t, Strings>> ask() {
    std::vector<std::pair<std::size_t, Strings>> next;
    for (const std::size_t point : search_->ask()) {
      next.emplace_back(point, sets_of(plan_, plan_.points[point]));
    }
    return next;
  }
  void tell(std::size_t point, std::string summary, std::string error) {
    Row row = rows_of_points(plan_, {point}, {.jobs = 1}).front().row;
    row.outcome = outcome_of(std::move(summary), std::move(error));
    const auto here = all_achieved(objectives_, row.outcome.summary);
    if (!here) ++tuned_.cannot_run;
    search_->tell(point, here ? std::optional(costs_of(objectives_, *here)) : std::nullopt);
    tuned_.rows.push_back(std::move(row));
  }

  TuneAnswer answer(double tie) {
    std::sort(tuned_.rows.begin(), tuned_.rows.end(),
              [](const Row& a, const Row& b) { return a.row < b.row; });
    tuned_.simulated = search_->simulated();
    tuned_.untried = space_->points() - tuned_.rows.size();
    const Answer answer = answer_of(plan_, tuned_, objectives_, tie);
    if (answer.trials.empty()) return {};
    const Told told{.plan = plan_,
                    .tuned = tuned_,
                    .answer = answer,
                    .objectives = objectives_,
                    .tie = tie,
                    .command = ""};
    PointLoader loader(plan_);
    const Point& best = plan_.points[answer.trials.front().row->row];
    return {
        .text = text_of(told), .json = json_of(told), .best = to_text(*loader.load(best).scenario)};
  }

  // sweep.json.
  [[nodiscard]] std::string info() const { return to_json(info_of(plan_, {})); }
  // results.csv.
  [[nodiscard]] std::string table() const { return results_csv(tuned_.rows, columns_of(plan_)); }

 private:
  static PointOutcome outcome_of(std::string summary, std::string error) {
    const bool ok = error.empty();
    return {.ok = ok,
            .error = std::move(error),
            .exit_code = ok ? exit_code::ok : exit_code::user,
            .summary = std::move(summary)};
  }

  Objectives objectives_;
  Problems problems_;
  SweepPlan plan_;
  SweepPlan start_plan_;
  Row start_;
  SweepPlan defaults_plan_;
  Row defaults_;
  Tuned tuned_;
  std::optional<Space> space_;
  std::optional<SeveralSearches> search_;
};

std::unique_ptr<TuneOfPoints> make(const Source& source, const Strings& sets,
                                   const Folders& folders,
                                   const std::vector<std::pair<std::string, bool>>& wanted,
                                   std::size_t points) {
  Objectives objectives;
  objectives.reserve(wanted.size());
  for (const auto& [column, larger_is_better] : wanted) {
    objectives.push_back({.column = column, .larger_is_better = larger_is_better});
  }
  const Strings with = with_ranges(sets, objectives);
  return std::make_unique<TuneOfPoints>(source, with, folders, std::move(objectives), points);
}

}  // namespace

void add_tune(py::module_& module) {
  py::class_<TuneAnswer>(module, "TuneAnswer")
      .def_readonly("text", &TuneAnswer::text)
      .def_readonly("json", &TuneAnswer::json)
      .def_readonly("best", &TuneAnswer::best);
  py::class_<TuneOfPoints>(module, "Tune")
      .def(py::init(&make), py::arg("source"), py::arg("sets"), py::arg("folders"),
           py::arg("objectives"), py::arg("points"), Released())
      .def_property_readonly("problems", &TuneOfPoints::problems)
      .def_property_readonly("scenario", &TuneOfPoints::scenario)
      .def_property_readonly("folders", &TuneOfPoints::folders)
      .def("start", &TuneOfPoints::start, Released())
      .def("tell_start", &TuneOfPoints::tell_start, py::arg("summary"), py::arg("error"),
           Released())
      .def("defaults", &TuneOfPoints::defaults, Released())
      .def("tell_defaults", &TuneOfPoints::tell_defaults, py::arg("summary"), py::arg("error"),
           Released())
      .def("ask", &TuneOfPoints::ask, Released())
      .def("tell", &TuneOfPoints::tell, py::arg("point"), py::arg("summary"), py::arg("error"),
           Released())
      .def("answer", &TuneOfPoints::answer, py::arg("tie"), Released())
      .def("info", &TuneOfPoints::info, Released())
      .def("table", &TuneOfPoints::table, Released());
}

}  // namespace weft
