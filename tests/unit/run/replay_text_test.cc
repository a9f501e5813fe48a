// Commands that a user can paste into a shell.
#include "sim/run/replay_text.h"

#include <gtest/gtest.h>

namespace weft::replay_text_test {
namespace {

TEST(ReplayText, quotes_only_what_a_shell_would_change) {
  EXPECT_EQ(shell_quoted("configs/a-b_1.yaml"), "configs/a-b_1.yaml");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

TEST(ReplayText, gives_every_set_after_the_scenario) {
  EXPECT_EQ(replay_text("a b.yaml", {"cluster.nodes=2", "modes=[bulk, fused]"}),
            "weft run 'a b.yaml' --set cluster.nodes=2 --set 'modes=[bulk, fused]'");
}

}  // namespace
}  // namespace weft::replay_text_test
