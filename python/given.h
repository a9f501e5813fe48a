// What Python gives, and what it is told is wrong with it.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/file_kind.h"
#include "sim/sweep/plan.h"

namespace weft {

namespace fs = std::filesystem;
namespace py = pybind11;

using Strings = std::vector<std::string>;
using Folders = std::vector<fs::path>;
using Released = py::call_guard<py::gil_scoped_release>;

// file, line, column, path, message, severity, the line's text.
using Problem =
    std::tuple<std::string, int, int, std::string, std::string, std::string, std::string>;

// All of them, and as the command line and the tables of sweeps show them.
struct Problems {
  std::vector<Problem> all;
  std::string text;
  std::string line;  // on one
  bool has_errors = false;
};

Problems told(const Diagnostics& found);

// A file, or a text for which `file` stands in messages.
struct Source {
  fs::path file;
  std::optional<std::string> text;
};

// With what the command line says of a file that is of another kind.
Diagnostics problems_of(const Source& source, const Diagnostics& found, FileKind takes);

Folders config_dirs(const fs::path& file, const Folders& more);

// The plan of a sweep file, and what is wrong with it.
std::optional<SweepPlan> plan_of(const Source& source, const Strings& sets, const Folders& folders,
                                 Problems& problems);

}  // namespace weft
