#include "sim/report/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "sim/core/assert.h"
#include "sim/files/file_set.h"
#include "sim/report/c3.h"
#include "sim/report/csv.h"
#include "sim/report/mode_fields.h"
#include "sim/report/model.h"
#include "sim/report/over_time.h"
#include "sim/report/stages.h"

namespace weft {
namespace {

// --- what has no better place --------------------------------------------------------------------

struct FieldRow {
  const char* name;
  Unit unit;
  const char* meaning;
};

constexpr auto kOfScenario = std::to_array<FieldRow>({
    {"scenario", Unit::text, "name of the scenario"},
    {"scenario_hash", Unit::text, "hash of its resolved values: equal hashes mean equal scenarios"},
    {"version", Unit::text, "version of weft"},
    {"seed", Unit::text, "seed of all random numbers"},
    {"cluster", Unit::text, "the machine in one line"},
});

constexpr auto kOfRecordings = std::to_array<FieldRow>({
    {"recorded.step_us", Unit::us,
     "recorded traces: from the first recorded kernel's start to the last one's end, on the rank "
     "that waited least for others; absent with recorded_on"},
    {"recorded.gaps_us", Unit::us, "of it, the GPU had no kernel"},
    {"recorded.unlaunched_us", Unit::us, "of that, the host had not launched the next one"},
    {"moved.model", Unit::share,
     "workload.recorded_on: of the kernels' recorded time, that of kernels whose times were scaled "
     "by a model of what they compute"},
    {"moved.roofline", Unit::share, "the same, by their roofline"},
    {"moved.as_recorded", Unit::share, "the same, not at all"},
});

constexpr auto kOfPartitions = std::to_array<FieldRow>({
    {"c3.strategies.<mode>.tried.<index>.cus", Unit::count, "a partition size that was tried"},
    {"c3.strategies.<mode>.tried.<index>.compute_us", Unit::us,
     "the GEMM alone on the other CUs; absent if both ran together"},
    {"c3.strategies.<mode>.tried.<index>.communicate_us", Unit::us,
     "the collective alone on these CUs; absent if both ran together"},
    {"c3.strategies.<mode>.tried.<index>.together_us", Unit::us,
     "both together; absent if each ran alone"},
});

constexpr auto kOfAllModes = std::to_array<FieldRow>({
    {"why", Unit::text, "what bounds each mode, what overlap hid and what it cost, in words"},
    {"ledger.balanced", Unit::text, "whether every mode's ledger balances; a run fails if not"},
    {"ledger.<mode>.balanced", Unit::text,
     "whether asked and done are equal in all of this mode's pairs"},
    {"ledger.<mode>.wgs.asked", Unit::count, "logical WGs and collective steps of the task graph"},
    {"ledger.<mode>.wgs.done", Unit::count, "how many of them were done"},
    {"ledger.<mode>.flops.asked", Unit::flops,
     "floating point operations of all WGs; as all counts here, 2^63 - 1 where there are more"},
    {"ledger.<mode>.flops.done", Unit::flops, "how many of them were done"},
    {"ledger.<mode>.hbm_bytes.asked", Unit::bytes, "HBM traffic of all WGs and copy engines"},
    {"ledger.<mode>.hbm_bytes.done", Unit::bytes, "how much of it was moved"},
    {"ledger.<mode>.messages.asked", Unit::count, "messages put into the network"},
    {"ledger.<mode>.messages.done", Unit::count, "messages delivered"},
    {"ledger.<mode>.message_bytes.asked", Unit::bytes,
     "bytes to deliver; what a switch adds up counts once, what it copies once per copy"},
    {"ledger.<mode>.message_bytes.done", Unit::bytes, "bytes delivered"},
    {"ledger.<mode>.sent_bytes.asked", Unit::bytes, "bytes that the task graph sends"},
    {"ledger.<mode>.sent_bytes.done", Unit::bytes, "bytes put into the network"},
    {"engine.simulated_gpus", Unit::count,
     "GPUs that were simulated; fewer than there are where some copies of a model, or nodes of a "
     "ring, stand for all"},
    {"engine.events", Unit::count, "events of all modes"},
    {"engine.wall_s", Unit::s, "wall-clock time of the simulations; differs from run to run"},
    {"engine.events_per_s", Unit::per_s,
     "events / wall_s, so lower if the machine does other work too; differs from run to run"},
    {"engine.peak_rss_bytes", Unit::bytes, "peak memory of the process; differs from run to run"},
});

constexpr auto kManifest = std::to_array<FieldRow>({
    {"version", Unit::text, "version of weft"},
    {"scenario", Unit::text, "name of the scenario"},
    {"scenario_hash", Unit::text, "hash of its resolved values"},
    {"seed", Unit::text, "seed of all random numbers"},
    {"command", Unit::text, "command that gives the same results again"},
    {"inputs.<index>.path", Unit::text,
     "a file from which the scenario or its recorded trace was read"},
    {"inputs.<index>.hash", Unit::text, "64-bit FNV-1a hash of its bytes"},
    {"fingerprints.<mode>", Unit::text, "hash of the run's history"},
});

constexpr auto kFiles = std::to_array<FieldRow>({
    {"files.<name>", Unit::text,
     "64-bit FNV-1a hash of each result file's bytes; files.json itself is written last"},
});

constexpr auto kSweep = std::to_array<FieldRow>({
    {"<axis>", Unit::text,
     "an axis's value, in the unit that its name ends in: `_us`, `_bytes`, `_gbps` (10^9 bit/s), "
     "`_tflops` (10^12 FLOP/s), `_m_per_s` (10^6/s); else a count or a word"},
    {"point", Unit::text, "hash of the resolved scenario; points with equal hashes are run once"},
    {"status", Unit::text, "ok or failed"},
    {"error", Unit::text, "why it failed, on one line; a failed point has no results"},
    {"<mode>_<field>", Unit::text,
     "`modes.<mode>.<field>` of summary.json, such as `fused_time_us`; `wait_us.post` is "
     "`fused_wait_post_us`"},
    {"<mode>_<part>_<field>", Unit::text,
     "`modes.<mode>.parts.<part>.<field>`, such as `bulk_mlp_computing_us`"},
    {"<mode>_vs_<mode>_speedup", Unit::text,
     "a value of `speedup`, such as `fused_vs_bulk_speedup`"},
    {"c3_<field>", Unit::text, "a value of `c3`, such as `c3_compute_us`"},
    {"<mode>_<strategy>", Unit::text,
     "`speedup`, `fraction_of_ideal` and `partition_cus` of `c3.strategies.<mode>`"},
});

constexpr auto kSweepLong = std::to_array<FieldRow>({
    {"point", Unit::text, "hash of the resolved scenario; its axes are in results.csv"},
    {"mode", Unit::text, "mode of the value; empty for a value of the whole point"},
    {"field", Unit::text,
     "its column in results.csv without the mode, such as `time_us`; `fused_vs_bulk_speedup` is "
     "`speedup_vs_bulk` of `fused`"},
    {"value", Unit::text, "as in results.csv"},
    {"unit", Unit::text, "unit of the value; empty for names, counts, hashes, shares and ratios"},
});

constexpr auto kCatalogue = std::to_array<FieldRow>({
    {"fields.<field>.title", Unit::text, "title for columns and axes"},
    {"fields.<field>.unit", Unit::text, "unit, as in results_long.csv"},
    {"fields.<field>.as", Unit::text, "how to show it: text, number, time, share, ratio"},
    {"fields.<field>.meaning", Unit::text, "meaning, as on this page"},
    {"modes.<mode>.colour", Unit::text, "colour of the mode in every chart"},
    {"modes.<mode>.meaning", Unit::text, "meaning of the mode in one line"},
    {"phases.<index>.field", Unit::text,
     "a part of the time, in drawing order; empty: the rest of the time"},
    {"phases.<index>.title", Unit::text, "title of the part"},
    {"phases.<index>.colour", Unit::text, "colour of the part"},
    {"palette.<index>", Unit::text, "colours for everything else"},
    {"times.<index>.us", Unit::us, "a unit of time; the first one that a time reaches is used"},
    {"times.<index>.unit", Unit::text, "name of that unit"},
    {"axis_units.<suffix>", Unit::text, "unit of an axis whose name ends in this suffix"},
});

constexpr auto kPoints = std::to_array<FieldRow>({
    {"row", Unit::count, "index of the point in the sweep, from 0"},
    {"point", Unit::text, "hash of the resolved scenario"},
    {"version", Unit::text, "version of weft; results of another version do not count as finished"},
    {"status", Unit::text, "ok or failed"},
    {"axes.<axis>", Unit::text, "value on the axis, as in results.csv"},
    {"error", Unit::text, "why it failed; empty if ok"},
    {"exit_code", Unit::count, "exit code that `weft run` would end with"},
    {"command", Unit::text, "command that gives the same results again"},
    {"summary", Unit::text, "summary.json of the run; absent if it failed"},
    {"checksum", Unit::text,
     "checksum of all before it on the line; a line that does not match is damaged, and its point "
     "is run again"},
});

// --- the files -----------------------------------------------------------------------------------

template <std::size_t n>
void append(std::vector<Field>& fields, const std::array<FieldRow, n>& rows) {
  for (const auto& [name, unit, meaning] : rows) fields.push_back({name, unit, "", meaning});
}

template <const auto& rows>
std::vector<Field> listed() {
  std::vector<Field> fields;
  append(fields, rows);
  return fields;
}

std::vector<Field> summary_fields() {
  std::vector<Field> fields = listed<kOfScenario>();
  for (const ModeField& field : mode_fields()) {
    fields.push_back({field.path, field.unit, field.title, field.meaning});
  }
  for (const Field& field : stage_fields()) {
    if (!is_of_stage(field)) continue;
    fields.push_back({"modes.<mode>.stages.<index>." + field.name, field.unit, "", field.meaning});
  }
  for (const C3Field& field : c3_fields()) {
    fields.push_back({std::string("c3.") + field.name, field.unit, field.title, field.meaning});
  }
  append(fields, kOfRecordings);
  append(fields, kOfPartitions);
  append(fields, kOfAllModes);
  return fields;
}

struct FileRow {
  ResultFile file;
  const char* name;
  std::vector<Field> (*fields)();
};
constexpr auto kResultFiles = std::to_array<FileRow>({
    {ResultFile::summary, "summary.json", summary_fields},
    {ResultFile::operators, "operators.csv", operator_fields},
    {ResultFile::links, "links.csv", link_fields},
    {ResultFile::link_classes, "link_classes.csv", link_class_fields},
    {ResultFile::over_time, "over_time.csv", over_time_fields},
    {ResultFile::parts, "parts.csv", part_fields},
    {ResultFile::stages, "stages.csv", stage_fields},
    {ResultFile::fusions, "fusions.csv", fusion_fields},
    {ResultFile::manifest, "manifest.json", listed<kManifest>},
    {ResultFile::files, kFilesOfResult, listed<kFiles>},
    {ResultFile::sweep, "results.csv", listed<kSweep>},
    {ResultFile::sweep_long, "results_long.csv", listed<kSweepLong>},
    {ResultFile::catalogue, "catalogue.json", listed<kCatalogue>},
    {ResultFile::points, "results.jsonl", listed<kPoints>},
});

const FileRow& file_row(ResultFile file) {
  const auto found = std::find_if(kResultFiles.begin(), kResultFiles.end(),
                                  [file](const FileRow& row) { return row.file == file; });
  SIM_ASSERT(found != kResultFiles.end());
  return *found;
}

}  // namespace

const char* file_name(ResultFile file) { return file_row(file).name; }

std::vector<Field> fields(ResultFile file) { return file_row(file).fields(); }

Field field(ResultFile file, const std::string& name) {
  for (Field& one : fields(file)) {
    if (one.name == name) return one;
  }
  SIM_ASSERT(false);
}

std::string to_markdown(ResultFile file) {
  std::string text = "| field | unit | meaning |\n|---|---|---|\n";
  for (const Field& one : fields(file)) {
    text += fmt::format("| `{}` | {} | {} |\n", one.name, name_of(one.unit), one.meaning);
  }
  return text;
}

}  // namespace weft
