#include "sim/traces/problems.h"

#include <fmt/format.h>

namespace weft {

void TraceProblems::add(const std::string& file, std::string where, std::string message) {
  ++found_;
  for (Listed& known : listed_) {
    const Diagnostic& problem = known.problem;
    if (problem.at.file != file || problem.path != where || problem.message != message) continue;
    ++known.times;
    return;
  }
  if (listed_.size() == kListed) {
    all_listed_ = false;
    return;
  }
  Diagnostic problem;
  problem.at.file = file;
  // No line number: keeps the order of finding.
  problem.at.column = static_cast<int>(listed_.size()) + 1;
  problem.path = std::move(where);
  problem.message = std::move(message);
  listed_.push_back({.problem = std::move(problem)});
}

bool TraceProblems::keep(const std::string& file, std::int64_t size) {
  if (!fits(file, size)) return false;
  kept_ += size;
  return true;
}

bool TraceProblems::fits(const std::string& file, std::int64_t size) {
  if (!full_ && size > room()) {
    full_ = true;
    constexpr std::int64_t kMebi = 1024 * 1024;
    add(file, "",
        fmt::format("reading the trace up to here needs more memory than the {} MiB that are "
                    "allowed; a scenario allows more with run.max_memory",
                    memory_.count() / kMebi));
  }
  return !full_;
}

Diagnostics TraceProblems::all() const {
  Diagnostics all;
  for (const Listed& one : listed_) {
    Diagnostic problem = one.problem;
    if (one.times > 1) problem.message += fmt::format(" ({} times)", one.times);
    all.add(std::move(problem));
  }
  if (!all_listed_) {
    Diagnostic more;
    more.at.file = trace_;
    more.message = fmt::format("{} problems; the first {} are listed", found_, kListed);
    all.add(std::move(more));
  }
  return all;
}

}  // namespace weft
