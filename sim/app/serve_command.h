// `weft serve`: a page that shows the results of a folder and runs scenarios again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/app/known_options.h"

namespace weft {

struct ServeCommand {
  std::filesystem::path folder = ".";
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  int jobs = 0;            // 0: as many as there are cores
  KnownOptions known = {};
};

int serve_command(const ServeCommand& command);

}  // namespace weft
