#include "sim/tune/suggested.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "sim/scenario/modes.h"
#include "sim/scenario/workload_kinds.h"
#include "sim/tune/layouts.h"
#include "sim/tune/space_text.h"
#include "sim/tune/variations.h"

namespace weft {
namespace {

using Words = std::vector<std::string>;
constexpr const char* kLayersOfParts = "workload.parallel.layers_of_parts";
constexpr const char* kPipeline = "workload.parallel.pipeline";

// The options with more values.
LoadOptions with(LoadOptions options, const Words& sets) {
  options.sets.insert(options.sets.end(), sets.begin(), sets.end());
  return options;
}

std::string set_of(std::optional<Mode> mode) {
  return mode ? fmt::format("modes=[{}]", name_of(*mode)) : "";
}

class Suggesting {
 public:
  Suggesting(const std::filesystem::path& file, const LoadOptions& options,
             std::optional<Mode> mode)
      : file_(file),
        user_sets_(options.sets),
        options_(mode ? with(options, {set_of(mode)}) : options),
        mode_(mode),
        start_(load_scenario(file, options_)) {}

  std::string text(const std::string& named) {
    const Scenario& scenario = *start_.scenario;
    const bool decodes = is_decoder(scenario.workload.kind);
    for (const Variation& one : variations()) {
      if (decodes && is_idle(one.keys.front())) continue;
      add(decodes && one.keys.front().starts_with("workload.") ? one : tried(one));
    }
    std::string text = text_of(SpaceHead{.what = "Knobs that suit",
                                         .scenario = named,
                                         .suffix = mode_ ? fmt::format("_{}", name_of(*mode_)) : "",
                                         .mode = mode_,
                                         .sets = user_sets_});
    for (const Variation& axis : axes_) text += "  - " + line_of(axis);
    const std::string filter = filter_of_model();
    if (!filter.empty()) text += "filter: " + filter + '\n';
    if (!beyond_.empty()) text += "# Too many points with these:\n";
    for (const std::string& line : beyond_) text += commented("  - " + line);
    return text;
  }

 private:
  [[nodiscard]] std::vector<Variation> variations() const {
    const Scenario& scenario = *start_.scenario;
    const WorkloadKind kind = scenario.workload.kind;
    if (!is_model(kind)) return variations_of_operator(scenario, mode_);
    if (!is_decoder(kind)) return variations_of_dlrm(scenario, mode_);
    const bool fixed =
        is_fixed("workload.parallel.schedule") || is_fixed("workload.parallel.virtual_stages");
    return variations_of_decoder(
        scenario, {.keys = {kLayoutKeys.begin(), kLayoutKeys.end()},
                   .values = layouts_of(file_, options_, scenario,
                                        fixed ? ScheduleIs::fixed : ScheduleIs::varied)});
  }

  [[nodiscard]] bool is_fixed(const std::string& key) const {
    return std::any_of(options_.sets.begin(), options_.sets.end(), [&](const std::string& set) {
      const std::string path = set.substr(0, set.find('='));
      return path == key || path.starts_with(key + '.') || key.starts_with(path + '.');
    });
  }

  static std::string commented(std::string lines) {
    lines.insert(0, "#");
    for (std::size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1)) {
      lines.insert(at + 1, "#");
    }
    return lines;
  }

  // The values that load without a new warning, of which no two give the same scenario.
  [[nodiscard]] Variation tried(Variation variation) const {
    std::set<std::string> hashes;
    std::vector<Words> good;
    for (Words& values : variation.values) {
      Words sets;
      for (std::size_t i = 0; i < variation.keys.size(); ++i) {
        sets.push_back(variation.keys[i] + '=' + values[i]);
      }
      const Loaded loaded = load_scenario(file_, with(options_, sets));
      if (!loaded.scenario || loaded.problems.all().size() > start_.problems.all().size()) continue;
      if (hashes.insert(loaded.scenario->hash).second) good.push_back(std::move(values));
    }
    variation.values = std::move(good);
    return variation;
  }

