#include "sim/app/trace_command_line.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/app/command_app.h"

namespace weft {
namespace {

constexpr const char* kImportExample =
    "examples: what 'weft export' wrote; a PyTorch recording; one rank's trace for all\n"
    "  weft import chakra traces/mixtral --gpus 8 -o mixtral.yaml\n"
    "  weft import pytorch kineto --execution-traces et --gpus 8 -o dlrm.json\n"
    "  weft import chakra traces/mixtral --gpus 8 --one-for-all --comm-size-unit bytes\n"
    "\n"
    "The graph is read back by a scenario with workload: {kind: graph, path: mixtral.yaml}.\n"
    "Prints what the trace contains, and which choices were made where trace writers differ.\n"
    "exit status: 0 done; 1 a mistake in the trace or on the command line; 2 the system failed\n"
    "(cannot write or allocate)\n";

constexpr const char* kExportExample =
    "examples: a model of weft for ASTRA-sim; the same to edit and run with kind: graph\n"
    "  weft export configs/scenarios/models/mixtral_decode.yaml --chakra traces/mixtral\n"
    "  weft export configs/scenarios/models/mixtral_decode.yaml --graph mixtral.yaml\n"
    "\n"
    "Compute nodes take their roofline time. PREFIX.groups.json contains the process groups, if\n"
    "not every collective involves all GPUs: ASTRA-sim's communicator group file, which weft "
    "finds\n"
    "beside the trace when it reads it again.\n";

// A choice by its word; what is not given stays open.
template <class E>
void add_choice(CLI::App& app, const char* option, std::optional<E>& value,
                const std::map<std::string, E>& words, const char* help) {
  std::vector<std::string> names;
  names.reserve(words.size());
  for (const auto& [name, meaning] : words) names.push_back(name);
  app.add_option_function<std::string>(
         option, [&value, words](const std::string& word) { value = words.at(word); }, help)
      ->type_name("WORD")
      ->check(one_of(names));
}

}  // namespace

CLI::App* add_import(CLI::App& app, ImportCommand& command) {
  CLI::App* import =
      app.add_subcommand("import", "Turn a recorded trace into a graph to read, edit and run.");
  import->footer(kImportExample);
  std::map<std::string, WorkloadKind> formats;
  std::vector<std::string> words;
  std::string files;
  for (const KindRow& row : kKindRows) {
    if (row.family != Family::trace) continue;
    formats.emplace(row.name, row.kind);
    words.emplace_back(row.name);
    files += fmt::format("{}{}: {}", files.empty() ? "" : "; ", row.name, row.files);
  }
  TraceWork& work = command.work;
  import
      ->add_option_function<std::string>(
          "KIND", [&work, formats](const std::string& word) { work.format = formats.at(word); },
          "Format of the trace")
      ->type_name("KIND")
      ->required()
      ->check(one_of(words));
  import->add_option("PATH", work.path, files)->type_name("PATH")->required();
  import->add_option("--gpus", command.gpus, "Number of GPUs, one per rank")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(1, 1'048'576));
  import
      ->add_option("-o,--output", command.output,
                   "Write the graph to this file: JSON if it ends in .json, otherwise YAML")
      ->type_name("FILE");
  import
      ->add_option("--execution-traces", work.execution_traces,
                   "pytorch: folder of PyTorch execution traces, if the profiles lack sizes")
      ->type_name("DIR");
  CLI::Option* step = import->add_option(
      "--step", work.step, "pytorch, nsys, rocprof: only what this step (ProfilerStep#N) launched");
  step->type_name("N");
  import
      ->add_option("--last-step", work.last_step,
                   "pytorch, nsys, rocprof: and the steps behind it, up to this one")
      ->type_name("N")
      ->needs(step);
  CLI::Option* mean = import->add_flag_callback(
      "--mean-step", [&work] { work.steps = StepsAs::mean; },
      "pytorch, nsys, rocprof: the mean of these steps, or of all, which must be alike");
  import
      ->add_flag_callback(
          "--host", [&work] { work.host = HostTime::recorded; },
          "pytorch, nsys, rocprof: keep the host's own time, between launches")
      ->excludes(mean);
  import
      ->add_option(
          "--collective-sizes", work.collective_sizes,
          "nsys, rocprof: file of a line such as 'all_reduce 64 MiB' for each collective whose "
          "size the profile lacks")
      ->type_name("FILE");
  import
      ->add_option("--groups", work.groups,
                   "chakra: JSON file of process groups, such as {\"1\": [0, 1]}; default: "
                   "PATH.groups.json, if it is there")
      ->type_name("FILE");
  import->add_flag("--one-for-all", work.one_for_all, "Use rank 0's trace for all GPUs");
  import->add_flag("--find-blocks", work.find_blocks,
                   "Find what GPUs have alike, and what recurs on them, to simulate it once");
  import
      ->add_option("--element-bytes", work.element_bytes,
                   "Bytes per element, if sizes count elements; nsys, rocprof: of shapes in ranges")
      ->type_name("N")
      ->check(CLI::Range(1, 16));
  add_choice<CommSizeUnit>(*import, "--comm-size-unit", work.comm_size_unit,
                           {{"bytes", CommSizeUnit::bytes}, {"elements", CommSizeUnit::elements}},
                           "What comm_size counts");
  add_choice<AllGatherSize>(
      *import, "--allgather-size-is", work.allgather_size_is,
      {{"per_rank", AllGatherSize::per_rank}, {"total", AllGatherSize::total}},
      "Whether an all-gather's size is what a rank contributes, or the total");
  add_choice<CpuOps>(*import, "--cpu-ops", work.cpu_ops,
                     {{"drop", CpuOps::drop}, {"run", CpuOps::run}},
                     "Whether CPU operators take their recorded time");
  add_choice<WaitFor>(*import, "--waits-for", work.waits_for,
                      {{"data", WaitFor::data},
                       {"blocking_collectives", WaitFor::blocking_collectives},
                       {"data_and_control", WaitFor::data_and_control}},
                      "Which dependencies count");
  return import;
}

CLI::App* add_export(CLI::App& app, ExportCommand& command) {
  CLI::App* exports = app.add_subcommand(
      "export", "Write a scenario's model as Chakra execution traces, or as a graph.");
  exports->footer(kExportExample);
  exports->add_option("SCENARIO", command.scenario, "YAML file whose workload is a whole model")
      ->type_name("FILE")
      ->required();
  exports->add_option("--set", command.sets, "Change one value (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  exports->add_option("--chakra", command.chakra, "Write PREFIX.0.et, PREFIX.1.et ..., one per GPU")
      ->type_name("PREFIX");
  exports
      ->add_option("--graph", command.graph,
                   "Write a graph to this file: JSON if it ends in .json, otherwise YAML")
      ->type_name("FILE");
  return exports;
}

}  // namespace weft
