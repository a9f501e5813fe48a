#include "sim/scenario/load.h"

#include <utility>

#include "sim/scenario/read.h"
#include "sim/scenario/validate.h"

namespace weft {
namespace {

// The problems of every stage together, each with the text of its line.
Diagnostics with_lines(const std::vector<const Diagnostics*>& stages, const SourceFiles& files) {
  Diagnostics all;
  for (const Diagnostics* stage : stages) {
    for (Diagnostic problem : stage->all()) {
      problem.source_line = files.line_at(problem.at);
      all.add(std::move(problem));
    }
  }
  return all;
}

struct Source {
  SourceFiles& files;
  const Node* tree;            // null: could not be read or parsed
  std::filesystem::path file;  // where relative bases start from
};

Loaded load(const Source& source, const LoadOptions& options, Diagnostics found) {
  Loaded loaded;
  if (source.tree == nullptr) {
    loaded.problems = with_lines({&found}, source.files);
    loaded.inputs = source.files.inputs();
    return loaded;
  }
  Node root = *source.tree;
  if (root.kind != Node::Kind::map) {
    found.add({.at = root.at,
               .path = "",
               .message = "a scenario must be a map of keys and values, not " +
                          std::string(kind_text(root)),
               .source_line = ""});
  }
  for (const std::string& assignment : options.sets) apply_set(root, assignment, found);
  BaseResolver(source.files, options.config_dirs, found).resolve(root, source.file);
  loaded.inputs = source.files.inputs();

  Reading reading(Reading::Purpose::read);
  if (root.kind == Node::Kind::map) {
    Scenario scenario = read_scenario(MapReader(reading, root));
    validate(scenario, reading);
    if (!found.has_errors() && !reading.problems().has_errors()) {
      scenario.hash = fnv1a_64_hex(to_text(scenario));
      loaded.scenario = std::move(scenario);
    }
  }
  loaded.problems = with_lines({&found, &reading.problems()}, source.files);
  return loaded;
}

}  // namespace

Loaded load_scenario(const std::filesystem::path& file, const LoadOptions& options) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, problems);
  return load({.files = files, .tree = tree, .file = file}, options, std::move(problems));
}

Loaded load_scenario_text(std::string_view text, std::string_view name,
                          const LoadOptions& options) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of_text(text, name, problems);
  return load({.files = files, .tree = tree, .file = std::filesystem::path(name)}, options,
              std::move(problems));
}

std::vector<KeyDoc> describe_scenario() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  read_scenario(MapReader(reading, nothing));
  return reading.docs();
}

}  // namespace weft
