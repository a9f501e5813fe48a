// What is wrong with a trace: every mistake is counted, but only the first ones are listed, equal
// ones once, with how often. Taking more memory than allowed is one, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/core/quantity.h"

namespace weft {

constexpr Bytes kTraceMemory = mebibytes(16 * 1024);  // as for run.max_memory
// Memory of one operator, from reading it until it is an operator of the model.
constexpr std::int64_t kMemoryOfTraceNode = 2'000;
// Of a call of the host: for itself, and as a step of the host.
constexpr std::int64_t kMemoryOfHostCall = 300;
constexpr std::int64_t kMemoryOfMapEntry = 100;  // beside its texts

class TraceProblems {
 public:
  static constexpr std::size_t kListed = 25;  // per trace, different ones; others are only counted

  // `memory`: how much reading the trace may take.
  explicit TraceProblems(std::string trace, Bytes memory = kTraceMemory)
      : trace_(std::move(trace)), memory_(memory) {}

  // `where` names node and field: "node 61 'conv3_ALLREDUCE': comm_size". May be empty.
  void add(const std::string& file, std::string where, std::string message);
  [[nodiscard]] bool any() const { return found_ > 0; }
  [[nodiscard]] std::size_t found() const { return found_; }

  // So much more memory is kept until the trace is read. False if that is too much: this is added
  // as a problem, and nothing more is to be read.
  bool keep(const std::string& file, std::int64_t size);
  // The same for memory that is needed only for a while.
  bool fits(const std::string& file, std::int64_t size);
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] std::int64_t room() const { return memory_.count() - kept_; }

  // With a line that says how many there are, if not all are listed.
  [[nodiscard]] Diagnostics all() const;

 private:
  struct Listed {
    Diagnostic problem;
    std::size_t times = 1;
  };
  std::string trace_;
  std::vector<Listed> listed_;
  std::size_t found_ = 0;
  bool all_listed_ = true;
  Bytes memory_;
  std::int64_t kept_ = 0;
  bool full_ = false;
};

}  // namespace weft
