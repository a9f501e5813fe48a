#include "sim/traces/problems.h"

#include <fmt/format.h>

namespace weft {

void TraceProblems::add(const std::string& file, std::string where, std::string message) {
  ++found_;
  if (found_ > kListed) return;
  Diagnostic problem;
  problem.at.file = file;
  problem.at.column = static_cast<int>(found_);  // without a line: in the order they were found
  problem.path = std::move(where);
  problem.message = std::move(message);
  listed_.add(std::move(problem));
}

Diagnostics TraceProblems::all() const {
  Diagnostics all = listed_;
  if (found_ > kListed) {
    Diagnostic more;
    more.at.file = trace_;
    more.message = fmt::format("{} problems, of which the first {} are listed", found_, kListed);
    all.add(std::move(more));
  }
  return all;
}

}  // namespace weft
