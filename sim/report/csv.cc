#include "sim/report/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/core/assert.h"
#include "sim/report/csv_line.h"
#include "sim/report/measures.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

std::string text(double number) { return csv_text(number); }
std::string text(Duration duration) { return text(in_us(duration)); }
std::string text(std::uint64_t count) { return std::to_string(count); }
std::string text(Bytes size) { return std::to_string(size.count()); }

std::vector<std::string> row_of(Mode mode, const OperatorUse& use, std::size_t gpus) {
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
          text(use.hbm),
          text(use.cu_time),
          text(in_us(use.exposed) / static_cast<double>(std::max<std::size_t>(gpus, 1)))};
}

struct LinkClass {
  std::string name;
  std::uint64_t links = 0;
  LinkUse use;  // of all of them
  Duration busiest;
};

// In the order of their first links.
std::vector<LinkClass> classes_of(const RunResult& result) {
  std::vector<LinkClass> classes;
  for (const LinkRow& link : result.links) {
    auto known = std::find_if(classes.begin(), classes.end(), [&link](const LinkClass& other) {
      return other.name == link.link_class;
    });
    if (known == classes.end()) {
      classes.push_back({.name = link.link_class, .links = 0, .use = {}, .busiest = {}});
      known = classes.end() - 1;
    }
    known->links += 1;
    add(known->use, link.use);
    known->busiest = longer(known->busiest, link.use.busy);
  }
  return classes;
}

std::vector<std::string> row_of(const RunResult& result, const LinkClass& links) {
  const double time = in_us(result.time);
  const double mean = in_us(links.use.busy) / static_cast<double>(links.links);
  return {name_of(result.mode),
          links.name,
          text(links.links),
          text(links.use.carried),
          text(links.use.messages),
          text(time > 0 ? mean / time : 0.0),
          text(time > 0 ? in_us(links.busiest) / time : 0.0),
          text(links.use.queued),
          text(links.use.queued_max)};
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
      csv += csv_line(row_of(run.result.mode, use, run.result.gpus.size()), ResultFile::operators);
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

std::string link_classes_csv(const RunReport& report) {
  std::string csv = csv_header(ResultFile::link_classes);
  for (const ModeRun& run : report.runs) {
    for (const LinkClass& links : classes_of(run.result)) {
      csv += csv_line(row_of(run.result, links), ResultFile::link_classes);
    }
  }
  return csv;
}

}  // namespace weft
