// What rocprofv3 recorded of a process, record by record, whatever file it wrote them to.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "sim/traces/nodes/node_profiles.h"
#include "sim/traces/problems.h"
#include "sim/traces/recorded_device.h"

namespace weft::rocprof {

struct KernelSymbol {
  std::string name;  // as its compiler demangles it, without ".kd"
  int registers = 32;
};

// Without " [clone .kd]" or ".kd", which make it the kernel's descriptor.
std::string name_of_descriptor(std::string_view name);
// Of a thread, of both kinds; -1: not said.
int registers_of(std::int64_t architected, std::int64_t accumulating);

// Whether these are the calls around a range that a thread opens and closes: not marks, nor ranges
// across threads.
bool is_range_of_thread(std::string_view call);

struct GpuAgent {
  std::int64_t number = 0;  // among the GPUs of the process, in the order of their nodes
  RecordedDevice device;
};
GpuAgent gpu_agent(std::string_view name, std::int64_t cus);

struct Times {
  std::int64_t start = -1;  // ns
  std::int64_t end = -1;
};

struct Dispatch {
  Times times;
  std::int64_t correlation = -1;
  const KernelSymbol& symbol;
  const GpuAgent& gpu;
  std::int64_t stream = -1;
  std::int64_t queue = -1;  // of the hardware
  std::int64_t lds = 0;
  std::array<std::int64_t, 3> items = {};       // of the grid, which counts work-items
  std::array<std::int64_t, 3> work_group = {};  // the same of a work-group
};

struct Copy {
  Times times;
  std::int64_t correlation = -1;
  const GpuAgent* to = nullptr;    // none: the host
  const GpuAgent* from = nullptr;  // same
  std::int64_t stream = -1;
  std::int64_t bytes = 0;
};

struct Call {
  Times times;
  std::int64_t correlation = -1;
  std::int64_t thread = 0;
  std::string_view name;  // "hipLaunchKernel", "ncclAllReduce"
};

// How kernels and copies tell which of them follow one another.
struct Streams {
  bool known = false;       // of HIP
  std::int64_t queues = 0;  // of the hardware, on which kernels ran
  bool copies = false;      // there are any
};

class ProcessMaker {
 public:
  ProcessMaker(std::string file, std::int64_t element_bytes, const Streams& streams,
               TraceProblems& problems);

  // What ran on GPUs comes before the calls that launched it. Records that cannot be are problems.
  void add(const Dispatch& dispatch);
  void add(const Copy& copy);
  void add_hip(const Call& call);
  void add_rccl(const Call& call);
  // A ROCTx range that a thread opens and closes.
  void add_range(const Times& times, std::int64_t thread, std::string_view text);

  void wrong(std::string_view what, const char* field, std::string message);
  NodeProcess made();

 private:
  template <class Event>
  bool set_times(const Times& times, std::string_view what, Event& event);
  void keep(GpuEvent event, const Times& times, const GpuAgent& gpu);
  void name_collectives();

  std::string file_;
  std::int64_t element_bytes_;
  bool streams_known_;
  TraceProblems& problems_;
  NodeProcess made_;
  std::set<std::int64_t> launched_;  // correlations of what ran on GPUs
};

}  // namespace weft::rocprof
