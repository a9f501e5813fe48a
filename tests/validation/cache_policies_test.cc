// What is claimed of cache policies for machine learning ("Optimizing GPU Cache Policies for MI
// Workloads", IISWC 2019), on our versions of its applications: no static policy is best
// everywhere, and a policy with all optimisations comes near the best static one. Not the two with
// a backward RNN, of many small kernels; scripts/reproduce cache has all 17.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "sim/cache/sample.h"
#include "sim/scenario/load_cache.h"

namespace weft::cache_policies_test {
namespace {

const std::string kFolder = WEFT_SOURCE_DIR "/configs/cache/";

using ByPolicy = std::map<std::string, double, std::less<>>;  // us

ByPolicy times_of(const std::string& application) {
  const auto machine = load_cache_machine(kFolder + "machines/apu_64cu.yaml").value;
  const auto loaded = load_cache_application(kFolder + "applications/" + application).value;
  ByPolicy times;
  for (const cache::NamedPolicy& named : cache::kPolicies) {
    if (!cache::is_static(named) && !named.policy.pc_bypass) continue;
    const cache::Sample sample =
        cache::sum(cache::sample(*machine, *loaded, {.policy = named.policy}));
    times[std::string(named.name)] = to_microseconds(sample.time);
  }
  return times;
}

double best_static(const ByPolicy& times) {
  return std::min({times.at("uncached"), times.at("cache_r"), times.at("cache_rw")});
}

TEST(CachePolicies, none_that_is_static_is_best_everywhere) {
  const auto loses = [](const char* policy, const char* application) {
    const ByPolicy times = times_of(application);
    return times.at(policy) > best_static(times) * 1.05;
  };
  // Three loads take every other value of the same lines: uncached reads them three times.
  EXPECT_TRUE(loses("uncached", "fw_pooling.yaml"));
  // 16 WGs store 4 B each to a line, which only a cached store combines.
  EXPECT_TRUE(loses("cache_r", "fw_batch_norm.yaml"));
  // A step reads what the one before it wrote, which only a cached store leaves in the L2.
  EXPECT_TRUE(loses("cache_r", "fw_lstm.yaml"));
  // 400 kB of results are written back when nothing else is left to do: 0.8 us of 2.2.
  EXPECT_TRUE(loses("cache_rw", "fw_softmax.yaml"));
}

TEST(CachePolicies, all_optimisations_come_near_the_best_static_one) {
  for (const char* application :
       {"bw_activation", "bw_batch_norm", "bw_pooling", "bw_softmax", "composed_model", "dgemm",
        "fw_activation", "fw_batch_norm", "fw_fully_connected", "fw_gru", "fw_lrn", "fw_lstm",
        "fw_pooling", "fw_softmax", "sgemm"}) {
    const ByPolicy times = times_of(std::string(application) + ".yaml");
    EXPECT_LE(times.at("pc_bypass"), best_static(times) * 1.05) << application;
  }
}

// A transpose: each WG stores 4 B to 256 rows of 8 KiB. Lines get their 16 stores before a quarter
// of the L2 is dirty, though more rows have dirty lines than would fit it.
TEST(CachePolicies, rinsing_waits_until_stores_down_columns_have_filled_their_lines) {
  const auto machine = load_cache_machine(kFolder + "machines/apu_64cu.yaml").value;
  cache::Kernel kernel{.name = "transpose",
                       .grid_rows = 2048,
                       .grid_columns = 8,
                       .wgs_per_cu = 8,
                       .in_flight = 4,
                       .instruction = kibibytes(1)};
  kernel.accesses = {{.array = 0, .per_row = 8192, .per_column = 1024, .row = kibibytes(1)},
                     {.op = cache::Op::store,
                      .array = 1,
                      .per_row = 4,
                      .per_column = 256 * 8192,
                      .rows = 256,
                      .row = bytes(4),
                      .pitch = 8192}};
  const cache::Application transpose{.name = "transpose",
                                     .arrays = {{"a", mebibytes(16)}, {"b", mebibytes(16)}},
                                     .kernels = {kernel}};
  for (const cache::NamedPolicy& named : cache::kPolicies) {
    if (!named.policy.cache_rinse) continue;
    const cache::Sample sample =
        cache::sum(cache::sample(*machine, transpose, {.policy = named.policy}));
    EXPECT_EQ(sample.dram.written, mebibytes(16)) << named.name;
  }
}

}  // namespace
}  // namespace weft::cache_policies_test
