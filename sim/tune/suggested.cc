#include "sim/tune/suggested.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "sim/plans/algorithms.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/workload_kinds.h"
#include "sim/tune/layouts.h"
#include "sim/tune/space_text.h"

namespace weft {
namespace {

using Words = std::vector<std::string>;

// Keys that change together, and their values.
struct Variation {
  Words keys;
  std::vector<Words> values;  // of all keys
};

Variation variation(std::string key, const Words& values) {
  Variation made{.keys = {std::move(key)}, .values = {}};
  for (const std::string& value : values) made.values.push_back({value});
  return made;
}

Words half_and_twice(std::int64_t number) {
  Words values;
  for (const std::int64_t one : {number / 4, number / 2, number, number * 2, number * 4}) {
    if (one >= 1) values.push_back(std::to_string(one));
  }
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Of a key that may be left out: first without it.
Words with_default(Words values) {
  values.insert(values.begin(), "~");
  return values;
}

// Tiles, each with what a WG of 256 threads needs for it: its accumulators and 64 registers more,
// and two stages of operands, 32 long, in its LDS. As WgShape's defaults are for 128 x 128; of a
// scenario that has numbers of its own nobody knows those of other tiles.
std::vector<Variation> tiles(const GemmWork& gemm) {
  if (!(gemm.wg == GemmWork{}.wg)) return {};
  Variation tiles{.keys = {"workload.gemm.tile_m", "workload.gemm.tile_n",
                           "workload.gemm.wg.registers_per_thread", "workload.gemm.wg.lds"},
                  .values = {}};
  constexpr std::array<std::pair<int, int>, 5> kTiles{
      {{64, 128}, {128, 64}, {128, 128}, {128, 256}, {256, 128}}};
  for (const auto& [m, n] : kTiles) {
    const int accumulators = m * n / gemm.wg.threads;
    const int stages_kib = 2 * (m + n) * 32 * 2 / 1024;
    tiles.values.push_back({std::to_string(m), std::to_string(n), std::to_string(accumulators + 64),
                            fmt::format("{} KiB", stages_kib)});
  }
  return {tiles};
}

void append(std::vector<Variation>& all, std::vector<Variation> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

// Of what computes, in any mode. The most telling first: where there are too many points, the last
// ones are left out.
std::vector<Variation> variations_of_kernel(const Workload& workload) {
  std::vector<Variation> all = tiles(workload.gemm);
  append(all, {variation("workload.gemm.split_k", {"1", "2", "4"}),
               variation("workload.gemm.order", {"row", "column", "swizzled"}),
               variation("workload.gemv.rows_per_wg", half_and_twice(workload.gemv.rows_per_wg)),
               variation("workload.rows_per_wg", half_and_twice(workload.embedding.rows_per_wg))});
  return all;
}

std::vector<Variation> variations_of_fused() {
  return {variation("fused.slice_wgs", {"1", "2", "4", "8", "16"}),
          variation("fused.order", {"remote_first", "local_first", "staggered", "in_turn"}),
          variation("fused.max_wgs_per_cu", {"~", "1", "2", "4"}),
          variation("fused.sent_by", {"wg", "wave"}),
          variation("fused.in_switch", {"false", "true"}),
          variation("fused.flag_per", {"slice", "peer"}),
          variation("fused.put_by", {"wg", "wave"}),
          variation("fused.staging", {"zero_copy", "staged"}),
          variation("fused.work_list", {"dynamic", "static"})};
}

std::vector<Variation> variations_of_collective(const Scenario& scenario) {
  Words algorithms{"library"};
  for (const AlgorithmRow& row : kAlgorithmRows) algorithms.emplace_back(row.name);
  return {variation("collective.algorithm", algorithms),
          variation("collective.protocol", {"auto", "ll", "ll128", "simple"}),
          variation("collective.channels",
                    with_default(half_and_twice(scenario.cluster.gpu.collective.channels)))};
}

// How a GEMM and a collective share the CUs in those modes that divide them.
std::vector<Variation> variations_of_c3(const Scenario& scenario) {
  Words cus;
  for (int n = 4; 2 * n <= scenario.cluster.gpu.cus; n *= 2) cus.push_back(std::to_string(n));
  return {variation("c3.partition_cus", with_default(cus)),
          variation("c3.partition_by", {"masks", "channels"}),
          variation("c3.dma_reserve_cus", {"~", "4", "8", "16", "32"})};
}

std::vector<Variation> variations_of_operator(const Scenario& scenario, std::optional<Mode> mode) {
  std::vector<Variation> all = variations_of_kernel(scenario.workload);
  if (mode && is_fused(*mode)) append(all, variations_of_fused());
  if (scenario.workload.kind == WorkloadKind::c3) append(all, variations_of_c3(scenario));
  if (mode == Mode::role_split) {
    all.push_back(variation("fused.sending_cus", {"4", "8", "16", "32"}));
  }
  if (mode == Mode::kernel) all.push_back(variation("kernel.chunks", {"2", "4", "8", "16"}));
  if (!mode || mode == Mode::bulk || mode == Mode::kernel) {
    append(all, variations_of_collective(scenario));
  }
  return all;
}

// Of a model without layers that are shared out.
std::vector<Variation> variations_of_dlrm(const Scenario& scenario, std::optional<Mode> mode) {
  std::vector<Variation> variations{
      variation("workload.rows_per_wg", half_and_twice(scenario.workload.embedding.rows_per_wg))};
  const bool all = !mode || mode == Mode::mixed;
  if (all || is_fused(*mode)) {
    variations.push_back(variation("fused.slice_wgs", {"1", "2", "4", "8"}));
  }
  if (all || mode == Mode::kernel) {
    variations.push_back(variation("kernel.chunks", {"2", "4", "8"}));
  }
  variations.push_back(
      variation("workload.gradient_bucket", {"1 MiB", "5 MiB", "25 MiB", "100 MiB"}));
  append(variations, variations_of_collective(scenario));
  return variations;
}

// The most telling first. Collectives: of all that are not fused; `auto` takes for each of them the
// algorithm that is the fastest for it by itself, of what channels and protocol leave.
std::vector<Variation> variations_of_decoder(const Scenario& scenario, Variation layouts) {
  std::vector<Variation> variations{std::move(layouts)};
  const TransformerSpec& spec = scenario.workload.transformer;
  variations.push_back(variation("workload.microbatch", half_and_twice(spec.microbatch)));
  if (spec.moe) {
    Words experts;
    for (std::int64_t n = 1; n <= scenario.cluster.gpus(); n *= 2) {
      experts.push_back(std::to_string(n));
    }
    variations.push_back(variation("workload.parallel.expert", experts));
  }
  if (scenario.workload.phase == Phase::training) {
    variations.push_back(
        {.keys = {"workload.parallel.schedule", "workload.parallel.virtual_stages"},
         .values = {{"~", "~"},
                    {"interleaved", "2"},
                    {"interleaved", "4"},
                    {"zb_h1", "~"},
                    {"zb_v", "~"}}});
    variations.push_back(
        {.keys = {"workload.recompute", "workload.recompute_modules"},
         .values = {{"none", "~"}, {"selective", "[layernorm, activation]"}, {"layer", "~"}}});
    variations.push_back(
        {.keys = {"workload.parallel.shard", "workload.parallel.sharded_optimizer"},
         .values = {{"none", "~"}, {"optimizer", "~"}, {"gradients", "~"}, {"parameters", "~"}}});
  }
  variations.push_back(variation("workload.parallel.sequence", {"~", "true"}));
  variations.push_back(
      variation("workload.parallel.context_exchange", {"~", "all_gather", "ulysses"}));
  variations.push_back(variation("collective.algorithm", {"library", "auto"}));
  variations.push_back(
      variation("collective.channels",
                with_default(half_and_twice(scenario.cluster.gpu.collective.channels))));
  variations.push_back(variation("collective.protocol", {"auto", "ll", "ll128", "simple"}));
  return variations;
}

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
      add(decodes && one.keys.front().starts_with("workload.") ? one : tried(one));
    }
    std::string text = text_of(SpaceHead{.what = "Knobs that suit",
                                         .scenario = named,
                                         .suffix = mode_ ? fmt::format("_{}", name_of(*mode_)) : "",
                                         .mode = mode_,
                                         .sets = user_sets_}) +
                       axes_;
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

  void add(const Variation& variation) {
    if (variation.values.size() < 2) return;
    if (std::any_of(variation.keys.begin(), variation.keys.end(),
                    [&](const std::string& key) { return is_fixed(key); })) {
      return;
    }
    const std::string line = line_of(variation);
    if (points_ * variation.values.size() > kMostPointsOfSpace) {
      beyond_.push_back(line);
      return;
    }
    points_ *= variation.values.size();
    axes_ += "  - " + line;
  }

  // Keys that a layout does not have keep their default.
  [[nodiscard]] std::string filter_of_model() const {
    if (!varies("parallel.tensor")) return "";
    std::string filter;
    if (varies("parallel.sequence")) filter = "(tensor > 1 or sequence == 'default')";
    const auto and_also = [&filter](const char* more) {
      filter += (filter.empty() ? "" : " and ") + std::string(more);
    };
    if (varies("parallel.context_exchange")) {
      and_also("(context > 1 or context_exchange == 'default')");
    }
    if (varies("parallel.schedule")) {
      and_also("(pipeline > 1 or schedule == 'default')");
      // Parts, of which other schedules have several on a stage.
      and_also(
          "(first_layers == 'default' and layers_of_parts == 'default' or schedule == "
          "'default' or schedule == 'zb_h1')");
    }
    return filter;
  }
  [[nodiscard]] bool varies(const std::string& key) const {
    return axes_.find("workload." + key + ',') != std::string::npos;
  }

  static std::string key_text(const Variation& variation, std::size_t key) {
    Words values;
    for (const Words& one : variation.values) values.push_back(one[key]);
    return fmt::format("{{key: {}, values: [{}]}}", variation.keys[key], fmt::join(values, ", "));
  }

  static std::string line_of(const Variation& variation) {
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
  std::string axes_;
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
