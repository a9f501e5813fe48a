#include "sim/serve/listing.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/core/plain_text.h"
#include "sim/files/file_set.h"
#include "sim/files/read_text.h"
#include "sim/report/fields.h"
#include "sim/report/mode_fields.h"
#include "sim/report/result_files.h"
#include "sim/scenario/file_kind.h"
#include "sim/scenario/listed.h"
#include "sim/serve/confined.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;
constexpr std::size_t kMostListed = 1000;
constexpr std::size_t kLongestSummary = 16 * 1024 * 1024;

bool has_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

bool is_timeline(const std::string& name) {
  if (!name.ends_with(".json") && !name.ends_with(".json.gz")) return false;
  const std::vector<std::string> own = result_names();
  return name != kFilesOfResult && std::find(own.begin(), own.end(), name) == own.end();
}

std::vector<std::string> timelines_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;
    if (is_timeline(name) && at->is_regular_file(ignored)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto is_named_so = [](const std::string& name) { return name.starts_with("timeline"); };
    return std::pair(!is_named_so(a), a) < std::pair(!is_named_so(b), b);
  });
  return names;
}

std::optional<FoundResult::Kind> kind_of_result(const fs::path& folder) {
  if (has_file(folder, "sweep.json") || has_file(folder, "results.csv")) {
    return FoundResult::Kind::sweep;
  }
  if (has_file(folder, file_name(ResultFile::summary))) return FoundResult::Kind::run;
  return std::nullopt;
}

class Search {
 public:
  explicit Search(const fs::path& root) : root_(root) {}

  void look_in(const fs::path& folder, int depth) {
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (at->path().filename().string().starts_with('.')) continue;
      take(*at, depth);
    }
  }

  Found done() && {
    std::sort(found_.scenarios.begin(), found_.scenarios.end());
    std::sort(found_.results.begin(), found_.results.end(),
              [](const FoundResult& a, const FoundResult& b) { return a.name < b.name; });
    return std::move(found_);
  }

 private:
  void take(const fs::directory_entry& entry, int depth) {
    const std::string name = entry.path().lexically_relative(root_).generic_string();
    if (!path_within(root_, name)) return;
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      if (const auto kind = kind_of_result(entry.path())) {
        const bool run = *kind == FoundResult::Kind::run;
        if (has_room()) {
          found_.results.push_back(
              {.name = name,
               .kind = *kind,
               .timelines = run ? timelines_in(entry.path()) : std::vector<std::string>{}});
        }
      } else if (depth < kDeepest && !entry.is_symlink(ignored)) {
        look_in(entry.path(), depth + 1);
      }
    } else if (entry.path().extension() == ".yaml" && entry.is_regular_file(ignored) &&
               kind_of_file(entry.path()) == FileKind::scenario && has_room()) {
      found_.scenarios.push_back(name);
    }
  }

  bool has_room() {
    const bool room = found_.results.size() + found_.scenarios.size() < kMostListed;
    if (!room) ++found_.left_out;
    return room;
  }

  const fs::path& root_;
  Found found_{};
};

// Title and times from its summary; nothing where that is broken, which its report says.
void add_summary(const fs::path& folder, ServedJson& json) {
  const ReadText read = read_text(folder / file_name(ResultFile::summary), kLongestSummary);
  if (!read.text) return;
  const ServedJson summary = ServedJson::parse(*read.text, nullptr, false);
  if (!summary.is_object()) return;
  const auto title = summary.find("scenario");
  if (title != summary.end() && title->is_string()) json["title"] = *title;
  const auto modes = summary.find("modes");
  if (modes == summary.end() || !modes->is_object()) return;
  ServedJson times = ServedJson::object();
  for (const auto& [mode, values] : modes->items()) {
    if (!values.is_object()) continue;
    const auto time = values.find(kTimeField);
    if (time != values.end() && time->is_number()) times[mode] = *time;
  }
  json["times_us"] = std::move(times);
}

}  // namespace

Found found_in(const fs::path& folder) {
  Search search(folder);
  search.look_in(folder, 1);
  return std::move(search).done();
}

ServedJson listing(const ServedFolder& served) {
  const Found found = found_in(served.folder);
  ServedJson results = ServedJson::array();
  for (const FoundResult& one : found.results) {
    const bool run = one.kind == FoundResult::Kind::run;
    ServedJson json{{"name", one.name},
                    {"kind", run ? "run" : "sweep"},
                    {"again", has_file(served.folder / one.name, kResolvedScenario)},
                    {"timelines", one.timelines}};
    if (run) add_summary(served.folder / one.name, json);
    results.push_back(std::move(json));
  }
  ServedJson shipped = ServedJson::array();
  for (const Listed& part : listed("scenarios", served.config_dirs(served.folder))) {
    for (const ListLine& line : part.lines) {
      shipped.push_back({{"name", line.word}, {"title", printable_line(line.title)}});
    }
  }
  return {{"folder", printable_line(served.folder.string())},
          {"results", std::move(results)},
          {"scenarios", found.scenarios},
          {"shipped", std::move(shipped)},
          {"left_out", found.left_out}};
}

bool holds_a_result(const fs::path& folder) { return kind_of_result(folder).has_value(); }

bool is_run(const fs::path& served, const std::string& name) {
  const fs::path named = name;
  const bool hidden = std::any_of(named.begin(), named.end(), [](const fs::path& part) {
    return part.string().starts_with('.');
  });
  const auto folder = path_within(served, name);
  return !hidden && folder && kind_of_result(*folder) == FoundResult::Kind::run;
}

bool is_servable(const std::string& name) {
  if (name.find('/') != std::string::npos) return false;
  const std::vector<std::string> own = result_names();
  return is_timeline(name) || std::find(own.begin(), own.end(), name) != own.end();
}

}  // namespace weft
