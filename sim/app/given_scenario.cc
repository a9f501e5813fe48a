#include "sim/app/given_scenario.h"

#include <utility>

#include "sim/app/config_dirs.h"
#include "sim/files/read_text.h"
#include "sim/scenario/wrong_file.h"
#include "sim/spec/tree.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDash = "-";
constexpr const char* kStandardInput = "<stdin>";

Loaded not_read(const std::string& why) {
  Diagnostic problem;
  problem.at.file = kStandardInput;
  problem.message = "cannot read the standard input: " + why;
  Loaded loaded;
  loaded.problems.add(std::move(problem));
  return loaded;
}

Loaded load_standard_input(const LoadOptions& options) {
  const ReadText read = read_standard_input(kMaxSourceBytes + 1);  // one more: parse_tree sees it
  if (!read.text) return not_read(read.problem);
  Loaded loaded = load_scenario_text(*read.text, kStandardInput, options);
  loaded.problems = or_its_command(loaded.problems, *read.text, kStandardInput, FileKind::scenario);
  return loaded;
}

Loaded load_file(const fs::path& file, const LoadOptions& options) {
  Loaded loaded = load_scenario(file, options);
  loaded.problems = or_its_command(loaded.problems, file, FileKind::scenario);
  return loaded;
}

}  // namespace

GivenScenario load_given(const fs::path& given, const std::vector<std::string>& sets) {
  const bool is_file = given != kDash;
  const fs::path name = is_file ? given : kStandardInput;
  const LoadOptions options{.sets = sets, .config_dirs = config_dirs(name)};
  return {.name = name.string(),
          .reads = is_file ? std::vector{given} : std::vector<fs::path>{},
          .loaded = is_file ? load_file(given, options) : load_standard_input(options)};
}

}  // namespace weft
