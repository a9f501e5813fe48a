// Names of fields: in charts, in columns of sweeps, and back.
#include "sim/report/field_names.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/scenario/mode_rows.h"

namespace weft::field_names_test {
namespace {

TEST(FieldNames, of_a_group_end_in_its_unit) {
  EXPECT_EQ(flat_name("wait_us.post"), "wait_post_us");
  EXPECT_EQ(flat_name("cu_busy"), "cu_busy");
}

TEST(FieldNames, are_each_their_own) {
  std::set<std::string> names;
  for (const ModeField& field : mode_fields()) {
    EXPECT_TRUE(names.insert(name_of(field)).second) << name_of(field);
  }
  EXPECT_TRUE(names.contains("speedup"));          // of c3.strategies
  EXPECT_TRUE(names.contains("speedup_vs_bulk"));  // of speedup
  EXPECT_TRUE(names.contains(kTimeField));
  EXPECT_TRUE(names.contains("<part>_computing_us"));
}

TEST(FieldNames, are_read_back_from_the_columns_of_a_sweep) {
  EXPECT_EQ(sweep_column("fused", "time_us"), "fused_time_us");
  EXPECT_EQ(sweep_column("fused", "speedup_vs_bulk"), "fused_vs_bulk_speedup");
  for (const ModeField& field : mode_fields()) {
    for (const ModeRow& mode : kModeRows) {
      EXPECT_EQ(field_of_column(sweep_column(mode.name, name_of(field)), mode.name),
                name_of(field));
    }
  }
}

TEST(FieldNames, of_a_speedup_say_of_what_over_what) {
  const SpeedupName name = speedup_name("priority+partition_vs_serial");
  EXPECT_EQ(name.mode, "priority+partition");
  EXPECT_EQ(name.field, "speedup_vs_serial");
  EXPECT_EQ(name.baseline, "serial");
}

TEST(TimePhases, are_fields_but_the_last_which_is_what_they_leave) {
  std::set<std::string> names;
  for (const ModeField& field : mode_fields()) names.insert(name_of(field));
  for (const TimePhase& phase : phases().first(phases().size() - 1)) {
    EXPECT_TRUE(names.contains(phase.field)) << phase.field;
  }
  EXPECT_STREQ(phases().back().field, "");
}

}  // namespace
}  // namespace weft::field_names_test
