// `weft schema`: what an editor needs to complete and check files.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct SchemaCommand {
  std::string file = "scenario";
};

std::vector<std::string> schema_files();  // the words it may be

int schema_command(const SchemaCommand& command);  // returns the exit code

}  // namespace weft
