// The scenario that a command line names: a file, or `-`, the standard input.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/load.h"

namespace weft {

struct GivenScenario {
  std::string name;                          // in messages: the file, or <stdin>
  std::vector<std::filesystem::path> reads;  // what no output may overwrite
  Loaded loaded;
};

// Of the standard input, names of bases and files start from the current folder.
GivenScenario load_given(const std::filesystem::path& given, const std::vector<std::string>& sets);

}  // namespace weft
