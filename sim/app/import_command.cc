#include "sim/app/import_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "sim/app/colors.h"
#include "sim/app/planned.h"
#include "sim/files/staged.h"
#include "sim/run/exit_code.h"
#include "sim/run/memory.h"
#include "sim/traces/import_text.h"
#include "sim/traces/load_trace.h"

namespace weft {

int import_command(const ImportCommand& command) {
  const std::int64_t machine = machine_memory_bytes();
  const Bytes memory = machine > 0 ? std::min(kTraceMemory, bytes(machine)) : kTraceMemory;
  const LoadedTrace loaded = load_trace(command.work, command.gpus, memory);
  print_problems(loaded.problems);
  if (!loaded.graph) return exit_code::user;
  Planned planned;
  for (const InputFile& input : loaded.inputs) planned.reads.emplace_back(input.path);
  planned.reads.emplace_back(command.work.path + ".files.json");  // an export's own list
  if (command.output) planned.write("--output", *command.output);
  if (refused(planned)) return exit_code::user;
  print_text(to_text(loaded.summary));
  if (command.output) {
    const RecordedRun recording{.device = loaded.summary.device, .step = loaded.summary.step};
    write_file(*command.output,
               import_text(*loaded.graph, command.gpus, form_of(*command.output), recording));
  }
  return exit_code::ok;
}

}  // namespace weft
