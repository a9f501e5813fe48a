// The table of fields against the files themselves and against docs/results.md.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sim/report/catalogue.h"
#include "sim/report/csv.h"
#include "sim/report/fields.h"
#include "sim/report/manifest.h"
#include "sim/report/model.h"
#include "sim/report/over_time.h"
#include "sim/report/stages.h"
#include "sim/report/summary.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::every_field_is_described_test {
namespace {

using Json = nlohmann::ordered_json;

RunReport all_modes() {
  RunReport report = testing::two_gpus();
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    testing::add_run(report, mode, microseconds(100), {.link = 70});
  }
  return report;
}

// A GEMM concurrent with a collective: a partition from a table, and one from trial runs.
RunReport strategies() {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::c3;
  report.scenario.workload.gemm.wg = report.scenario.workload.embedding.wg;
  for (const Mode mode :
       {Mode::compute_alone, Mode::comm_alone, Mode::serial, Mode::lookup, Mode::best}) {
    testing::add_run(report, mode, microseconds(100), {.link = 70});
  }
  PartitionTried tried{
      .cus = 2, .compute = microseconds(100), .communicate = microseconds(100), .together = {}};
  report.runs[3].partition = {.cus = 2, .tried = {tried}};
  tried.together = microseconds(100);
  report.runs[4].partition = {.cus = 2, .tried = {tried}};
  return report;
}

// A model of two parts.
RunReport whole_model() {
  RunReport report = all_modes();
  report.scenario.workload.kind = WorkloadKind::transformer;
  report.scenario.workload.transformer.parallel.pipeline = 2;
  for (ModeRun& run : report.runs) {
    run.result.parts = {{.name = "mlp", .computing = microseconds(120), .exposed = {}},
                        {.name = "mlp_sum", .computing = {}, .exposed = microseconds(60)}};
    run.result.idle = microseconds(20);
    run.result.clock = 0.9;
  }
  return report;
}

// "modes.bulk.time_us" is the field "modes.<mode>.time_us". Bulk and serial come last: what is
// compared with them is named first.
std::string with_placeholders(std::string path) {
  for (const std::string mode :
       {"fused", "kernel", "bulk", "lookup", "best", "compute_alone", "comm_alone", "serial"}) {
    const auto at = path.find(mode);
    if (at == std::string::npos) continue;
    path.replace(at, mode.size(), "<mode>");
    break;
  }
  for (const std::string part : {".mlp_sum.", ".mlp."}) {
    const auto at = path.find(part);
    if (at != std::string::npos) path.replace(at, part.size(), ".<part>.");
  }
  for (const std::string index : {".0.", ".1."}) {
    const auto at = path.find(index);
    if (at != std::string::npos) return path.replace(at, index.size(), ".<index>.");
  }
  return path;
}

void collect(const Json& value, const std::string& path, std::set<std::string>& names) {
  if (!value.is_structured()) {
    names.insert(with_placeholders(path));
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    collect(inner, path.empty() ? key : path + "." + key, names);
  }
}

std::set<std::string> names_in(const std::string& json) {
  std::set<std::string> names;
  collect(Json::parse(json), "", names);
  return names;
}

std::set<std::string> described(ResultFile file) {
  std::set<std::string> names;
  for (const Field& field : fields(file)) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " is there twice";
  }
  return names;
}

// Of a trace, and of one that was moved to another GPU.
std::vector<RunReport> recorded() {
  std::vector<RunReport> reports(2, all_modes());
  reports[0].recorded = RecordedStep{.time = microseconds(100), .idle = {}, .unlaunched = {}};
  reports[1].moved[MovedBy::model] = {.kernels = 1, .recorded_s = 1};
  return reports;
}

RunReport with_ranges() {
  RunReport report = all_modes();
  report.scenario.run.range = true;
  report.cluster.spec.gpu.errors.emplace();
  return report;
}

TEST(Fields, are_those_of_summary_json) {
  std::set<std::string> names = names_in(summary_json(all_modes()));
  names.merge(names_in(summary_json(strategies())));
  names.merge(names_in(summary_json(whole_model())));
  names.merge(names_in(summary_json(with_ranges())));
  for (const RunReport& report : recorded()) names.merge(names_in(summary_json(report)));
  for (const RunReport& report : testing::all_rates()) {
    names.merge(names_in(summary_json(report)));
  }
  EXPECT_EQ(names, described(ResultFile::summary));
}

TEST(Fields, are_those_of_manifest_json) {
  EXPECT_EQ(names_in(manifest_json(all_modes())), described(ResultFile::manifest));
}

std::string first_line(const std::string& csv) { return csv.substr(0, csv.find('\n')); }

std::string in_a_line(ResultFile file) {
  std::string line;
  for (const Field& field : fields(file)) line += (line.empty() ? "" : ",") + field.name;
  return line;
}

TEST(Fields, are_the_columns_of_csv_files) {
  const RunReport report = whole_model();
  EXPECT_EQ(first_line(operators_csv(report)), in_a_line(ResultFile::operators));
  EXPECT_EQ(first_line(links_csv(report)), in_a_line(ResultFile::links));
  EXPECT_EQ(first_line(link_classes_csv(report)), in_a_line(ResultFile::link_classes));
  EXPECT_EQ(first_line(over_time_csv(report)), in_a_line(ResultFile::over_time));
  EXPECT_EQ(first_line(parts_csv(report)), in_a_line(ResultFile::parts));
  EXPECT_EQ(first_line(stages_csv(report)), in_a_line(ResultFile::stages));
  EXPECT_EQ(first_line(fusions_csv(report)), in_a_line(ResultFile::fusions));
}

// Of each map one member stands for all.
TEST(Fields, are_those_of_the_catalogue) {
  std::set<std::string> names;
  const Json exported = Json::parse(catalogue_json());
  collect(exported["fields"]["time_us"], "fields.<field>", names);
  collect(exported["modes"]["priority+partition"], "modes.<mode>", names);
  collect(exported["phases"][0], "phases.<index>", names);
  names.insert(exported["palette"][0].is_string() ? "palette.<index>" : "");
  collect(exported["times"][0], "times.<index>", names);
  names.insert(exported["axis_units"]["_us"].is_string() ? "axis_units.<suffix>" : "");
  EXPECT_EQ(names, described(ResultFile::catalogue));
}

constexpr std::array kAll = {
    ResultFile::summary,   ResultFile::operators, ResultFile::links,  ResultFile::link_classes,
    ResultFile::over_time, ResultFile::parts,     ResultFile::stages, ResultFile::fusions,
    ResultFile::manifest,  ResultFile::files,     ResultFile::sweep,  ResultFile::sweep_long,
    ResultFile::catalogue, ResultFile::points};

TEST(Fields, end_in_their_unit_and_have_a_meaning) {
  for (const ResultFile file : kAll) {
    for (const Field& field : fields(file)) {
      EXPECT_STRNE(field.meaning, "") << field.name;
      if (field.unit != Unit::us || file == ResultFile::catalogue) continue;
      // A sum of waits says its unit once, for all four: wait_us.post.
      EXPECT_NE(field.name.find("_us"), std::string::npos) << field.name;
    }
  }
}

TEST(Fields, are_documented) {
  const std::filesystem::path page = std::filesystem::path(WEFT_SOURCE_DIR) / "docs/results.md";
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  for (const ResultFile file : kAll) {
    EXPECT_NE(text.str().find(to_markdown(file)), std::string::npos)
        << "put this into docs/results.md, for " << file_name(file) << ":\n"
        << to_markdown(file);
  }
}

}  // namespace
}  // namespace weft::every_field_is_described_test
