// rocprofv3: files of its JSON format, usually one for each process.
#include "sim/traces/nodes/load_nodes.h"
#include "sim/traces/rocprof/rocprof_file.h"

namespace weft::readers {

LoadedTrace rocprof(const TraceWork& work, int gpus, Bytes memory) {
  static constexpr NodeRecorder kRecorder{
      .name = "rocprofv3",
      .ending = ".json",
      .writes = "rocprofv3 --output-format json",
      .sizes = "rocprofv3 does not record it; give collective_sizes",
      .read = [](std::string& bytes, const std::string& name, std::int64_t element_bytes,
                 TraceProblems& problems) {
        return read_rocprof(bytes, name, element_bytes, problems);
      }};
  return load_nodes(work, gpus, memory, kRecorder);
}

}  // namespace weft::readers
