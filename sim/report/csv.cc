#include "sim/report/csv.h"

#include <algorithm>
#include <array>

#include "sim/models/single_operator.h"
#include "sim/report/columns.h"
#include "sim/report/measures.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

double part_of(Duration part, Duration whole) {
  return whole.count() > 0 ? in_us(part) / in_us(whole) : 0;
}

// --- operators.csv -------------------------------------------------------------------------------

struct OperatorRow {
  const RunResult& result;
  const OperatorUse& use;
  [[nodiscard]] bool ran() const { return use.kernels > 0; }
};

double mean_us(const OperatorRow& row) {
  return row.ran() ? in_us(row.use.sum) / static_cast<double>(row.use.kernels) : 0;
}

double exposed_us(const OperatorRow& row) {
  return in_us(row.use.exposed) /
         static_cast<double>(std::max<std::size_t>(row.result.gpus.size(), 1));
}

constexpr auto kOperatorColumns = std::to_array<Column<OperatorRow>>({
    {"mode", Unit::text, "mode", "grain of overlap",
     [](const OperatorRow& row) { return value_of(name_of(row.result.mode)); }},
    {"operator", Unit::text, "operator", "its name; a row covers its kernels on all GPUs",
     [](const OperatorRow& row) { return value_of(row.use.name); }},
    {"part", Unit::text, "part",
     "whole models: the part that reports count it under; else the operator",
     [](const OperatorRow& row) { return value_of(row.use.part); }},
    {"role", Unit::text, "role", "compute, collective or fused",
     [](const OperatorRow& row) { return value_of(name_of(row.use.role)); }},
    {"start_us", Unit::us, "start", "from then on its first kernel may take slots",
     [](const OperatorRow& row) {
       return value_of(row.ran() ? row.use.first_start - SimTime{} : Duration{});
     }},
    {"place_us", Unit::us, "first slot",
     "its first WG gets a slot on a CU, or its first copy an engine",
     [](const OperatorRow& row) {
       return value_of(row.ran() ? row.use.first_place - SimTime{} : Duration{});
     }},
    {"end_us", Unit::us, "end", "end of its last kernel",
     [](const OperatorRow& row) { return value_of(row.use.last_end - SimTime{}); }},
    {"longest_us", Unit::us, "longest", "longest kernel, from its first WG to its end",
     [](const OperatorRow& row) { return value_of(row.use.longest); }},
    {"mean_us", Unit::us, "mean", "mean over its kernels",
     [](const OperatorRow& row) { return value_of(mean_us(row)); }},
    {"critical_us", Unit::us, "on the critical path",
     "time of the critical path in it; without the launches in between",
     [](const OperatorRow& row) { return value_of(row.use.critical); }},
    {"kernels", Unit::count, "kernels", "number of kernels",
     [](const OperatorRow& row) { return value_of(row.use.kernels); }},
    {"wgs", Unit::count, "WGs", "logical WGs, or steps of a collective's channels",
     [](const OperatorRow& row) { return value_of(row.use.wgs); }},
    {"wg_time_us", Unit::us, "WGs at work", "time of WGs at work; sum over WGs",
     [](const OperatorRow& row) { return value_of(row.use.wg_time); }},
    {"messages", Unit::count, "messages", "messages put into the network",
     [](const OperatorRow& row) { return value_of(row.use.messages); }},
    {"sent_bytes", Unit::bytes, "bytes sent", "bytes of these messages",
     [](const OperatorRow& row) { return value_of(row.use.sent); }},
    {"hbm_bytes", Unit::bytes, "HBM traffic",
     "HBM traffic of its WGs; without what NICs and peers move",
     [](const OperatorRow& row) { return value_of(row.use.hbm); }},
    {"cu_time_us", Unit::us, "CUs at work",
     "time of CUs with WGs at work, sum over CUs; a CU with WGs of several operators counts for "
     "the one that is done last. All operators together: cu_busy of all CUs",
     [](const OperatorRow& row) { return value_of(row.use.cu_time); }},
    {"exposed_us", Unit::us, "exposed",
     "a GPU computes nothing and waits for it; mean over GPUs. All together: exposed_comm_us",
     [](const OperatorRow& row) { return value_of(exposed_us(row)); }},
});

// --- links.csv -----------------------------------------------------------------------------------

struct LinkOf {
  const RunResult& result;
  const LinkRow& link;
};

