// Between the parser of the command line and what is said about it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sim/app/command_doc.h"

namespace weft {

// Without what is hidden.
CommandDoc describe(const CLI::App& app);

// Accepts digits only.
CLI::Validator whole_number();

// No option of the command that is a path may be empty.
void expect_paths(CLI::App& command);

// Accepts only these words.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace weft
