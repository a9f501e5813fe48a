// Keys of fused kernels that change nothing in the modes that are run are spoken of, with their
// place.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/load.h"

namespace weft::warn_of_idle_keys_test {
namespace {

// H100s copy in bulk where WGs or waves only send; MI300X do not.
std::string warnings(const std::string& kind, const std::string& modes, const std::string& fused,
                     const std::string& cluster = "node_8x_h100",
                     std::vector<std::string> sets = {}) {
  const Loaded loaded = load_scenario_text(
      "name: a\ncluster: {base: clusters/" + cluster + "}\nworkload: {kind: " + kind +
          ", gemm: {m: 65536, n: 1024, k: 1024}}\nmodes: [" + modes + "]\nfused: {" + fused + "}\n",
      "a.yaml", {.sets = std::move(sets), .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const std::string text = loaded.problems.to_text();
  return text.substr(0, text.find('\n'));
}

constexpr const char* kNone = "none of the modes fused, role_split and copy_fed is run";

TEST(WarnOfIdleKeys, cus_only_send_in_role_split) {
  EXPECT_EQ(warnings("gemm_reduce_scatter", "bulk, fused", "sending_cus: 8"),
            "a.yaml:5:9: warning: fused.sending_cus: no effect: CUs only send in mode role_split, "
            "which is not run");
  EXPECT_EQ(warnings("gemm_reduce_scatter", "bulk, role_split", "sending_cus: 8"), "");
}

TEST(WarnOfIdleKeys, who_sends_is_asked_in_mode_fused) {
  EXPECT_EQ(warnings("gemm_reduce_scatter", "bulk, role_split", "sent_by: wave"),
            "a.yaml:5:9: warning: fused.sent_by: no effect: it is asked in mode fused only, which "
            "is not run");
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "sent_by: wave"), "");
}

TEST(WarnOfIdleKeys, only_waves_leave_results_in_buffers) {
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "unsent: 2"),
            "a.yaml:5:9: warning: fused.unsent: no effect: it is for mode fused with "
            "fused.sent_by: wave");
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "rate_while_sending: 0.25"),
            "a.yaml:5:9: warning: fused.rate_while_sending: no effect: it is for mode fused with "
            "fused.sent_by: wave");
  EXPECT_NE(warnings("gemm_reduce_scatter", "fused", "sending_waves: 8"), "");
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "unsent: 2, sent_by: wave"), "");
  EXPECT_NE(warnings("gemm_reduce_scatter", "fused", "unsent: 2, sent_by: wave, in_switch: true")
                .find("with fused.in_switch results stay where they are made"),
            std::string::npos);
}

TEST(WarnOfIdleKeys, parts_are_added_to_own_ones_where_these_are_in_registers) {
  const auto says = [](const char* modes, const std::string& keys, const char* text) {
    const std::string said = warnings("gemm_reduce_scatter", modes, "add: with_own" + keys);
    return said.find(text) != std::string::npos;
  };
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "add: with_own"), "");
  EXPECT_TRUE(says("bulk, role_split", "", "fused.add: no effect: it is for mode fused"));
  EXPECT_TRUE(says("fused", ", in_switch: true", "the switch adds up"));
  EXPECT_TRUE(says("fused", ", order: local_first", "later than the own ones"));
  EXPECT_TRUE(says("fused", ", flag_per: peer", "known to have come when all have"));
}

TEST(WarnOfIdleKeys, results_that_stay_are_fenced_where_each_slice_has_a_flag) {
  const auto says = [](const char* modes, const std::string& keys, const char* text) {
    const std::string said = warnings("gemm_reduce_scatter", modes, "fence_of: all" + keys);
    return said.find(text) != std::string::npos;
  };
  EXPECT_TRUE(says("bulk, role_split", "", "fused.fence_of: no effect: it is for mode fused"));
  EXPECT_EQ(warnings("gemm_reduce_scatter", "fused", "fence_of: all"), "");
  EXPECT_TRUE(says("fused", ", sent_by: wave", "store their results themselves"));
  EXPECT_TRUE(says("fused", ", staging: staged", "store their results themselves"));
  EXPECT_TRUE(says("fused", ", flag_per: peer", "only with fused.flag_per: slice"));
  EXPECT_TRUE(says("fused", ", in_switch: true", "and no in_switch"));
}

TEST(WarnOfIdleKeys, wgs_send_first_in_mode_fused) {
  const char* text =
      "a.yaml:5:9: warning: fused.sending_wgs: no effect: it is for mode fused with fused.sent_by: "
      "wg";
  EXPECT_EQ(warnings("all_gather_gemm", "bulk, role_split", "sending_wgs: 16"), text);
  EXPECT_EQ(warnings("all_gather_gemm", "fused", "sending_wgs: 16, sent_by: wave"), text);
  EXPECT_EQ(warnings("all_gather_gemm", "fused", "sending_wgs: 16"), "");
  EXPECT_EQ(warnings("all_gather_gemm", "fused", "sending_wgs: 16, in_switch: true"),
            "a.yaml:5:9: warning: fused.sending_wgs: no effect: the switch copies what is sent "
            "(fused.in_switch)");
}

