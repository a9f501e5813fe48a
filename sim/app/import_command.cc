#include "sim/app/import_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "sim/app/colors.h"
#include "sim/app/exit_code.h"
#include "sim/report/write_files.h"
#include "sim/traces/import_text.h"
#include "sim/traces/load_trace.h"

namespace weft {

int import_command(const ImportCommand& command) {
  const LoadedTrace loaded = load_trace(command.work, command.gpus);
  print_problems(loaded.problems);
  if (!loaded.graph) return exit_code::user;
  fmt::print("{}", to_text(loaded.summary));
  if (command.output) {
    const bool json = command.output->extension() == ".json";
    write_file(*command.output,
               import_text(*loaded.graph, command.gpus, json ? GraphText::json : GraphText::yaml));
  }
  return exit_code::ok;
}

}  // namespace weft
