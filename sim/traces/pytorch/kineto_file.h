// A profile of one rank, as Kineto writes it: what ran on the GPU, and what the host did to start
// it. Other recorders' are put into the same form.
//
// Only events that decide when a kernel may start are read. Times are in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/models/recorded_shape.h"
#include "sim/models/recorded_step.h"
#include "sim/traces/problems.h"

namespace weft {

// A call of the communication library, as the profile or the execution trace describes it.
struct CommCall {
  std::string label;  // for messages: "node 727 'record_param_comms'"
  std::string name;   // "allreduce", "all_to_allv", "wait"
  std::int64_t sequence = -1;
  std::string group;      // its name; in older traces a number that is only valid in one process
  std::int64_t peer = 0;  // send and recv: the other's rank in the group; broadcast: the root
  std::int64_t elements = 0;  // of its input
  std::int64_t element_bytes = 0;
  std::vector<std::int64_t> splits;  // of the input, to each rank; empty: even
  std::vector<CommCall> with = {};   // of a message: others that the same kernel does at once
};

struct GpuEvent {
  enum class Kind : std::uint8_t { kernel, copy, fill };
  Kind kind = Kind::kernel;
  std::string name;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t device = -1;
  std::int64_t stream = 0;
  std::int64_t correlation = -1;
  std::int64_t wgs = 1;
  bool without_grid = false;  // the profile does not say it
  int threads = 256;
  int registers = 32;
  std::int64_t shared_bytes = 0;
  std::optional<CommCall> call;           // newer profiles say what a collective's kernel moves
  std::optional<RecordedWork> work = {};  // for copies from their size, for kernels by operator
  bool beside = false;                    // as in RecordedShape
};

// An operator of the host (aten::mm), and what it computes according to its shapes.
struct CpuOperator {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t thread = 0;
  std::optional<RecordedWork> work;
};

struct HostEvent {
  enum class Kind : std::uint8_t {
    runtime,       // a call that may have launched something: the correlation tells
    communicates,  // record_param_comms: from start to end
    stream_waits,  // a stream waits for an event
    waits_stream,  // the host waits for the stream it last launched on, or that of its SyncEvent
    waits_device
  };
  Kind kind = Kind::runtime;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t thread = 0;
  std::int64_t correlation = -1;
};

// What newer profiles add to a wait of a stream or of the host, by correlation.
struct SyncEvent {
  std::int64_t stream = -1;
  std::int64_t on_stream = -1;  // the stream whose work is waited for
};

// ProfilerStep#n of torch.profiler, on the host.
struct ProfilerStep {
  std::int64_t number = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
};

struct KinetoFile {
  std::string name;
  std::int64_t rank = -1;
  std::int64_t ranks = -1;
  RecordedDevice device;
  std::vector<GpuEvent> gpu;
  std::vector<HostEvent> host;
  std::vector<CpuOperator> operators;
  std::vector<ProfilerStep> steps;
  std::optional<RecordedStep> mean_step;  // of all steps, if their mean is kept
  std::map<std::int64_t, SyncEvent> syncs;
  std::map<std::string, std::vector<std::uint32_t>> groups;  // ranks by name
};

KinetoFile read_kineto(std::string_view text, const std::string& name, TraceProblems& problems);

// Keeps only what the host did in this step, and what that launched. If the profile has no
// launches, a kernel belongs to the step in which it started.
void keep_step(KinetoFile& file, const ProfilerStep& step);

// Leaves out what was launched before the recording began: it is of a step before, of which one
// rank may have more left than another. Returns how much that was. If no launch is known, all
// stays.
std::size_t drop_unlaunched(KinetoFile& file);

// What a call of CUDA's or HIP's, such as "cudaStreamWaitEvent_v3020", does.
HostEvent::Kind kind_of_call(std::string_view name);

// Whether this is a call that copies and comes back when the copy has ended: "hipMemcpyWithStream".
bool waits_for_its_copy(std::string_view name);

// Adds a call, and the wait for its copy behind it, if it has one.
void add_call(KinetoFile& file, const HostEvent& event, std::string_view name);

// What a copy or fill moves of the memory of this GPU: "Memcpy HtoD (Pinned -> Device)".
std::optional<RecordedWork> work_of_copy(std::string_view name, std::int64_t size);

// Whether this is a kernel of a communication library. The recorded times of these include waiting
// for late ranks.
bool is_library_collective(std::string_view kernel);

}  // namespace weft
