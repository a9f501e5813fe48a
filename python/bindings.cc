// The compiled half of the Python module: strings and numbers in, strings and numbers out. What a
// Python programmer sees is made from them in weft/*.py.
//
// Everything here runs without the GIL, so that threads simulate at the same time.
#include <pybind11/functional.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "python/given.h"
#include "python/report.h"
#include "python/tune.h"
#include "sim/core/plain_text.h"
#include "sim/engine/known_runs.h"
#include "sim/files/program_id.h"
#include "sim/measured/errors.h"
#include "sim/measured/predict.h"
#include "sim/report/fields.h"
#include "sim/report/result_files.h"
#include "sim/report/summary.h"
#include "sim/run/exit_code.h"
#include "sim/run/replay_text.h"
#include "sim/run/scenario_run.h"
#include "sim/run/version.h"
#include "sim/scenario/configs_above.h"
#include "sim/scenario/listed.h"
#include "sim/scenario/load.h"
#include "sim/scenario/wrong_file.h"
#include "sim/spec/explain.h"
#include "sim/sweep/sweep_rows.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

// Ctrl-C and other signals; they only arrive in Python's main thread.
void check_signals() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// --- known runs ----------------------------------------------------------------------------------

// Of a folder, for one call; what it cannot do becomes warnings.
class KnownOfCall {
 public:
  explicit KnownOfCall(const std::optional<fs::path>& folder) {
    if (!folder) return;
    const auto warn = [this, folder](const std::string& message) {
      Diagnostic warning;
      warning.at.file = folder->string();
      warning.message = message;
      warning.severity = Severity::warning;
      const std::lock_guard lock(adding_);
      warnings_.add(std::move(warning));
    };
    runs_.emplace(KnownRuns::kInMemory,
                  KnownFolder{.folder = *folder, .program = program_id(), .warning = warn});
  }
  KnownOfCall(const KnownOfCall&) = delete;  // its runs warn it
  KnownOfCall& operator=(const KnownOfCall&) = delete;

  KnownRuns* runs() { return runs_ ? &*runs_ : nullptr; }
  // After all that may warn.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }

 private:
  std::mutex adding_;
  Diagnostics warnings_;
  std::optional<KnownRuns> runs_;
};

// --- run -----------------------------------------------------------------------------------------

enum class Tables { no, yes };

struct Ran {
  Problems problems;
  std::optional<Failure> failure;
  std::vector<std::pair<std::string, std::string>> files;  // by name; none without results
};

void put_files(Ran& ran, const RunReport& report, Tables tables) {
  if (tables == Tables::no) {
    ran.files.emplace_back(file_name(ResultFile::summary), summary_json(report));
    return;
  }
  for (OutputFile& file : result_files(report)) {
    ran.files.emplace_back(std::move(file.name), std::move(file.content));
  }
}

Loaded load(const Source& source, const LoadOptions& options) {
  if (!source.text) return load_scenario(source.file, options);
  return load_scenario_text(*source.text, source.file.generic_string(), options);
}

// All modes, into `ran`.
void simulate(ScenarioRun& scenario, const std::string& command, Tables tables, Ran& ran) {
  if (tables == Tables::yes) scenario.record({});
  const auto outcome = scenario.run(
      command, [](Mode) -> OnProgress { return [](const Progress&) { check_signals(); }; });
  if (const auto* failure = std::get_if<Failure>(&outcome)) ran.failure = *failure;
  if (const auto* report = std::get_if<RunReport>(&outcome)) put_files(ran, *report, tables);
}

struct RunHow {
  Tables tables = Tables::yes;
  int cores = 1;
  std::optional<fs::path> known;  // the folder
};

Ran run(const Source& source, const Strings& sets, const Folders& folders, const RunHow& how) {
  Loaded loaded = load(source, {.sets = sets, .config_dirs = folders});
  KnownOfCall known(how.known);
  if (loaded.scenario) {
    loaded.scenario->run.cores = how.cores;
    loaded.scenario->run.known = known.runs();
  }
  Diagnostics problems = problems_of(source, loaded.problems, FileKind::scenario);
  Ran ran;
  std::optional<ScenarioRun> scenario;
  if (loaded.scenario) {
    scenario.emplace(loaded);
    problems.append(scenario->problems());
    if (scenario->ready()) problems.append(scenario->check(source.file.string()));
  }
  if (!problems.has_errors()) simulate(*scenario, replay_text(source.file, sets), how.tables, ran);
  problems.append(known.warnings());
  ran.problems = told(problems);
  return ran;
}

// --- sweep ---------------------------------------------------------------------------------------

// A sweep whose points others run: what each of them is, and the table that their outcomes make.
class SweepOfPoints {
 public:
  SweepOfPoints(const Source& source, const Strings& sets, const Folders& folders) {
    std::optional<SweepPlan> plan = plan_of(source, sets, folders, problems_);
    if (!plan) return;
    plan_ = *std::move(plan);
    rows_ = sweep_rows(plan_, {}, {.jobs = 1});
    tasks_ = tasks_of(rows_);
  }
  SweepOfPoints(const SweepOfPoints&) = delete;  // rows point to the plan
  SweepOfPoints& operator=(const SweepOfPoints&) = delete;

