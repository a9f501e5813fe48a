// Where the path of an output leads, and whether outputs are in each other's way or in that of what
// is read: all of it before anything is simulated.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {

// Links are followed. A file is replaced as a whole; what is none (a device, a pipe, an open
// descriptor such as /dev/stdout) is written to.
struct Place {
  enum class Kind { fresh, regular, stream };
  std::filesystem::path asked;
  std::filesystem::path file;
  Kind kind = Kind::fresh;
  mode_t mode = 0;  // of the file that is replaced, and whose it is
  uid_t user = 0;
  gid_t group = 0;
  int descriptor = -1;        // of this process, where the path is one's name
  std::string identity = {};  // equal: one file; empty: a stream, which several may write to
};

// The folder that a file is in: "." where its path names none.
std::filesystem::path folder_of(const std::filesystem::path& file);

// Throws if nothing could be written: a folder, a cycle of links.
Place place_of(const std::filesystem::path& path);

// Files that a command writes, each by the option that asks for it.
struct PlannedOutput {
  std::string option;  // "--csv"
  std::filesystem::path file;
};
struct Planned {
  std::vector<std::filesystem::path> reads;
  std::vector<std::filesystem::path> folders;  // that are to hold results
  std::vector<PlannedOutput> writes;

  void write(const std::string& option, const std::filesystem::path& file);
  void write(const std::string& option, const std::filesystem::path& folder,
             const std::vector<std::string>& names);
};

// A problem for every output that would overwrite what is read, or another one. Without problems:
// throws where writing is bound to fail.
Diagnostics check(const Planned& planned);

// Throws, with the path as the user wrote it.
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error_number);

}  // namespace weft