constexpr auto kLinkColumns = std::to_array<Column<LinkOf>>({
    {"mode", Unit::text, "mode", "grain of overlap",
     [](const LinkOf& row) { return value_of(name_of(row.result.mode)); }},
    {"link", Unit::text, "link", "one direction of one cable, or a NIC's port",
     [](const LinkOf& row) { return value_of(row.link.name); }},
    {"class", Unit::text, "class of links",
     "fabric and dimension or direction: scale_out_x+, nic_send",
     [](const LinkOf& row) { return value_of(row.link.link_class); }},
    {"bandwidth_bytes_per_s", Unit::bytes_per_s, "bandwidth", "that of payload",
     [](const LinkOf& row) { return value_of(row.link.bandwidth.count()); }},
    {"bytes", Unit::bytes, "bytes carried", "payload that it carried",
     [](const LinkOf& row) { return value_of(row.link.use.carried); }},
    {"messages", Unit::count, "messages carried", "messages that it carried",
     [](const LinkOf& row) { return value_of(row.link.use.messages); }},
    {"busy_us", Unit::us, "in use", "time in use",
     [](const LinkOf& row) { return value_of(row.link.use.busy); }},
    {"utilisation", Unit::share, "busy", "busy_us / time of the run",
     [](const LinkOf& row) { return value_of(part_of(row.link.use.busy, row.result.time)); }},
    {"queued_us_total", Unit::us, "messages waiting",
     "time that messages waited for the link; sum over messages",
     [](const LinkOf& row) { return value_of(row.link.use.queued); }},
    {"queued_us_max", Unit::us, "longest wait", "longest of these waits",
     [](const LinkOf& row) { return value_of(row.link.use.queued_max); }},
});

// --- link_classes.csv ----------------------------------------------------------------------------

struct LinkClass {
  const RunResult& result;
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
      classes.push_back(
          {.result = result, .name = link.link_class, .links = 0, .use = {}, .busiest = {}});
      known = classes.end() - 1;
    }
    known->links += 1;
    add(known->use, link.use);
    known->busiest = longer(known->busiest, link.use.busy);
  }
  return classes;
}

double mean_busy(const LinkClass& row) {
  const double time = in_us(row.result.time);
  const double mean = in_us(row.use.busy) / static_cast<double>(row.links);
  return time > 0 ? mean / time : 0;
}

constexpr auto kLinkClassColumns = std::to_array<Column<LinkClass>>({
    {"mode", Unit::text, "mode", "grain of overlap",
     [](const LinkClass& row) { return value_of(name_of(row.result.mode)); }},
    {"class", Unit::text, "class of links", "as in links.csv",
     [](const LinkClass& row) { return value_of(row.name); }},
    {"links", Unit::count, "links", "number of links in this class",
     [](const LinkClass& row) { return value_of(row.links); }},
    {"bytes", Unit::bytes, "bytes carried", "carried by all of them",
     [](const LinkClass& row) { return value_of(row.use.carried); }},
    {"messages", Unit::count, "messages carried", "carried by all of them",
     [](const LinkClass& row) { return value_of(row.use.messages); }},
    {"utilisation", Unit::share, "busy, mean of the links",
     "share of the time in use; mean over its links",
     [](const LinkClass& row) { return value_of(mean_busy(row)); }},
    {"utilisation_max", Unit::share, "busy, busiest link", "the same for the busiest one",
     [](const LinkClass& row) { return value_of(part_of(row.busiest, row.result.time)); }},
    {"queued_us_total", Unit::us, "messages waiting",
     "time that messages waited for its links; sum over messages and links",
     [](const LinkClass& row) { return value_of(row.use.queued); }},
    {"queued_us_max", Unit::us, "longest wait", "longest of these waits",
     [](const LinkClass& row) { return value_of(row.use.queued_max); }},
});

}  // namespace

std::vector<Field> operator_fields() { return fields_of(kOperatorColumns); }
std::vector<Field> link_fields() { return fields_of(kLinkColumns); }
std::vector<Field> link_class_fields() { return fields_of(kLinkClassColumns); }

std::string operators_csv(const RunReport& report) {
  std::string csv = csv_header(kOperatorColumns);
  for (const ModeRun& run : report.runs) {
    for (const OperatorUse& use : run.result.operators) {
      csv += csv_line(kOperatorColumns, {run.result, use});
    }
  }
  return csv;
}

std::string links_csv(const RunReport& report) {
  std::string csv = csv_header(kLinkColumns);
  for (const ModeRun& run : report.runs) {
    for (const LinkRow& link : run.result.links) csv += csv_line(kLinkColumns, {run.result, link});
  }
  return csv;
}

std::string link_classes_csv(const RunReport& report) {
  std::string csv = csv_header(kLinkClassColumns);
  for (const ModeRun& run : report.runs) {
    for (const LinkClass& links : classes_of(run.result)) csv += csv_line(kLinkClassColumns, links);
  }
  return csv;
}

}  // namespace weft
