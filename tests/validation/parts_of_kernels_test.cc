// GEMMs whose results stay on their GPU, with nothing sent, waited for or added up: a tile takes
// what the descriptions of the kernels say (configs/validation). Their constants are fitted to
// these lines, within 2 % (HIP) and 3 % (Triton) of each.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/round_up.h"
#include "sim/scenario/load.h"

namespace weft::parts_of_kernels_test {
namespace {

const std::filesystem::path kRoot = WEFT_SOURCE_DIR;

// us of a tile of 128 x 256, by its description.
double tile_us(const Scenario& scenario, double k) {
  const GemmWork& gemm = scenario.workload.gemm;
  const GpuSpec& gpu = scenario.cluster.gpu;
  const double peak_of_cu = static_cast<double>(gpu.bf16_matrix.count()) / gpu.cus;
  return 1e6 * 2 * 128 * 256 * k / (peak_of_cu * gemm.efficiency) +
         to_microseconds(gemm.library.fixed);
}

struct Kernel {
  const char* name;
  const char* description;
  const char* kind;
  const char* by;
  const char* without;
  double within;
};
void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

class PartsOfKernels : public testing::TestWithParam<Kernel> {};

INSTANTIATE_TEST_SUITE_P(
    Kernels, PartsOfKernels,
    testing::Values(
        Kernel{"hip, all-to-all", "hip_gemm", "parts.gemm", "hip", "link turns", 0.02},
        Kernel{"hip, reduce-scatter", "hip_gemm", "parts.gemm_rs", "hip", "sums link turns", 0.02},
        Kernel{"Triton, all-to-all", "triton_gemm", "parts.gemm", "triton", "link", 0.03},
        Kernel{"Triton, reduce-scatter", "triton_gemm", "parts.gemm_rs", "triton",
               "waits signals loads link", 0.03}));

TEST_P(PartsOfKernels, tiles_take_what_their_description_says) {
  const Kernel& kernel = GetParam();
  const std::string name = std::string(kernel.description) + ".yaml";
  const Loaded loaded = load_scenario(kRoot / "configs/validation" / name,
                                      {.sets = {}, .config_dirs = {kRoot / "configs"}});
  ASSERT_TRUE(loaded.scenario.has_value()) << loaded.problems.to_text();
  const double launch_us = 8;  // and the timer's
  std::ifstream file(kRoot / "calibration/measurements/h200-x2-parts_of_kernels.jsonl");
  int seen = 0;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line["kind"] != kernel.kind || line["by"] != kernel.by) continue;
    if (line["without"] != kernel.without) continue;
    const std::int64_t tiles =
        line["m"].get<std::int64_t>() / 128 * (line["n"].get<std::int64_t>() / 256);
    const auto rounds = static_cast<double>(round_up(tiles, loaded.scenario->cluster.gpu.cus));
    const double measured = (line["us"].get<double>() - launch_us) / rounds;
    const double k = line["k"].get<double>();
    EXPECT_NEAR(tile_us(*loaded.scenario, k) / measured, 1, kernel.within)
        << k << ": " << measured << " us";
    seen += 1;
  }
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace weft::parts_of_kernels_test
