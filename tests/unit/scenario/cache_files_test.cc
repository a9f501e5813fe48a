// Files of the cache model: those shipped load, and mistakes are named, all of them, in their
// place.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sim/scenario/load_cache.h"

namespace weft::cache_files_test {
namespace {

namespace fs = std::filesystem;

const fs::path kCache = fs::path(WEFT_SOURCE_DIR) / "configs" / "cache";

TEST(CacheFiles, the_seventeen_applications_and_the_machines_load) {
  int applications = 0;
  for (const auto& entry : fs::directory_iterator(kCache / "applications")) {
    EXPECT_EQ(load_cache_application(entry.path()).problems.to_text(), "") << entry.path();
    ++applications;
  }
  EXPECT_EQ(applications, 17);
  for (const auto& entry : fs::directory_iterator(kCache / "machines")) {
    EXPECT_EQ(load_cache_machine(entry.path()).problems.to_text(), "") << entry.path();
  }
}

std::string problems_of(const std::string& text) {
  return load_cache_application_text(text, "app.yaml").problems.to_text();
}

TEST(CacheFiles, an_access_beyond_its_array_is_named) {
  const std::string text =
      "name: a\n"
      "arrays: [{name: x, size: 1 KiB}]\n"
      "kernels:\n"
      "  - name: k\n"
      "    rows: 4\n"
      "    wgs_per_cu: 1\n"
      "    accesses:\n"
      "      - {op: load, array: x, row: 512 B, per_row: 256 B}\n";
  // 3 x 256 + 512 = 1280.
  EXPECT_EQ(problems_of(text),
            "app.yaml:8:9: error: kernels[0].accesses[0]: reaches byte 1280 of x, which has 1024\n"
            "        - {op: load, array: x, row: 512 B, per_row: 256 B}\n"
            "          ^\n");
}

TEST(CacheFiles, several_mistakes_are_named_at_once) {
  const std::string found = problems_of(
      "name: a\n"
      "arrays: [{name: x, size: 1 KiB}]\n"
      "kernels:\n"
      "  - name: k\n"
      "    rows: 4\n"
      "    wgs_per_cuu: 1\n"
      "    accesses:\n"
      "      - {op: lod, array: y, row: 512}\n"
      "      - 7\n");
  for (const char* part :
       {"app.yaml:4:5: error: kernels[0].wgs_per_cu: required",
        "app.yaml:6:5: error: kernels[0].wgs_per_cuu: unknown key; did you mean 'wgs_per_cu'?",
        "app.yaml:8:14: error: kernels[0].accesses[0].op: must be one of load store, not 'lod'",
        "app.yaml:8:26: error: kernels[0].accesses[0].array: must be one of x, not 'y'",
        "app.yaml:8:34: error: kernels[0].accesses[0].row: missing unit",
        "app.yaml:9:9: error: kernels[0].accesses[1]: must be a map"}) {
    EXPECT_NE(found.find(part), std::string::npos) << part << "\nnot in\n" << found;
  }
}

const std::string kMachine =
    "name: m\ncus: 4\nline: 128 B\nsector: 32 B\ninterleave: 256 B\n"
    "l1: {capacity: 8 KiB, ways: 16, mshrs: 8, bandwidth: 128 GB/s, latency: 10 ns}\n"
    "l2: {capacity: 64 KiB, slices: SLICES, ways: WAYS, mshrs: 8, bandwidth: 512 GB/s,"
    " latency: 100 ns}\n"
    "dram: {channels: 4, banks: 4, row: 1 KiB, bandwidth: 512 GB/s, latency: 300 ns,"
    " activate: 14 ns, precharge: 12 ns, activate_interval: 2 ns, close_after: 1 us, queue: 8}\n";

std::string machine_with(const std::string& slices, const std::string& ways) {
  std::string text = kMachine;
  text.replace(text.find("SLICES"), 6, slices);
  text.replace(text.find("WAYS"), 4, ways);
  return load_cache_machine_text(text, "m.yaml").problems.to_text();
}

TEST(CacheFiles, sets_are_a_power_of_two_and_slices_share_the_channels) {
  EXPECT_EQ(machine_with("4", "16"), "");
  EXPECT_NE(machine_with("4", "15").find("l2.capacity: must be slices x ways x line of 7680 B"),
            std::string::npos);
  EXPECT_NE(machine_with("8", "16").find("l2.slices: there are 8 in all"), std::string::npos);
}

}  // namespace
}  // namespace weft::cache_files_test
