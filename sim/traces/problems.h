// What is wrong with a trace: every mistake, but of very many only the first are listed.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "sim/core/diagnostics.h"

namespace weft {

class TraceProblems {
 public:
  static constexpr std::size_t kListed = 25;  // of a trace; the others are counted

  explicit TraceProblems(std::string trace) : trace_(std::move(trace)) {}

  // `where` names node and field: "node 61 'conv3_ALLREDUCE': comm_size". May be empty.
  void add(const std::string& file, std::string where, std::string message);
  [[nodiscard]] bool any() const { return found_ > 0; }
  [[nodiscard]] std::size_t found() const { return found_; }

  // With a first line that says how many are not listed.
  [[nodiscard]] Diagnostics all() const;

 private:
  std::string trace_;
  Diagnostics listed_;
  std::size_t found_ = 0;
};

}  // namespace weft
