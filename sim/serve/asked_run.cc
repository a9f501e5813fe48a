#include "sim/serve/asked_run.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <utility>

#include "sim/core/plain_text.h"
#include "sim/files/json_mistake.h"
#include "sim/files/read_text.h"
#include "sim/report/result_files.h"
#include "sim/scenario/listed.h"
#include "sim/scenario/wrong_file.h"
#include "sim/serve/confined.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

struct DetailName {
  const char* name;
  std::optional<Detail> detail;
};
constexpr auto kDetails = std::to_array<DetailName>({{"none", std::nullopt},
                                                     {"kernels", Detail::kernels},
                                                     {"waves", Detail::waves},
                                                     {"all", Detail::all}});

std::optional<fs::path> shipped_file(const ServedFolder& served, const std::string& name) {
  for (const Listed& part : listed("scenarios", served.config_dirs(served.folder))) {
    for (const ListLine& line : part.lines) {
      if (line.word == name) return part.folder / (name + ".yaml");
    }
  }
  return std::nullopt;
}

Diagnostic problem_of(const fs::path& file, std::string message) {
  Diagnostic problem;
  problem.at.file = file.string();
  problem.message = std::move(message);
  return problem;
}

// A result's scenario has no base, and what it names is named from the working folder.
Loaded load_resolved(const ScenarioSource& source, const LoadOptions& options) {
  const ReadText read = read_text(source.file, kMaxSourceBytes + 1);
  if (read.text) return load_scenario_text(*read.text, kResolvedScenario, options);
  Loaded loaded;
  loaded.problems.add(problem_of(source.file, read.problem));
  return loaded;
}

std::string text_at(const ServedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Empty: nothing is wrong.
std::string read_sets(const ServedJson& json, std::vector<std::string>& sets) {
  const auto found = json.find("set");
  if (found == json.end()) return "";
  if (!found->is_array()) return "set: must be a list of key=value";
  for (const ServedJson& one : *found) {
    if (!one.is_string()) return "set: must be a list of key=value";
    sets.push_back(one.get<std::string>());
  }
  return "";
}

std::string read_timeline(const ServedJson& json, std::optional<Detail>& timeline) {
  const auto found = json.find("timeline");
  if (found == json.end()) return "";
  for (const DetailName& one : kDetails) {
    if (*found == one.name) {
      timeline = one.detail;
      return "";
    }
  }
  return "timeline: must be none, kernels, waves or all";
}

std::string wrong_as_folder(const fs::path& folder, const std::string& name) {
  if (name.empty()) return "";
  if (const std::string wrong = wrong_as_name(name); !wrong.empty()) return "name: " + wrong;
  if (name.find('/') != std::string::npos || name.starts_with('.')) {
    return "name: must be the name of a folder, without / and not beginning with a dot";
  }
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(folder / name, ignored))) {
    return fmt::format("name: {} is there already; choose another one", name);
  }
  return "";
}

std::string without_number(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  const bool numbered =
      digits != std::string::npos && digits > 0 && digits + 1 < name.size() && name[digits] == '-';
  return numbered ? name.substr(0, digits) : name;
}

}  // namespace

std::optional<ScenarioSource> source_of(const ServedFolder& served, const std::string& from,
                                        const std::string& name) {
  using From = ScenarioSource::From;
  if (from == "shipped") {
    const auto file = shipped_file(served, name);
    if (!file) return std::nullopt;
    return ScenarioSource{.from = From::shipped, .name = name, .file = *file};
  }
  if (from == "result") {
    const auto file = path_within(served.folder, name + "/" + kResolvedScenario);
    if (!file) return std::nullopt;
    return ScenarioSource{.from = From::result, .name = name, .file = *file};
  }
  if (from != "file" || !name.ends_with(".yaml")) return std::nullopt;
  const auto file = path_within(served.folder, name);
  if (!file) return std::nullopt;
  return ScenarioSource{.from = From::file, .name = name, .file = *file};
}

std::vector<fs::path> readable(const ServedFolder& served, const ScenarioSource& source) {
  std::vector<fs::path> folders = served.config_dirs(source.file);
  folders.push_back(served.folder);
  return folders;
}

Loaded load_source(const ServedFolder& served, const ScenarioSource& source,
                   const std::vector<std::string>& sets) {
  const LoadOptions options{.sets = sets, .config_dirs = served.config_dirs(source.file)};
  const bool is_result = source.from == ScenarioSource::From::result;
  Loaded loaded = is_result ? load_resolved(source, options) : load_scenario(source.file, options);
  if (!is_result) {
    loaded.problems = or_its_command(loaded.problems, source.file, FileKind::scenario);
  }
  loaded.problems = confined(loaded.problems, loaded.inputs, readable(served, source));
  if (loaded.problems.has_errors()) loaded.scenario.reset();
  return loaded;
}

ParsedRun parse_run(const ServedFolder& served, const std::string& body) {
  if (const auto mistake = first_json_mistake(body)) {
    return {.asked = std::nullopt, .wrong = text_of(*mistake)};
  }
  const ServedJson json = ServedJson::parse(body);
  if (!json.is_object()) return {.asked = std::nullopt, .wrong = "must be an object"};
  for (const auto& [key, value] : json.items()) {
    if (key == "from" || key == "of" || key == "set" || key == "timeline" || key == "name")
      continue;
    return {.asked = std::nullopt,
            .wrong = fmt::format("{}: unknown; use from, of, set, timeline, name", key)};
  }
  const auto source = source_of(served, text_at(json, "from"), text_at(json, "of"));
  if (!source) return {.asked = std::nullopt, .wrong = "of: there is no such scenario"};
  AskedRun asked{
      .source = *source, .sets = {}, .timeline = std::nullopt, .name = text_at(json, "name")};
  for (const std::string& wrong : {read_sets(json, asked.sets), read_timeline(json, asked.timeline),
                                   wrong_as_folder(served.folder, asked.name)}) {
    if (!wrong.empty()) return {.asked = std::nullopt, .wrong = wrong};
  }
  return {.asked = std::move(asked), .wrong = ""};
}

std::string free_name(const fs::path& folder, const ScenarioSource& source) {
  const fs::path name = source.name;
  const bool is_result = source.from == ScenarioSource::From::result;
  const std::string stem =
      is_result ? without_number(name.filename().string()) : name.stem().string();
  for (int number = 1;; ++number) {
    std::string tried = fmt::format("{}-{}", stem, number);
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(folder / tried, ignored))) return tried;
  }
}

ServedJson to_json(const Diagnostics& problems) {
  ServedJson all = ServedJson::array();
  for (const Diagnostic& one : problems.all()) {
    Diagnostics alone;
    alone.add(one);
    all.push_back({{"file", printable_line(one.at.file)},
                   {"line", one.at.line},
                   {"column", one.at.column},
                   {"path", printable_line(one.path)},
                   {"message", printable(one.message)},
                   {"severity", one.severity == Severity::error ? "error" : "warning"},
                   {"text", printable(alone.to_text())}});
  }
  return all;
}

}  // namespace weft
