#include "sim/scenario/load.h"

#include <string>
#include <utility>

#include "sim/scenario/load_tree.h"
#include "sim/scenario/scenario_fields.h"
#include "sim/scenario/validate.h"

namespace weft {
namespace {

Loaded load(SourceFiles& files, const Node* tree, const std::filesystem::path& file,
            const LoadOptions& options, Diagnostics found) {
  if (tree == nullptr) {
    return {.scenario = std::nullopt,
            .problems = with_lines({&found}, files),
            .inputs = files.inputs()};
  }
  Node root = *tree;
  if (root.kind != Node::Kind::map) {
    found.add({.at = root.at,
               .path = "",
               .message = "a scenario must be a map of keys and values, not " +
                          std::string(kind_text(root)),
               .source_line = ""});
  }
  for (const std::string& assignment : options.sets) apply_set(root, assignment, found);
  return load_tree(files, std::move(root), {.file = file, .config_dirs = options.config_dirs},
                   std::move(found));
}

}  // namespace

namespace {

// What is wrong with a base that the scenario's own file does not name is for whoever names it to
// mend: a --set, a sweep's axis.
Diagnostics told_where_named(const Diagnostics& problems, const SourceFiles& files,
                             const std::string& own) {
  Diagnostics told;
  for (Diagnostic problem : problems.all()) {
    const SourcePosition by = files.named_at(problem.at);
    if (by.file != problem.at.file && by.file != own) {
      problem.message += " (in " + problem.at.file;
      if (problem.at.line > 0) {
        problem.message +=
            ':' + std::to_string(problem.at.line) + ':' + std::to_string(problem.at.column);
      }
      problem.message += ')';
      problem.at = by;
    }
    told.add(std::move(problem));
  }
  return told;
}

bool is_of_cluster(const std::string& path) {
  return path == "cluster" || path.starts_with("cluster.");
}

KeyPlaces places_in(const Reading& reading, const SourceFiles& files) {
  KeyPlaces::ByPath places;
  for (const auto& [path, at] : reading.places()) {
    if (is_of_cluster(path)) continue;  // hundreds, and nothing more is asked of them
    places.emplace(path, KeyPlaces::Place{.at = at, .line = files.line_at(at)});
  }
  return KeyPlaces(std::move(places));
}

}  // namespace

const KeyPlaces::Place* KeyPlaces::place_of(std::string_view path) const {
  while (!path.empty()) {
    const auto found = places_.find(path);
    if (found != places_.end()) return &found->second;
    const auto end = path.find_last_of(".[");
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return nullptr;
}

Diagnostics KeyPlaces::placed(const Diagnostics& problems, const std::string& file) const {
  Diagnostics placed;
  for (Diagnostic problem : problems.all()) {
    const bool of_all = problem.at.line == 0 && problem.at.file == file;
    const Place* const place = of_all ? place_of(problem.path) : nullptr;
    if (place != nullptr) {
      problem.at = place->at;
      problem.source_line = place->line;
    }
    placed.add(std::move(problem));
  }
  return placed;
}

Loaded load_tree(SourceFiles& files, Node root, const BasesFrom& from, Diagnostics found) {
  Loaded loaded;
  BaseResolver(files, from.config_dirs, found).resolve(root, from.file);
  loaded.inputs = files.inputs();
  Reading reading(Reading::Purpose::read, from.file.generic_string());
  if (root.kind == Node::Kind::map) {
    Scenario scenario;
    read_fields(MapReader(reading, root), [&](Fields& map) { fields(map, scenario); });
    fit_defaults(scenario, reading);
    validate(scenario, reading);
    if (!found.has_errors() && !reading.problems().has_errors()) {
      warn_of_no_effect(scenario, reading);
      scenario.hash = fnv1a_64_hex(to_text(scenario));
      loaded.scenario = std::move(scenario);
      loaded.places = places_in(reading, files);
    }
  }
  const Diagnostics read = told_where_named(reading.problems(), files, from.file.generic_string());
  loaded.problems = with_lines({&found, &read}, files);
  return loaded;
}

Loaded load_scenario(const std::filesystem::path& file, const LoadOptions& options) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of(file, {.file = file.generic_string()}, problems);
  return load(files, tree, file, options, std::move(problems));
}

Loaded load_scenario_text(std::string_view text, std::string_view name,
                          const LoadOptions& options) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of_text(text, name, problems);
  return load(files, tree, std::filesystem::path(name), options, std::move(problems));
}

std::vector<KeyDoc> describe_scenario() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  Scenario scenario;
  read_fields(MapReader(reading, nothing), [&](Fields& map) { fields(map, scenario); });
  return reading.docs();
}

}  // namespace weft
