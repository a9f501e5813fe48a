// Files of rocprofv3 --output-format json, made by the test: what its documentation lists (JSON
// output schema) and ROCm/rocm-systems writes (generateJSON.cpp), as far as weft reads it.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft {

// One process of one GPU: what its host does, one call 10 us after the last; what is launched
// starts 5 us later. Times are in microseconds.
class RocprofFile {
 public:
  explicit RocprofFile(int gpus = 1, int device = 0) : device_(device) {
    json_["metadata"] = {{"pid", 10}, {"init_time", 1}, {"fini_time", 2}};
    json_["agents"] = nlohmann::json::array();
    json_["agents"].push_back({{"id", {{"handle", 1}}}, {"type", 1}, {"node_id", 0}});
    for (int gpu = gpus; gpu-- > 0;) {  // in no order
      json_["agents"].push_back({{"id", {{"handle", handle_of(gpu)}}},
                                 {"type", 2},
                                 {"node_id", gpu + 1},
                                 {"name", "gfx942"},
                                 {"product_name", "AMD Instinct MI300X"},
                                 {"cu_count", 304}});
    }
    json_["strings"]["buffer_records"] = {
        {{"kind", "NONE"}, {"operations", nlohmann::json::array()}},
        {{"kind", "HIP_RUNTIME_API"},
         {"operations",
          {"hipLaunchKernel", "hipDeviceSynchronize", "hipMemcpyAsync", "hipFree",
           "hipMemcpyWithStream"}}},
        {{"kind", "MEMORY_COPY"},
         {"operations", {"MEMORY_COPY_NONE", "MEMORY_COPY_DEVICE_TO_DEVICE"}}},
        {{"kind", "RCCL_API"},
         {"operations", {"ncclAllReduce", "ncclAllGather", "ncclAllToAll", "ncclGroupEnd"}}},
        {{"kind", "MARKER_CORE_API"}, {"operations", {"roctxThreadRangeA", "roctxMarkA"}}}};
    json_["strings"]["marker_api"] = nlohmann::json::array();
    json_["kernel_symbols"] = nlohmann::json::array();
  }

  RocprofFile& kernel(int stream, double us, const std::string& name = "gemm_kernel(int)") {
    record("hip_api", 1, 0, now_, now_ + 4);
    nlohmann::json& made = record("kernel_dispatch", 0, 0, now_ + 5, now_ + 5 + us, correlation_);
    if (streams_) made["stream_id"] = {{"handle", *streams_ ? stream : 0}};
    made["dispatch_info"] = {{"agent_id", {{"handle", handle_of(device_)}}},
                             {"queue_id", {{"handle", 90 + stream}}},
                             {"kernel_id", symbol(name)},
                             {"group_segment_size", 512},
                             {"workgroup_size", {{"x", 128}, {"y", 2}, {"z", 1}}},
                             {"grid_size", {{"x", 6 * 128 - 1}, {"y", 4}, {"z", 1}}}};
    return pass();
  }
  // Between agents; 1 is the host.
  RocprofFile& copy(int stream, double us, std::int64_t size, int from, int to, int call = 2) {
    record("hip_api", 1, call, now_, now_ + 4);
    nlohmann::json& made = record("memory_copy", 2, 1, now_ + 5, now_ + 5 + us, correlation_);
    if (streams_) made["stream_id"] = {{"handle", *streams_ ? stream : 0}};
    made["dst_agent_id"] = {{"handle", to}};
    made["src_agent_id"] = {{"handle", from}};
    made["bytes"] = size;
    return pass();
  }
  // From here on, records do not say their stream: they lack it, or all have 0.
  RocprofFile& without_streams(bool lack) {
    streams_ = lack ? std::optional<bool>() : false;
    return *this;
  }
  RocprofFile& collective(int stream, double us, int operation) {
    record("rccl_api", 3, operation, now_ - 1, now_ + 8);
    return kernel(stream, us, "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)");
  }
  RocprofFile& in_range(const std::string& text, int stream, double us, const std::string& name) {
    marker(text, 0, 8);
    return kernel(stream, us, name);
  }
  RocprofFile& marker(const std::string& text, int operation, double us) {
    nlohmann::json& made = record("marker_api", 4, operation, now_ - 1, now_ + us);
    json_["strings"]["marker_api"].push_back(
        {{"key", made["correlation_id"]["internal"]}, {"value", text}});
    return *this;
  }
  RocprofFile& synchronize() {
    record("hip_api", 1, 1, now_, now_ + 6);
    return pass();
  }
  nlohmann::json& json() { return json_; }
  void write(const std::string& path) const {
    std::ofstream(path) << nlohmann::json{{"rocprofiler-sdk-tool", {json_}}};
  }

  static int handle_of(int gpu) { return 1000 + 7 * gpu; }

 private:
  RocprofFile& pass() {
    now_ += 10;
    return *this;
  }
  // The list is indexed by kernel_id; of numbers without a kernel it has a placeholder.
  int symbol(const std::string& name) {
    nlohmann::json& symbols = json_["kernel_symbols"];
    symbols.push_back({{"kernel_id", 0}, {"kernel_name", ""}, {"demangled_kernel_name", "0"}});
    const auto id = static_cast<int>(symbols.size());
    symbols.push_back({{"kernel_id", id},
                       {"kernel_name", "_Zmangled.kd"},
                       {"demangled_kernel_name", name + " [clone .kd]"},
                       {"arch_vgpr_count", 32},
                       {"accum_vgpr_count", 8}});
    return id;
  }
  nlohmann::json& record(const char* list, int kind, int operation, double start, double end,
                         int correlation = 0) {
    if (correlation == 0) correlation = ++correlation_;
    nlohmann::json& records = json_["buffer_records"][list];
    records.push_back({{"kind", kind},
                       {"operation", operation},
                       {"thread_id", 5},
                       {"correlation_id", {{"internal", correlation}, {"external", 0}}},
                       {"start_timestamp", static_cast<std::int64_t>(start * 1000)},
                       {"end_timestamp", static_cast<std::int64_t>(end * 1000)}});
    return records.back();
  }

  nlohmann::json json_;
  int device_;
  std::optional<bool> streams_ = true;  // whether they are said; none: records lack them
  double now_ = 1000;
  int correlation_ = 0;
};

}  // namespace weft
