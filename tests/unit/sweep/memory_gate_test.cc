// Points that do not fit into the machine together wait for one another.
#include "sim/sweep/memory_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft::memory_gate_test {
namespace {

TEST(SweepMemoryGate, lets_one_alone_in_whatever_it_needs) {
  std::vector<std::string> told;
  MemoryGate gate(bytes(1000), [&](const std::string& text) { told.push_back(text); });
  const MemoryGate::Pass pass(gate, bytes(5000));
  EXPECT_TRUE(told.empty());
}

TEST(SweepMemoryGate, says_once_that_fewer_run_than_could) {
  using namespace std::chrono_literals;
  std::vector<std::string> told;
  std::atomic<bool> waits = false;
  MemoryGate gate(bytes(1000), [&](const std::string& text) {
    told.push_back(text);
    waits = true;
  });
  for (int i = 0; i < 2; ++i) {
    std::optional<MemoryGate::Pass> first(std::in_place, gate, bytes(800));
    std::thread second([&gate] { const MemoryGate::Pass pass(gate, bytes(300)); });
    while (!waits) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);  // the second time nothing tells that it waits
    first.reset();
    second.join();
  }
  EXPECT_EQ(told, std::vector<std::string>{
                      "a point is estimated to need 300 B; all running points together may use "
                      "1.00 kB, so fewer run at a time"});
}

}  // namespace
}  // namespace weft::memory_gate_test
