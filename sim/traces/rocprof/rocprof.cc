// rocprofv3: its databases or JSON files, usually one for each process.
#include "sim/traces/nodes/load_nodes.h"
#include "sim/traces/rocprof/rocprof_file.h"

namespace weft::readers {

LoadedTrace rocprof(const TraceWork& work, int gpus, Bytes memory) {
  static constexpr NodeRecorder kRecorder{
      .name = "rocprofv3",
      .ending = ".db",
      .other_ending = ".json",
      .writes = "of rocprofv3, or *.json of rocprofv3 --output-format json",
      .sizes = "rocprofv3 does not record it; give collective_sizes",
      .read = [](std::string& bytes, const std::string& name, std::int64_t element_bytes,
                 TraceProblems& problems) {
        return read_rocprof(bytes, name, element_bytes, problems);
      }};
  return load_nodes(work, gpus, memory, kRecorder);
}

}  // namespace weft::readers