TEST(WarnOfIdleKeys, wgs_bring_pieces_in_modes_fused_and_role_split) {
  const char* text =
      "a.yaml:5:9: warning: fused.piece: no effect: it is for modes fused and role_split";
  EXPECT_EQ(warnings("all_gather_gemm", "bulk, copy_fed", "piece: 1 KiB"), text);
  EXPECT_EQ(warnings("all_gather_gemm", "copy_fed, role_split", "piece: 1 KiB"), "");
}

TEST(WarnOfIdleKeys, wgs_that_compute_may_stage_what_they_send) {
  const auto staged = [](const std::string& modes, const std::string& more = "") {
    return warnings("gemm_reduce_scatter", modes, "staging: staged" + more);
  };
  EXPECT_EQ(staged("bulk, fused"), "");
  EXPECT_EQ(staged("copy_fed"), "");  // they store parts of the sums
  EXPECT_NE(staged("bulk, kernel").find(kNone), std::string::npos);
  const std::string nothing =
      "a.yaml:5:9: warning: fused.staging: no effect: CUs or waves that only send (mode "
      "role_split, fused.sent_by: wave) stage nothing";
  EXPECT_EQ(staged("role_split"), nothing);
  EXPECT_EQ(staged("fused", ", sent_by: wave"), nothing);
}

TEST(WarnOfIdleKeys, waves_have_queue_entries_between_nodes_only) {
  EXPECT_EQ(warnings("all_gather_gemm", "bulk, fused", "put_by: wave"),
            "a.yaml:5:9: warning: fused.put_by: wave has no effect: in a node waves store as their "
            "WG does; only between nodes each has a queue entry of its own");
  EXPECT_EQ(warnings("all_gather_gemm", "bulk, fused", "put_by: wave", "nodes_16x_8x_h100"), "");
}

TEST(WarnOfIdleKeys, threads_store_where_nothing_is_copied_in_bulk) {
  const auto by_thread = [](const std::string& modes, const std::string& cluster,
                            const std::string& more = "") {
    return warnings("all_gather_gemm", modes, "put_by: thread" + more, cluster);
  };
  EXPECT_NE(by_thread("bulk", "node_8x_h100").find(kNone), std::string::npos);
  EXPECT_EQ(by_thread("fused", "node_8x_h100"), "");
  EXPECT_EQ(by_thread("role_split", "node_8x_mi300x"), "");
  const std::string nothing = "thread has no effect: what leaves a GPU are copies by engines";
  EXPECT_NE(by_thread("role_split", "node_8x_h100").find(nothing), std::string::npos);
  EXPECT_NE(by_thread("fused", "node_8x_h100", ", sent_by: wave").find(nothing), std::string::npos);
  EXPECT_NE(by_thread("copy_fed", "node_8x_mi300x").find(nothing), std::string::npos);
  EXPECT_EQ(warnings("gemm_reduce_scatter", "copy_fed", "put_by: thread"), "");
}

TEST(WarnOfIdleKeys, the_switch_leaves_no_order_and_no_staging) {
  const auto in_switch = [](const std::string& modes, const std::string& more) {
    return warnings("gemm_reduce_scatter", modes, "in_switch: true" + more, "node_8x_h100");
  };
  EXPECT_EQ(in_switch("fused", ""), "");
  EXPECT_NE(in_switch("bulk, kernel", "").find("fused.in_switch: no effect: neither fused"),
            std::string::npos);
  EXPECT_NE(in_switch("fused", ", order: staggered").find("fused.order: no effect"),
            std::string::npos);
  EXPECT_NE(in_switch("fused", ", staging: staged").find("fused.staging: no effect"),
            std::string::npos);
  // copy_fed does not use the switch, and stores parts of the sums.
  EXPECT_EQ(in_switch("fused, copy_fed", ", staging: staged"), "");
}

// Whoever asks for a mode with --mode knows that the file has keys of others.
TEST(WarnOfIdleKeys, of_a_file_whose_modes_are_chosen_on_the_command_line_are_not_spoken_of) {
  const auto with = [](std::vector<std::string> sets) {
    return warnings("gemm_reduce_scatter", "role_split", "sending_cus: 8, put_by: wave",
                    "nodes_16x_8x_h100", std::move(sets));
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({"modes=[bulk]"}), "");
  EXPECT_EQ(
      with({"modes=[bulk]", "fused.sending_cus=4"}),
      "--set fused.sending_cus=4: warning: fused.sending_cus: no effect: CUs only send in mode "
      "role_split, which is not run");
  // Not a matter of modes.
  EXPECT_NE(
      warnings("gemm_reduce_scatter", "bulk", "put_by: wave", "node_8x_h100", {"modes=[fused]"}),
      "");
}

// What a resolved scenario says of its own accord is no news.
TEST(WarnOfIdleKeys, defaults_are_not_spoken_of) {
  EXPECT_EQ(warnings("all_gather_gemm", "bulk", "put_by: wg, sent_by: wg"), "");
  EXPECT_EQ(warnings("gemm_reduce_scatter", "role_split", "staging: zero_copy"), "");
}

}  // namespace
}  // namespace weft::warn_of_idle_keys_test
