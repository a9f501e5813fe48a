#include "sim/tune/variations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "sim/plans/algorithms.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/workload_kinds.h"

namespace weft {
namespace {

using Words = std::vector<std::string>;

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
  append(all, {variation("workload.gemm.order", {"row", "column", "swizzled"}),
               variation("workload.gemv.rows_per_wg", half_and_twice(workload.gemv.rows_per_wg)),
               variation("workload.rows_per_wg", half_and_twice(workload.embedding.rows_per_wg))});
  return all;
}

std::vector<Variation> variations_of_fused() {
  return {
      variation("fused.slice_wgs", {"1", "2", "4", "8", "16"}),
      variation("fused.order", {"remote_first", "local_first", "staggered", "in_turn", "rotating"}),
      variation("fused.add", {"at_end", "with_own"}),
      variation("fused.max_wgs_per_cu", {"~", "1", "2", "4"}),
      variation("fused.sent_by", {"wg", "wave"}),
      variation("fused.in_switch", {"false", "true"}),
      variation("fused.flag_per", {"slice", "peer"}),
      variation("fused.put_by", {"wg", "wave"}),
      variation("fused.work_list", {"dynamic", "static"})};
}

// Results of a GEMM whose k is split are always staged: there is no key then.
std::vector<Variation> variations_of_split(WorkloadKind kind, bool fuses) {
  const bool splits = row_of(kind).computes == &operators::gemm;
  if (splits && fuses) {
    return {{.keys = {"workload.gemm.split_k", "fused.staging"},
             .values = {{"1", "~"}, {"1", "staged"}, {"2", "~"}, {"4", "~"}}}};
  }
  if (splits) return {variation("workload.gemm.split_k", {"1", "2", "4"})};
  if (fuses) return {variation("fused.staging", {"zero_copy", "staged"})};
  return {};
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

}  // namespace

std::vector<Variation> variations_of_operator(const Scenario& scenario, std::optional<Mode> mode) {
  std::vector<Variation> all = variations_of_kernel(scenario.workload);
  const bool fuses = mode && is_fused(*mode);
  append(all, variations_of_split(scenario.workload.kind, fuses));
  if (fuses) append(all, variations_of_fused());
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

}  // namespace weft
