#include "sim/tune/layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "sim/models/build_model.h"
#include "sim/models/lower_bound.h"
#include "sim/scenario/decoder_size.h"

namespace weft {

namespace {

constexpr std::int64_t kLeastTokens = 2048;  // of a sequence, on each GPU that shares it
constexpr std::int64_t kMostSplit = 1000;    // layers that are split by their times

struct Layout {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
};

// On a stage, of the schedules that are varied (variations.cc).
constexpr std::array kFurtherParts = {2, 4};

// Layers of a pipeline's first and last part; -1: as the others.
struct EndLayers {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

using LayersOfParts = std::vector<std::int64_t>;

// Of those that have the embedding and the head besides, where parts between have one more each
// than on average; nothing where there are too few.
std::optional<EndLayers> fewer_at_the_ends(std::int64_t layers, std::int64_t parts) {
  if (parts == 1) return std::nullopt;
  const std::int64_t left = layers - (parts - 2) * (layers / parts + 1);
  const std::int64_t last = parts == 2 ? left / 2 - 1 : left / 2;
  if (last < 1 || 2 * last * parts < layers) return std::nullopt;
  return EndLayers{.first = left - last, .last = last};
}

class Layouts {
 public:
  Layouts(const std::filesystem::path& file, const LoadOptions& options, const Scenario& start,
          ScheduleIs schedule)
      : file_(file), options_(options), start_(start) {
    const ParallelSpec& parallel = start.workload.transformer.parallel;
    const bool fixed = schedule == ScheduleIs::fixed;
    if (fixed) parts_of_stage_ = parallel.virtual_stages;
    if (!fixed && start.workload.phase == Phase::training) {
      further_parts_.assign(kFurtherParts.begin(), kFurtherParts.end());
    }
    // A schedule that is asked for is that of a pipeline; the default suits one stage, too.
    if (fixed && parallel.schedule != ParallelSpec{}.schedule) least_stages_ = 2;
  }

  std::vector<std::vector<std::string>> all() {
    const std::int64_t gpus = start_.cluster.gpus();
    for (std::int64_t tensor = 1; tensor <= start_.cluster.gpus_per_node; tensor *= 2) {
      for (const std::int64_t context : contexts()) {
        if (gpus % (tensor * context) != 0) continue;
        const std::int64_t left = gpus / (tensor * context);
        const std::int64_t most = std::min(left, layers() / parts_of_stage_);
        for (std::int64_t pipeline = least_stages_; pipeline <= most; ++pipeline) {
          if (left % pipeline != 0) continue;
          add_splits({.tensor = tensor,
                      .context = context,
                      .pipeline = pipeline,
                      .data = left / pipeline});
        }
      }
    }
    return std::move(values_);
  }

 private:
  [[nodiscard]] const TransformerSpec& spec() const { return start_.workload.transformer; }
  [[nodiscard]] std::int64_t layers() const { return spec().decoder.layers; }

  // In decode a new token has no others to share.
  [[nodiscard]] std::set<std::int64_t> contexts() const {
    std::set<std::int64_t> contexts{spec().parallel.context};
    if (start_.workload.phase == Phase::decode) return contexts;
    for (std::int64_t n = 1; n == 1 || spec().length / n >= kLeastTokens; n *= 2) {
      contexts.insert(n);
    }
    return contexts;
  }

  void add(const Layout& layout, const std::string& first, const std::string& last,
           const std::string& each) {
    values_.push_back({std::to_string(layout.tensor), std::to_string(layout.pipeline),
                       std::to_string(layout.data), std::to_string(layout.context), first, last,
                       each});
  }