  [[nodiscard]] const Problems& problems() const { return problems_; }
  [[nodiscard]] const fs::path& scenario() const { return plan_.scenario; }
  [[nodiscard]] const Folders& folders() const { return plan_.config_dirs; }

  // The --set arguments of each scenario that is to be run; equal ones are run once.
  [[nodiscard]] std::vector<Strings> points() const {
    std::vector<Strings> sets;
    sets.reserve(tasks_.size());
    for (const SweepTask& task : tasks_) {
      sets.push_back(sets_of(plan_, *rows_[task.rows.front()].point));
    }
    return sets;
  }

  void finish(std::size_t point, std::string summary, std::string error) {
    const bool ok = error.empty();
    const PointOutcome outcome{.ok = ok,
                               .error = std::move(error),
                               .exit_code = ok ? exit_code::ok : exit_code::user,
                               .summary = std::move(summary)};
    for (const std::size_t row : tasks_.at(point).rows) rows_[row].row.outcome = outcome;
  }

  // sweep.json.
  [[nodiscard]] std::string info() const { return to_json(info_of(plan_, {})); }
  // results.csv.
  [[nodiscard]] std::string table() const {
    std::vector<Row> rows;
    rows.reserve(rows_.size());
    for (const SweepRow& row : rows_) rows.push_back(row.row);
    return results_csv(rows, columns_of(plan_));
  }

 private:
  Problems problems_;
  SweepPlan plan_;
  std::vector<SweepRow> rows_;
  std::vector<SweepTask> tasks_;
};

// --- validate ------------------------------------------------------------------------------------

struct Validated {
  Problems problems;
  std::string json;  // what `weft validate --json` writes
  Predictions predictions;
  Strings notes;
};

Validated validate(const fs::path& file, const PredictOptions& asked,
                   const std::optional<fs::path>& known_in) {
  Validated validated;
  MeasuredFile measured = read_measured(file);
  validated.problems = told(problems_of({file, {}}, measured.problems, FileKind::unknown));
  if (validated.problems.has_errors) return validated;
  KnownOfCall known(known_in);
  PredictOptions options = asked;
  options.known = known.runs();
  options.on_progress = [](std::size_t, std::size_t) { check_signals(); };
  validated.predictions = predict(measured.lines, options);
  validated.predictions.problems.append(known.warnings());
  validated.problems = told(validated.predictions.problems);
  if (validated.problems.has_errors) return validated;
  validated.notes = other_machine(measured, validated.predictions);
  if (validated.predictions.outcomes.empty()) {
    Diagnostic problem;
    problem.at.file = file.string();
    problem.message = why_no_outcomes(validated.predictions, options);
    Diagnostics nothing;
    nothing.add(std::move(problem));
    validated.problems = told(nothing);
    return validated;
  }
  validated.json = error_json(report_errors(validated.predictions.outcomes), options.sets);
  return validated;
}

// What a process simulates of what `validate` asks others for: all_done_us, computed_us, clock_us,
// trouble, mistake.
using CaseOfOthers = std::tuple<double, double, double, std::string, std::string>;

std::vector<CaseOfOthers> simulate_cases(const fs::path& file, const PredictOptions& asked,
                                         const std::vector<std::size_t>& which,
                                         const std::optional<fs::path>& known_in) {
  const MeasuredFile measured = read_measured(file);
  KnownOfCall known(known_in);
  PredictOptions options = asked;
  options.known = known.runs();
  std::vector<CaseOfOthers> cases;
  for (SimulatedCase& one : simulate_some(measured.lines, options, which)) {
    cases.emplace_back(one.all_done_us, one.computed_us, one.clock_us, std::move(one.trouble),
                       std::move(one.mistake));
  }
  return cases;
}

// Has so many cases simulated by others.
using Elsewhere = std::optional<std::function<std::vector<CaseOfOthers>(std::size_t)>>;

std::vector<SimulatedCase> of_others(std::vector<CaseOfOthers> cases) {
  std::vector<SimulatedCase> all;
  for (CaseOfOthers& one : cases) {
    all.push_back({.all_done_us = std::get<0>(one),
                   .computed_us = std::get<1>(one),
                   .clock_us = std::get<2>(one),
                   .trouble = std::move(std::get<3>(one)),
                   .mistake = std::move(std::get<4>(one))});
  }
  return all;
}

// --- explain and list ----------------------------------------------------------------------------

// The text; or empty, and why there is none.
std::pair<std::string, std::string> explain(const std::string& path) {
  const std::vector<KeyDoc> keys = describe_scenario();
  const std::vector<KeyDoc> found = keys_at(keys, path);
  if (found.empty()) return {"", no_such_key(keys, path)};
  return {explain_text(found), ""};
}

// folder, name, title, figures.
using ListedRow = std::tuple<std::string, std::string, std::string, std::string>;

std::vector<ListedRow> rows_listed(const std::string& what, const Folders& folders) {
  std::vector<ListedRow> rows;
  for (const Listed& part : listed(what, folders)) {
    for (const ListLine& line : part.lines) {
      rows.emplace_back(part.folder.string(), line.word, printable(line.title),
                        printable(line.figures));
    }
  }
  return rows;
}

