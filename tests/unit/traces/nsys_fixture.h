// A report of Nsight Systems, written by the test, as a workload.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"
#include "tests/unit/traces/nsys_writer.h"

namespace weft {

class NsysFixture : public ::testing::Test {
 protected:
  LoadedTrace load(const NsysReport& report, int gpus = 2) {
    report.write(folder_.path("report.sqlite"));
    work_.format = WorkloadKind::nsys;
    work_.path = folder_.path("report.sqlite");
    LoadedTrace loaded = load_trace(work_, gpus);
    if (loaded.graph) expect_round_trip(*loaded.graph, gpus);
    return loaded;
  }
  std::string problems(const NsysReport& report, int gpus = 2) {
    const LoadedTrace loaded = load(report, gpus);
    EXPECT_FALSE(loaded.graph);
    return loaded.problems.to_text();
  }

  TraceFolder folder_{"nsys"};
  TraceWork work_;
};

}  // namespace weft
