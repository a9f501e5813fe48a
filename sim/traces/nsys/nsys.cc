// Nsight Systems: exported reports of all nodes, each with the processes of a node.
#include "sim/traces/nodes/load_nodes.h"
#include "sim/traces/nsys/nsys_tables.h"

namespace weft::readers {

LoadedTrace nsys(const TraceWork& work, int gpus, Bytes memory) {
  static constexpr NodeRecorder kRecorder{
      .name = "Nsight Systems",
      .ending = ".sqlite",
      .other_ending = nullptr,
      .writes = "nsys export --type sqlite",
      .sizes =
          "record with NVTX and NCCL 2.19 or newer (nsys profile -t cuda,nvtx) and export with "
          "--include-blobs=true, or give collective_sizes",
      .read = [](std::string& bytes, const std::string& name, std::int64_t element_bytes,
                 TraceProblems& problems) {
        SqliteFile file(bytes, "nsys export --type sqlite");
        return read_tables(file, name, element_bytes, problems);
      }};
  return load_nodes(work, gpus, memory, kRecorder);
}

}  // namespace weft::readers
