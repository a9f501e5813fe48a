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

// Of what messages call `name`; `file` is what its command is to be given.
Diagnostics only_its_command(const std::string& name, FileKind kind, const std::string& file) {
  const auto [what, command] = use_of(kind);
  Diagnostic problem;  // gcc 12 warns wrongly about designated initialisers of strings here
  problem.at.file = name;
  problem.message = fmt::format("this is {}; run it with: weft {} {}", what, command, file);
  Diagnostics wrong;
  wrong.add(std::move(problem));
  return wrong;
}

bool is_another(FileKind kind, FileKind takes) {
  return kind != takes && kind != FileKind::unknown;
}

}  // namespace

Diagnostics or_its_command(const Diagnostics& problems, const std::filesystem::path& file,
                           FileKind takes) {
  if (!problems.has_errors()) return problems;
  const FileKind kind = kind_of_file(file);
  const std::string name = file.generic_string();
  return is_another(kind, takes) ? only_its_command(name, kind, name) : problems;
}

Diagnostics or_its_command(const Diagnostics& problems, std::string_view text,
                           const std::string& name, FileKind takes) {
  if (!problems.has_errors()) return problems;
  const FileKind kind = kind_of_text(text);
  return is_another(kind, takes) ? only_its_command(name, kind, "FILE") : problems;
}

}  // namespace weft
