#include "sim/report/fields.h"

#include <fmt/format.h>

#include <array>

#include "sim/core/assert.h"
#include "sim/files/file_set.h"

namespace weft {
namespace {

using enum ResultFile;

constexpr auto kFields = std::to_array<Field>({
    {summary, "scenario", "", "name of the scenario"},
    {summary, "scenario_hash", "", "of its resolved values: equal hashes, equal scenarios"},
    {summary, "version", "", "of weft"},
    {summary, "seed", "", "of every random number"},
    {summary, "cluster", "", "the machine in one line"},
    {summary, "modes.<mode>.time_us", "us", "start to the end of the slowest GPU"},
    {summary, "modes.<mode>.exposed_comm_us", "us",
     "a kernel is active on the GPU but no WG computes; mean over GPUs"},
    {summary, "modes.<mode>.computing_us", "us",
     "at least one WG of a compute or fused kernel is at work; mean over GPUs"},
    {summary, "modes.<mode>.cu_busy", "",
     "share of CU time with at least one WG at work, also where it waits for memory"},
    {summary, "modes.<mode>.hbm_busy", "",
     "HBM bytes moved, as a share of what `memory.bandwidth` allows in this time"},
    {summary, "modes.<mode>.links_busy_max", "", "share of the time the busiest link is in use"},
    {summary, "modes.<mode>.links_busy_max_class", "", "class of that link"},
    {summary, "modes.<mode>.wgs_per_cu", "",
     "most WGs of the computing kernel on one CU; 0: the workload has no such kernel"},
    {summary, "modes.<mode>.wait_us.post", "us",
     "WGs flushing caches, writing queue entries, ringing the doorbell; sum over WGs"},
    {summary, "modes.<mode>.wait_us.nic_queue", "us",
     "WGs held because the NIC's queue was full; sum over WGs"},
    {summary, "modes.<mode>.wait_us.store", "us",
     "WGs whose stores into a peer had not left or arrived; sum over WGs"},
    {summary, "modes.<mode>.wait_us.flag", "us", "WGs waiting for a flag; sum over WGs"},
    {summary, "modes.<mode>.gpu_end_skew", "", "end of the last GPU / end of the first GPU - 1"},
    {summary, "modes.<mode>.critical_gaps_us", "us",
     "launches on the critical path; with critical_us of all operators, time_us"},
    {summary, "modes.<mode>.idle_us", "us", "of a whole model: no kernel on a GPU; mean over GPUs"},
    {summary, "modes.<mode>.parts.<part>.computing_us", "us",
     "of a whole model: WGs of this part are at work; mean over GPUs"},
    {summary, "modes.<mode>.parts.<part>.exposed_us", "us",
     "a GPU computes nothing and waits for it; mean over GPUs"},
    {summary, "modes.<mode>.fingerprint", "",
     "hash of the run's history: equal fingerprints, equal runs"},
    {summary, "modes.<mode>.events", "", "events simulated"},
    {summary, "speedup.<mode>_vs_bulk", "", "bulk's time / this mode's; absent without bulk"},
    {summary, "speedup.<mode>_vs_serial", "", "kind c3: serial's time / this strategy's"},
    {summary, "c3.compute_us", "us", "kind c3: the GEMM alone"},
    {summary, "c3.communicate_us", "us", "the collective's kernel alone"},
    {summary, "c3.balance", "",
     "which takes more than 1.15 times as long: G-long, C-long, GC-equal"},
    {summary, "c3.ideal_speedup", "", "sum of both / the longer one"},
    {summary, "c3.strategies.<mode>.speedup", "", "sum of both alone / this strategy's time"},
    {summary, "c3.strategies.<mode>.fraction_of_ideal", "", "(speedup - 1) / (ideal_speedup - 1)"},
    {summary, "c3.strategies.<mode>.partition_cus", "", "the collective's own CUs; 0: none"},
    {summary, "c3.strategies.<mode>.tried.<index>.cus", "",
     "a size of the partition that was tried"},
    {summary, "c3.strategies.<mode>.tried.<index>.compute_us", "us",
     "the GEMM alone on the other CUs; absent where both ran together"},
    {summary, "c3.strategies.<mode>.tried.<index>.communicate_us", "us",
     "the collective alone on these; absent where both ran together"},
    {summary, "c3.strategies.<mode>.tried.<index>.together_us", "us",
     "both together; absent where each ran alone"},
    {summary, "why", "", "what bounds each mode, what overlap hid and what it cost, in words"},
    {summary, "ledger.balanced", "", "whether every mode's ledger balances; a run fails if not"},
    {summary, "ledger.<mode>.balanced", "", "whether all of this mode's pairs are equal"},
    {summary, "ledger.<mode>.wgs.asked", "", "logical WGs and collective steps of the task graph"},
    {summary, "ledger.<mode>.wgs.done", "", "of them, done"},
    {summary, "ledger.<mode>.flops.asked", "FLOP", "floating point operations of all WGs"},
    {summary, "ledger.<mode>.flops.done", "FLOP", "of them, done"},
    {summary, "ledger.<mode>.hbm_bytes.asked", "B", "HBM traffic of all WGs and copy engines"},
    {summary, "ledger.<mode>.hbm_bytes.done", "B", "of it, moved"},
    {summary, "ledger.<mode>.messages.asked", "", "messages put into the network"},
    {summary, "ledger.<mode>.messages.done", "", "messages delivered"},
    {summary, "ledger.<mode>.message_bytes.asked", "B",
     "bytes to deliver: a sum of the switch once, each of its copies"},
    {summary, "ledger.<mode>.message_bytes.done", "B", "bytes delivered"},
    {summary, "ledger.<mode>.sent_bytes.asked", "B", "bytes the task graph sends"},
    {summary, "ledger.<mode>.sent_bytes.done", "B", "bytes put into the network"},
    {summary, "engine.events", "", "events of all modes"},
    {summary, "engine.wall_s", "s", "wall-clock time of the simulations; differs from run to run"},
    {summary, "engine.events_per_s", "1/s",
     "events / wall_s, so fewer where the machine does other work too; differs from run to run"},
    {summary, "engine.peak_rss_bytes", "B",
     "most memory the process held; differs from run to run"},

    {operators, "mode", "", "grain of overlap"},
    {operators, "operator", "", "its kernels, on all GPUs"},
    {operators, "part", "", "of a whole model, that reports count it as; else the operator"},
    {operators, "role", "", "compute, collective or fused"},
    {operators, "start_us", "us", "its first kernel may have places for its WGs"},
    {operators, "place_us", "us", "first WG of any of them has a place on a CU, or a copy engine"},
    {operators, "end_us", "us", "end of its last kernel"},
    {operators, "longest_us", "us", "longest kernel, first WG to end"},
    {operators, "mean_us", "us", "mean over its kernels"},
    {operators, "critical_us", "us",
     "the critical path goes through it for so long; without the launches in between"},
    {operators, "kernels", "", "kernels"},
    {operators, "wgs", "", "logical WGs, or steps of a collective's channels"},
    {operators, "wg_time_us", "us", "WGs at work, summed"},
    {operators, "messages", "", "messages put into the network"},
    {operators, "sent_bytes", "B", "their bytes"},
    {operators, "hbm_bytes", "B", "HBM traffic of its WGs; what NICs and peers move is not in it"},
    {operators, "cu_time_us", "us",
     "CUs with WGs at work, summed; a CU with those of several operators counts for the one that "
     "is done last. All operators together: cu_busy of all CUs"},
    {operators, "exposed_us", "us",
     "a GPU computes nothing and waits for it; mean over GPUs. All together: exposed_comm_us"},

    {links, "mode", "", "grain of overlap"},
    {links, "link", "", "one direction of one cable, or a NIC's port"},
    {links, "class", "", "fabric and dimension or direction: scale_out_x+, nic_send"},
    {links, "bandwidth_bytes_per_s", "B/s", "what payload reaches on it"},
    {links, "bytes", "B", "carried"},
    {links, "messages", "", "carried"},
    {links, "busy_us", "us", "in use"},
    {links, "utilisation", "", "busy_us / time of the run"},
    {links, "queued_us_total", "us", "time messages waited for the link; sum over messages"},
    {links, "queued_us_max", "us", "longest of these waits"},

    {link_classes, "mode", "", "grain of overlap"},
    {link_classes, "class", "", "as of links.csv"},
    {link_classes, "links", "", "of this class"},
    {link_classes, "bytes", "B", "carried by all of them"},
    {link_classes, "messages", "", "carried by all of them"},
    {link_classes, "utilisation", "", "share of the time in use; mean over its links"},
    {link_classes, "utilisation_max", "", "the same of the busiest one"},
    {link_classes, "queued_us_total", "us", "time messages waited for its links; sum over both"},
    {link_classes, "queued_us_max", "us", "longest of these waits"},

    {over_time, "mode", "", "grain of overlap"},
    {over_time, "from_us", "us", "start of the interval; all of a mode are 1, 2, 4 .. ns long"},
    {over_time, "to_us", "us", "its end; the last one ends with the run"},
    {over_time, "cu_busy", "", "share of CU time with at least one WG at work; mean over GPUs"},
    {over_time, "hbm_busy", "",
     "HBM bytes moved, as a share of what `memory.bandwidth` allows; mean over GPUs"},
    {over_time, "links_busy", "", "share of the interval in use; mean over links"},

    {parts, "mode", "", "grain of overlap; the file is written of whole models"},
    {parts, "part", "", "of the model; idle: a GPU has no kernel"},
    {parts, "computing_us", "us", "WGs of it are at work; mean over GPUs"},
    {parts, "exposed_us", "us",
     "a GPU computes nothing and waits for it; of idle, until the run's end. All together: "
     "time_us"},

    {fusions, "pair", "", "operator and collective, in their order; of whole models"},
    {fusions, "pattern", "", "as of workload.fuse"},
    {fusions, "times", "", "in the model, as the GPU that is first in it does it"},
    {fusions, "bulk_us", "us", "one by itself, kernel after kernel; 0: it cannot be fused"},
    {fusions, "chunked_us", "us", "one by itself, kernel-granular"},
    {fusions, "fused_us", "us", "one by itself, fused"},
    {fusions, "wgs_per_cu_bulk", "", "resident WGs of the operator"},
    {fusions, "wgs_per_cu_fused", "", "of the fused kernel, which needs more registers"},
    {fusions, "obstacle", "", "why it cannot be fused; empty where it can"},

    {manifest, "version", "", "of weft"},
    {manifest, "scenario", "", "name of the scenario"},
    {manifest, "scenario_hash", "", "of its resolved values"},
    {manifest, "seed", "", "of every random number"},
    {manifest, "command", "", "gives the same results again"},
    {manifest, "inputs.<index>.path", "",
     "a file the scenario, or its recorded trace, was read from"},
    {manifest, "inputs.<index>.hash", "", "FNV-1a of its bytes, 64 bits"},
    {manifest, "fingerprints.<mode>", "", "hash of the run's history"},

    {files, "files.<name>", "",
     "a file of the result, and the FNV-1a of its bytes, 64 bits; this file is written last"},

    {sweep, "<axis>", "",
     "an axis' value, in the unit that the name ends in: `_us`, `_bytes`, `_gbps` (10^9 bit/s), "
     "`_tflops` (10^12 FLOP/s), `_m_per_s` (10^6/s); else a count, or words"},
    {sweep, "point", "", "hash of the resolved scenario: equal hashes, one run"},
    {sweep, "status", "", "ok or failed"},
    {sweep, "error", "", "why it failed, on one line; it has no results"},
    {sweep, "<mode>_<field>", "",
     "`modes.<mode>.<field>` of summary.json, such as `fused_time_us`; `wait_us.post` is "
     "`fused_wait_post_us`"},
    {sweep, "<mode>_<part>_<field>", "",
     "`modes.<mode>.parts.<part>.<field>`, such as `bulk_mlp_computing_us`"},
    {sweep, "<mode>_vs_<mode>_speedup", "", "of `speedup`, such as `fused_vs_bulk_speedup`"},
    {sweep, "c3_<field>", "", "of `c3`, such as `c3_compute_us`"},
    {sweep, "<mode>_<strategy>", "",
     "`speedup`, `fraction_of_ideal` and `partition_cus` of `c3.strategies.<mode>`"},

    {points, "row", "", "place of the point in the sweep, from 0"},
    {points, "point", "", "hash of the resolved scenario"},
    {points, "version", "", "of weft: results of another version do not count as finished"},
    {points, "status", "", "ok or failed"},
    {points, "axes.<axis>", "", "as in results.csv"},
    {points, "error", "", "why it failed; empty where ok"},
    {points, "exit_code", "", "that `weft run` would end with"},
    {points, "command", "", "gives the same results again"},
    {points, "summary", "", "summary.json of the run; absent where it failed"},
    {points, "checksum", "",
     "of all before it on the line; a line that it does not fit is damaged, and its point run "
     "again"},
});

}  // namespace

const char* file_name(ResultFile file) {
  switch (file) {
    case summary:
      return "summary.json";
    case operators:
      return "operators.csv";
    case links:
      return "links.csv";
    case link_classes:
      return "link_classes.csv";
    case over_time:
      return "over_time.csv";
    case parts:
      return "parts.csv";
    case fusions:
      return "fusions.csv";
    case manifest:
      return "manifest.json";
    case files:
      return kFilesOfResult;
    case sweep:
      return "results.csv";
    case points:
      return "results.jsonl";
  }
  SIM_ASSERT(false);
}

std::span<const Field> fields() { return kFields; }

std::vector<std::string> columns(ResultFile file) {
  std::vector<std::string> names;
  for (const Field& field : kFields) {
    if (field.file == file) names.emplace_back(field.name);
  }
  return names;
}

std::string to_markdown(ResultFile file) {
  std::string text = "| field | unit | meaning |\n|---|---|---|\n";
  for (const Field& field : kFields) {
    if (field.file != file) continue;
    text += fmt::format("| `{}` | {} | {} |\n", field.name, field.unit, field.meaning);
  }
  return text;
}

}  // namespace weft
