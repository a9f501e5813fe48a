#include "sim/app/schema_command.h"

#include <fmt/format.h>

#include "sim/report/catalogue.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/schemas.h"
#include "sim/traces/graph/graph_file.h"

namespace weft {

std::vector<std::string> schema_files() {
  std::vector<std::string> files;
  files.reserve(schema_parts().size());
  for (const SchemaPart& part : schema_parts()) files.emplace_back(part.name);
  files.insert(files.end(), {"sweep", "graph", "results"});
  return files;
}

int schema_command(const SchemaCommand& command) {
  if (command.file == "results") fmt::print("{}", catalogue_json());
  if (command.file == "sweep") fmt::print("{}", sweep_schema());
  if (command.file == "graph") fmt::print("{}", graph_schema());
  for (const SchemaPart& part : schema_parts()) {
    if (part.name == command.file) fmt::print("{}", schema_of(part));
  }
  return exit_code::ok;
}

}  // namespace weft
