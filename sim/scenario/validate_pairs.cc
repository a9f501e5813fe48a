// Rules for pairs of mode mixed and for collectives, as far as can be told without the model's
// operators.
#include <fmt/format.h>

#include <string>

#include "sim/scenario/check.h"
#include "sim/scenario/workload_kinds.h"

namespace weft::rules {
namespace {

constexpr std::size_t kMostRules = 64;  // a bit each in what an operator knows of its layer

template <class Rule>
void layers_exist(const Check& check, const Rule& rule, const std::string& path) {
  const int first = rule.from_layer;
  const int last = rule.to_layer;
  if (first < 0 && last < 0) return;
  if (!is_decoder(check.scenario.workload.kind)) {
    return check.fail(path + (first >= 0 ? ".from_layer" : ".to_layer"),
                      "only kinds transformer and moe know layers");
  }
  if (last >= 0 && last < first) {
    check.fail(path + ".to_layer", fmt::format("below from_layer, {}", first));
  }
  const int layers = check.scenario.workload.transformer.decoder.layers;
  const auto exists = [&](const char* key, int layer) {
    if (layer < layers) return;
    check.fail(path + key, fmt::format("the model has {} layers, 0 to {}", layers, layers - 1));
  };
  exists(".from_layer", first);
  exists(".to_layer", last);
}

void some_cus_compute(const Check& check, const PairRule& rule, const std::string& path) {
  const int cus = check.scenario.cluster.gpu.cus;
  if (rule.sending_cus < cus || !check.good({"cluster.gpu.cus"})) return;
  check.fail(path + ".sending_cus", fmt::format("{} of {} CUs leave none to compute; at most {}",
                                                rule.sending_cus, cus, cus - 1));
}

void a_tile_has_two_sides(const Check& check, const PairRule& rule, const std::string& path) {
  if ((rule.tile_m > 0) == (rule.tile_n > 0)) return;
  check.fail(path + (rule.tile_m > 0 ? ".tile_m" : ".tile_n"),
             "tile_m and tile_n go together: give both, or leave the tile to the library");
}

// As of the scenario's own collective keys; what only some pairs have is asked of each
// (pair_knobs).
template <class Rule>
void the_collective_can_be_done(const Check& check, const Rule& rule, const std::string& path) {
  if (!check.good_within({"collective"}) || (!rule.algorithm && !rule.protocol)) return;
  const CollectiveOptions& options = check.scenario.collective;
  const AskedOfCollective asked{
      rule.algorithm.value_or(options.algorithm), rule.protocol ? rule.protocol : options.protocol,
      path + ".algorithm", path + (rule.protocol ? ".protocol" : ".algorithm")};
  an_engine_has_no_protocols(check, asked);
  the_switch_moves_whole_pieces(check, asked);
  if (!rule.algorithm) return;  // the scenario's own
  an_engine_can_do_it(check, asked);
  the_switch_can_do_it(check, asked);
}

}  // namespace

void validate_pairs(const Check& check) {
  const std::vector<PairRule>& rules = check.scenario.workload.pairs;
  if (rules.empty() || !check.good_within({"workload"})) return;
  if (rules.size() > kMostRules) {
    check.fail("workload.pairs", fmt::format("{} rules; at most {}", rules.size(), kMostRules));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string path = fmt::format("workload.pairs[{}]", i);
    layers_exist(check, rules[i], path);
    some_cus_compute(check, rules[i], path);
    a_tile_has_two_sides(check, rules[i], path);
    the_collective_can_be_done(check, rules[i], path);
  }
  if (check.has(Mode::mixed)) return;
  check.warn("workload.pairs", "no effect: mode mixed is not run");
}

void validate_collectives(const Check& check) {
  const std::vector<CollectiveRule>& rules = check.scenario.workload.collectives;
  if (rules.empty() || !check.good_within({"workload"})) return;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string path = fmt::format("workload.collectives[{}]", i);
    layers_exist(check, rules[i], path);
    the_collective_can_be_done(check, rules[i], path);
    if (rules[i].algorithm || rules[i].protocol || rules[i].channels > 0) continue;
    check.warn(path, "no effect: it says neither algorithm nor protocol nor channels");
  }
}

}  // namespace weft::rules