  void add_splits(const Layout& layout) {
    add(layout, "~", "~", "~");
    if (layout.pipeline == 1) return;
    std::set<LayersOfParts> known{counts_of(layout, EndLayers{}, parts_of_stage_)};
    if (const auto ends = fewer_at_the_ends(layers(), parts_in(layout))) {
      if (known.insert(counts_of(layout, *ends, parts_of_stage_)).second) {
        add(layout, std::to_string(ends->first), std::to_string(ends->last), "~");
      }
    }
    const std::optional<Chain> chain = chain_in(layout);
    if (!chain) return;
    add_split(layout, split_evenly(*chain, static_cast<int>(parts_in(layout))), known);
    for (const int parts : further_parts_) {
      if (layout.pipeline * parts > layers()) continue;
      known = {counts_of(layout, EndLayers{}, parts)};
      add_split(layout, split_evenly(*chain, static_cast<int>(layout.pipeline) * parts), known);
    }
  }

  // Where it is none of those that are known.
  void add_split(const Layout& layout, const LayersOfParts& split,
                 const std::set<LayersOfParts>& known) {
    if (known.contains(split)) return;
    add(layout, "~", "~", fmt::format("[{}]", fmt::join(split, ", ")));
  }

  [[nodiscard]] std::int64_t parts_in(const Layout& layout) const {
    return layout.pipeline * parts_of_stage_;
  }

  [[nodiscard]] LayersOfParts counts_of(const Layout& layout, const EndLayers& ends,
                                        int parts_of_stage) const {
    TransformerSpec made = spec();
    made.parallel.pipeline = static_cast<int>(layout.pipeline);
    made.parallel.virtual_stages = parts_of_stage;
    made.parallel.first_layers = static_cast<int>(ends.first);
    made.parallel.last_layers = static_cast<int>(ends.last);
    made.parallel.layers_of_parts.clear();
    LayersOfParts counts;
    const std::int64_t parts = layout.pipeline * parts_of_stage;
    counts.reserve(static_cast<std::size_t>(parts));
    for (int part = 0; part < parts; ++part) {
      counts.push_back(layers_of_part(made, part).count);
    }
    return counts;
  }

  // A step of one microbatch in this layout, whatever its schedule; nothing: it does not load.
  [[nodiscard]] std::optional<Scenario> even_in(const Layout& layout) const {
    LoadOptions options = options_;
    const std::array<std::string, kLayoutKeys.size()> values{std::to_string(layout.tensor),
                                                             std::to_string(layout.pipeline),
                                                             std::to_string(layout.data),
                                                             std::to_string(layout.context),
                                                             "~",
                                                             "~",
                                                             "~"};
    std::transform(kLayoutKeys.begin(), kLayoutKeys.end(), values.begin(),
                   std::back_inserter(options.sets),
                   [](const char* key, const std::string& value) { return key + ('=' + value); });
    options.sets.push_back(fmt::format("workload.sequences={}", spec().microbatch * layout.data));
    options.sets.insert(options.sets.end(),
                        {"workload.parallel.sequence=~", "workload.parallel.schedule=~",
                         "workload.parallel.virtual_stages=~", "run.beyond_memory=warn"});
    return load_scenario(file_, options).scenario;
  }

  // Layers with their times; nothing: they cannot be known.
  [[nodiscard]] std::optional<Chain> chain_in(const Layout& layout) const {
    if (layers() > kMostSplit) return std::nullopt;
    const std::optional<Scenario> even = even_in(layout);
    if (!even) return std::nullopt;
    const ParallelSpec& parallel = even->workload.transformer.parallel;
    return chain_of(build_model(*even), even->cluster.gpu,
                    static_cast<std::uint32_t>(gpus_of_stage(parallel)));
  }

  const std::filesystem::path& file_;
  const LoadOptions& options_;
  const Scenario& start_;
  int parts_of_stage_ = 1;
  std::vector<int> further_parts_;  // where the schedule varies
  std::int64_t least_stages_ = 1;
  std::vector<std::vector<std::string>> values_;
};

}  // namespace

std::vector<std::vector<std::string>> layouts_of(const std::filesystem::path& file,
                                                 const LoadOptions& options, const Scenario& start,
                                                 ScheduleIs schedule) {
  return Layouts(file, options, start, schedule).all();
}

}  // namespace weft