std::vector<std::pair<std::string, std::string>> things() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const ListLine& thing : listed_things()) all.emplace_back(thing.word, thing.title);
  return all;
}

// --- the module ----------------------------------------------------------------------------------

void add_types(py::module_& module) {
  py::class_<Problems>(module, "Problems")
      .def_readonly("all", &Problems::all)
      .def_readonly("text", &Problems::text)
      .def_readonly("line", &Problems::line)
      .def_readonly("has_errors", &Problems::has_errors);
  py::class_<Source>(module, "Source")
      .def(py::init<fs::path, std::optional<std::string>>(), py::arg("file"),
           py::arg("text") = py::none());
  py::class_<Failure>(module, "Failure")
      .def_readonly("exit_code", &Failure::exit_code)
      .def_readonly("why", &Failure::why);
  py::class_<Ran>(module, "Ran")
      .def_readonly("problems", &Ran::problems)
      .def_readonly("failure", &Ran::failure)
      .def_readonly("files", &Ran::files);
  py::class_<Validated>(module, "Validated")
      .def_readonly("problems", &Validated::problems)
      .def_readonly("json", &Validated::json)
      .def_readonly("notes", &Validated::notes)
      .def_property_readonly(
          "skipped", [](const Validated& validated) { return validated.predictions.skipped; })
      .def_property_readonly("without_kernel", [](const Validated& validated) {
        return validated.predictions.without_kernel;
      });
}

void add_functions(py::module_& module) {
  module.def("config_dirs", &config_dirs, py::arg("file"), py::arg("more"), Released());
  module.def("find_base", &find_base, py::arg("name"), py::arg("folders"), Released());
  module.def("missing_base", &missing_base, py::arg("name"), py::arg("folders"), Released());
  module.def("explain", &explain, py::arg("path"), Released());
  module.def("listed", &rows_listed, py::arg("what"), py::arg("folders"), Released());
  module.def("things", &things, Released());
  module.def(
      "run",
      [](const Source& source, const Strings& sets, const Folders& folders, bool tables, int cores,
         const std::optional<fs::path>& known) {
        return run(source, sets, folders,
                   {.tables = tables ? Tables::yes : Tables::no, .cores = cores, .known = known});
      },
      py::arg("source"), py::arg("sets"), py::arg("folders"), py::arg("tables"), py::arg("cores"),
      py::arg("known"), Released());
  module.def(
      "validate",
      [](const fs::path& measured, const fs::path& cluster, const fs::path& kernels,
         const Strings& sets, const Folders& folders, int jobs,
         const std::optional<fs::path>& known, const Elsewhere& elsewhere) {
        PredictOptions options{.cluster = cluster,
                               .config_dirs = folders,
                               .kernels = kernels,
                               .sets = sets,
                               .jobs = jobs,
                               .on_progress = {}};
        if (elsewhere) {
          options.elsewhere = [&](std::size_t all) { return of_others((*elsewhere)(all)); };
        }
        return validate(measured, options, known);
      },
      py::arg("measured"), py::arg("cluster"), py::arg("kernels"), py::arg("sets"),
      py::arg("folders"), py::arg("jobs"), py::arg("known"), py::arg("elsewhere"), Released());
  module.def(
      "simulate_cases",
      [](const fs::path& measured, const fs::path& cluster, const fs::path& kernels,
         const Strings& sets, const Folders& folders, const std::optional<fs::path>& known,
         const std::vector<std::size_t>& which) {
        return simulate_cases(measured,
                              {.cluster = cluster,
                               .config_dirs = folders,
                               .kernels = kernels,
                               .sets = sets,
                               .on_progress = {}},
                              which, known);
      },
      py::arg("measured"), py::arg("cluster"), py::arg("kernels"), py::arg("sets"),
      py::arg("folders"), py::arg("known"), py::arg("which"), Released());
}

void add_sweep(py::module_& module) {
  py::class_<SweepOfPoints>(module, "Sweep")
      .def(py::init<const Source&, const Strings&, const Folders&>(), py::arg("source"),
           py::arg("sets"), py::arg("folders"), Released())
      .def_property_readonly("problems", &SweepOfPoints::problems)
      .def_property_readonly("scenario", &SweepOfPoints::scenario)
      .def_property_readonly("folders", &SweepOfPoints::folders)
      .def("points", &SweepOfPoints::points, Released())
      .def("finish", &SweepOfPoints::finish, py::arg("point"), py::arg("summary"), py::arg("error"),
           Released())
      .def("info", &SweepOfPoints::info, Released())
      .def("table", &SweepOfPoints::table, Released());
}

}  // namespace
}  // namespace weft

PYBIND11_MODULE(_weft, module) {
  module.doc() = "The compiled half of weft.";
  module.attr("version") = weft::kVersion;
  module.attr("source_configs") = WEFT_SOURCE_CONFIGS;
  weft::add_types(module);
  weft::add_functions(module);
  weft::add_sweep(module);
  weft::add_tune(module);
  weft::add_report(module);
}
