#include "sim/scenario/wrong_file.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace weft {
namespace {

struct Use {
  const char* what;
  const char* command;
};

Use use_of(FileKind kind) {
  switch (kind) {
    case FileKind::scenario:
      return {"a scenario", "run"};
    case FileKind::sweep:
      return {"a sweep file", "sweep"};
    case FileKind::cache_application:
      return {"an application for caches", "cache"};
    case FileKind::unknown:
      break;
  }
  return {"", ""};
}

}  // namespace

Diagnostics or_its_command(const Diagnostics& problems, const std::filesystem::path& file,
                           FileKind takes) {
  if (!problems.has_errors()) return problems;
  const FileKind kind = kind_of_file(file);
  if (kind == takes || kind == FileKind::unknown) return problems;
  const auto [what, command] = use_of(kind);
  const std::string name = file.generic_string();
  Diagnostic problem;  // gcc 12 warns wrongly about designated initialisers of strings here
  problem.at.file = name;
  problem.message = fmt::format("this is {}; run it with: weft {} {}", what, command, name);
  Diagnostics wrong;
  wrong.add(std::move(problem));
  return wrong;
}

}  // namespace weft
