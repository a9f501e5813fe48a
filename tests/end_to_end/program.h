// Runs the program as a user does, from a shell.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/sanitized.h"

namespace weft {

inline std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Ended {
  int status = -1;  // -1: by a signal
  std::string out;
  std::string err;
  [[nodiscard]] bool says(const std::string& words) const {
    return err.find(words) != std::string::npos;
  }
};

// In this folder. The command writes out.txt and err.txt there.
inline Ended shell_in(const std::filesystem::path& folder, const std::string& command) {
  const int status = std::system(("cd '" + folder.string() + "' && " + command).c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = text_of(folder / "out.txt"),
          .err = text_of(folder / "err.txt")};
}

// `variables` of the environment come before the program: "NO_COLOR=1".
inline Ended weft_in(const std::filesystem::path& folder, const std::string& arguments,
                     const std::string& variables = "") {
  return shell_in(folder, variables + " '" WEFT_BINARY "' " + arguments + " >out.txt 2>err.txt");
}

}  // namespace weft