  // Of layouts that all have one GPU where the key shares something among several.
  [[nodiscard]] bool is_idle(const std::string& key) const {
    const ParallelSpec& parallel = start_.scenario->workload.transformer.parallel;
    struct Row {
      const char* key;
      const char* layout;
      std::int64_t gpus;
    };
    const std::array rows = {Row{"sequence", "parallel.tensor", parallel.tensor},
                             Row{"context_exchange", "parallel.context", parallel.context},
                             Row{"schedule", "parallel.pipeline", parallel.pipeline}};
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return key == std::string("workload.parallel.") + row.key && row.gpus == 1 &&
             !varies(row.layout);
    });
  }

  // The text of --set, if it is of just this key.
  [[nodiscard]] std::optional<std::string> text_set(const std::string& key) const {
    std::optional<std::string> text;
    for (const std::string& set : options_.sets) {
      if (set.starts_with(key + '=')) text = set.substr(key.size() + 1);
    }
    return text;
  }

  // Without fixed keys; of keys that change together the values that have these as they are fixed.
  [[nodiscard]] Variation what_is_free(Variation variation) const {
    for (std::size_t key = variation.keys.size(); key-- > 0;) {
      if (!is_fixed(variation.keys[key])) continue;
      const std::optional<std::string> text = text_set(variation.keys[key]);
      std::erase_if(variation.values,
                    [&](const Words& values) { return !text || values[key] != *text; });
      const auto at = static_cast<std::ptrdiff_t>(key);
      variation.keys.erase(variation.keys.begin() + at);
      for (Words& values : variation.values) values.erase(values.begin() + at);
    }
    return variation;
  }

  void add(const Variation& all) {
    const Variation variation = what_is_free(all);
    if (variation.keys.empty() || variation.values.size() < 2) return;
    if (points_ * variation.values.size() > kMostPointsOfSpace) {
      beyond_.push_back(line_of(variation));
      return;
    }
    points_ *= variation.values.size();
    axes_.push_back(variation);
  }

  // Keys that a layout does not have keep their default.
  [[nodiscard]] std::string filter_of_model() const {
    std::string filter;
    const auto and_also = [&filter](const char* more) {
      filter += (filter.empty() ? "" : " and ") + std::string(more);
    };
    const auto vary = [this](const char* layout, const char* beside) {
      return varies(layout) && varies(beside);
    };
    if (vary("parallel.tensor", "parallel.sequence")) {
      and_also("(tensor > 1 or sequence == 'default')");
    }
    if (vary("parallel.context", "parallel.context_exchange")) {
      and_also("(context > 1 or context_exchange == 'default')");
    }
    if (vary("parallel.pipeline", "parallel.schedule")) {
      and_also("(pipeline > 1 or schedule == 'default')");
    }
    if (vary("parallel.layers_of_parts", "parallel.schedule")) {
      // Of as many parts on a stage as the schedule has.
      and_also(
          "(first_layers == 'default' or schedule == 'default' or schedule == 'zb_h1') and "
          "(layers_of_parts == 'default' or layers_of_parts == 'by_times' and (schedule == "
          "'default' or schedule == 'zb_h1') or layers_of_parts == 'by_times_2' and "
          "(virtual_stages == '2' or schedule == 'zb_v') or layers_of_parts == 'by_times_4' and "
          "virtual_stages == '4')");
    }
    return filter;
  }
  // An axis has it, with several values.
  [[nodiscard]] bool varies(const std::string& key) const {
    for (const Variation& axis : axes_) {
      const auto found = std::find(axis.keys.begin(), axis.keys.end(), "workload." + key);
      if (found == axis.keys.end()) continue;
      const auto at = static_cast<std::size_t>(found - axis.keys.begin());
      return std::any_of(axis.values.begin(), axis.values.end(), [&](const Words& values) {
        return values[at] != axis.values.front()[at];
      });
    }
    return false;
  }

  // Whether a filter has to know how many parts each stage has that a value shares layers among.
  [[nodiscard]] bool is_labelled(const std::string& key) const {
    return key == kLayersOfParts && is_decoder(start_.scenario->workload.kind) &&
           start_.scenario->workload.phase == Phase::training &&
           !is_fixed("workload.parallel.schedule") && !is_fixed("workload.parallel.virtual_stages");
  }

  // "by_times" of one part on each stage, "by_times_2" of two.
  [[nodiscard]] std::string label_of(const Variation& variation, const Words& values,
                                     std::size_t key) const {
    if (values[key] == "~") return "default";
    const auto parts = std::count(values[key].begin(), values[key].end(), ',') + 1;
    const auto at = std::find(variation.keys.begin(), variation.keys.end(), kPipeline);
    const std::int64_t stages =
        at == variation.keys.end()
            ? start_.scenario->workload.transformer.parallel.pipeline
            : std::stoll(values[static_cast<std::size_t>(at - variation.keys.begin())]);
    return parts == stages ? "by_times" : fmt::format("by_times_{}", parts / stages);
  }

  [[nodiscard]] std::string key_text(const Variation& variation, std::size_t key) const {
    Words texts;
    Words labels;
    const bool labelled = is_labelled(variation.keys[key]);
    for (const Words& one : variation.values) {
      texts.push_back(one[key]);
      if (labelled) labels.push_back(label_of(variation, one, key));
    }
    return fmt::format("{{key: {}, values: [{}]{}}}", variation.keys[key], fmt::join(texts, ", "),
                       labelled ? fmt::format(", labels: [{}]", fmt::join(labels, ", ")) : "");
  }

  [[nodiscard]] std::string line_of(const Variation& variation) const {
    if (variation.keys.size() == 1) return key_text(variation, 0) + '\n';
    std::string line = "zip:\n";
    for (std::size_t key = 0; key < variation.keys.size(); ++key) {
      line += "      - " + key_text(variation, key) + '\n';
    }
    return line;
  }

  const std::filesystem::path& file_;
  Words user_sets_;
  LoadOptions options_;
  std::optional<Mode> mode_;
  Loaded start_;
  std::size_t points_ = 1;
  std::vector<Variation> axes_;
  Words beyond_;
};

}  // namespace

std::string suggested_space(const std::filesystem::path& scenario, const LoadOptions& options,
                            const std::string& named, std::optional<Mode> mode) {
  return Suggesting(scenario, options, mode).text(named);
}

std::vector<Mode> modes_to_tune(const std::filesystem::path& scenario, const LoadOptions& options) {
  const Loaded as_it_is = load_scenario(scenario, options);
  const WorkloadKind kind = as_it_is.scenario->workload.kind;
  const auto all = modes_of(kind);
  if (std::find(all.begin(), all.end(), Mode::bulk) == all.end()) return {};
  const bool are_set =
      std::any_of(options.sets.begin(), options.sets.end(),
                  [](const std::string& set) { return set.starts_with("modes="); });
  std::vector<Mode> modes = as_it_is.scenario->modes;
  if (are_set) return modes;
  if (is_model(kind)) {
    if (std::find(modes.begin(), modes.end(), Mode::mixed) == modes.end()) {
      modes.push_back(Mode::mixed);
    }
    return modes;
  }
  const Loaded with_all = load_scenario(scenario, with(options, {"modes=[all]"}));
  return with_all.scenario ? with_all.scenario->modes : modes;
}

}  // namespace weft
