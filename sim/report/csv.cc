#include "sim/report/csv.h"

#include <fmt/format.h>

#include <vector>

#include "sim/core/assert.h"
#include "sim/report/csv_line.h"
#include "sim/report/measures.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

const char* name_of(KernelRole role) {
  switch (role) {
    case KernelRole::compute:
      return "compute";
    case KernelRole::collective:
      return "collective";
    case KernelRole::fused:
      return "fused";
  }
  SIM_ASSERT(false);
}

std::string text(double number) { return csv_text(number); }
std::string text(Duration duration) { return text(in_us(duration)); }
std::string text(std::uint64_t count) { return std::to_string(count); }
std::string text(Bytes size) { return std::to_string(size.count()); }

std::vector<std::string> row_of(Mode mode, const OperatorUse& use) {
  const bool ran = use.kernels > 0;
  const double mean = ran ? in_us(use.sum) / static_cast<double>(use.kernels) : 0;
  return {name_of(mode),
          use.name,
          use.part,
          name_of(use.role),
          text(ran ? use.first_start - SimTime{} : Duration{}),
          text(ran ? use.first_place - SimTime{} : Duration{}),
          text(use.last_end - SimTime{}),
          text(use.longest),
          text(mean),
          text(use.critical),
          text(use.kernels),
          text(use.wgs),
          text(use.wg_time),
          text(use.messages),
          text(use.sent),
          text(use.hbm)};
}

std::vector<std::string> row_of(const RunResult& result, const LinkRow& link) {
  const bool ran = result.time.count() > 0;
  return {name_of(result.mode),   link.name,
          link.link_class,        std::to_string(link.bandwidth.count()),
          text(link.use.carried), text(link.use.messages),
          text(link.use.busy),    text(ran ? in_us(link.use.busy) / in_us(result.time) : 0.0),
          text(link.use.queued),  text(link.use.queued_max)};
}

}  // namespace

std::string operators_csv(const RunReport& report) {
  std::string csv = csv_header(ResultFile::operators);
  for (const ModeRun& run : report.runs) {
    for (const OperatorUse& use : run.result.operators) {
      csv += csv_line(row_of(run.result.mode, use), ResultFile::operators);
    }
  }
  return csv;
}

std::string links_csv(const RunReport& report) {
  std::string csv = csv_header(ResultFile::links);
  for (const ModeRun& run : report.runs) {
    for (const LinkRow& link : run.result.links) {
      csv += csv_line(row_of(run.result, link), ResultFile::links);
    }
  }
  return csv;
}

}  // namespace weft
