// What is wrong with a command line, in the words of weft's other messages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weft {

// The word in the place of a command, if it is not one; otherwise nothing.
std::vector<std::string> unknown_command(const CLI::App& app);

// One message per mistake: "run: unknown option '--mod'; did you mean '--mode'?". `app` has failed
// to parse with `error`.
std::vector<std::string> mistakes_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft
