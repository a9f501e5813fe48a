// What records of a JSON file of rocprofv3 name by number: operations, kernels, GPUs, texts of
// ranges.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "sim/traces/json_values.h"
#include "sim/traces/problems.h"
#include "sim/traces/rocprof/rocprof_process.h"

namespace weft::rocprof {

const Json& list_in(const Json& object, const char* key);
// {"handle": 7} below this key; -1: there is none.
std::int64_t handle_of(const Json& object, const char* key);
// -1: there is none.
std::int64_t correlation_of(const Json& record);

class Lookup {
 public:
  // Of one process, which outlives it. What is listed twice or without its number is a problem.
  Lookup(const Json& process, const std::string& file, TraceProblems& problems);

  // "hipLaunchKernel", "ncclAllReduce"; empty: not listed.
  [[nodiscard]] const std::string& operation_of(const Json& record) const;
  [[nodiscard]] const KernelSymbol* symbol(std::int64_t id) const;
  [[nodiscard]] const GpuAgent* gpu(std::int64_t handle) const;
  // Of the range with this correlation; empty: none.
  [[nodiscard]] const std::string& text_of_range(std::int64_t correlation) const;

 private:
  void read_agents(const std::string& file, TraceProblems& problems);
  void read_symbols(const std::string& file, TraceProblems& problems);
  void read_markers(const std::string& file, TraceProblems& problems);

  const Json& process_;
  const Json& operations_;                                        // by kind
  std::map<std::int64_t, GpuAgent> agents_;                       // by handle
  std::unordered_map<std::int64_t, KernelSymbol> symbols_;        // by id
  std::unordered_map<std::int64_t, const std::string*> markers_;  // by correlation
};

}  // namespace weft::rocprof
