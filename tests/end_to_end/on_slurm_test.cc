// Sweeps and searches on a Slurm that there is not: what they make of what its tasks do.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/end_to_end/fake_slurm.h"
#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::on_slurm_test {
namespace {

namespace fs = std::filesystem;

// Two nodes of one GPU; some milliseconds a point.
constexpr const char* kSmall =
    "name: small\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
    "set: {modes: [fused], workload.tables_per_gpu: 4, workload.batch: 256}\n"
    "axes:\n  - {key: fused.slice_wgs, values: [1, 2, 4]}\n"
    "  - {key: fused.order, values: [remote_first, local_first, staggered]}\n";

class OnSlurm : public InOwnFolder {
 protected:
  void SetUp() override { std::ofstream(folder_ / "small.yaml") << kSmall; }

  [[nodiscard]] fs::path in(const std::string& path) const { return folder_ / path; }
};

// Four points in two tasks, which have ended when --status asks.
TEST_F(OnSlurm, status_of_some_points_merges_them) {
  const FakeSlurm slurm(folder_, "sh \"$script\" >/dev/null 2>&1");
  ASSERT_EQ(weft_in(folder_, "sweep small.yaml -q -o here --only 2,4,5,9").status, 0);
  const Ended submitted = weft_in(
      folder_, "sweep small.yaml --only 2,4,5,9 --points-per-job 3 --launcher slurm --detach -o d",
      slurm.path());
  ASSERT_EQ(submitted.status, 0) << submitted.err;
  const Ended asked = weft_in(folder_, "sweep --status d", slurm.path());
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_NE(asked.out.find("4/4 done"), std::string::npos) << asked.out;
  EXPECT_EQ(text_of(in("here/results.csv")), text_of(in("d/results.csv")));
  EXPECT_NE(text_of(in("d/sweep.json")).find("weft sweep --only 2,4,5,9"), std::string::npos);
}

TEST_F(OnSlurm, a_search_ends_where_tasks_always_die) {
  const FakeSlurm slurm(folder_, "false");
  const Ended ended =
      weft_in(folder_, "tune small.yaml -q -o tuned --points 4 --launcher slurm --max-jobs 1",
              slurm.path());
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_TRUE(ended.says("has ended 5 times without all its results")) << ended.err;
}

TEST_F(OnSlurm, a_search_whose_time_is_over_says_how_to_end_its_tasks) {
  const FakeSlurm slurm(folder_, "true", "1 PENDING\\n");
  const Ended ended =
      weft_in(folder_,
              "tune small.yaml -q -o tuned --points 4 --launcher slurm --max-jobs 1 --minutes 0.05",
              slurm.path());
  EXPECT_TRUE(ended.says("scancel --name=weft_")) << ended.err;
}

}  // namespace
}  // namespace weft::on_slurm_test
