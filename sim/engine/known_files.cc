#include "sim/engine/known_files.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <utility>

#include "sim/core/fingerprint.h"
#include "sim/core/packing.h"

namespace weft {
namespace {

constexpr const char* kEnding = ".run";
constexpr std::string_view kFirstLine = "weft known run\n";
constexpr std::uint32_t kFormat = 1;  // of what surrounds the value; the value is the program's

// Other programs' files have other names, so that two of them in one folder do not replace each
// other's in turn.
std::string name_of_file(const RunKey& key, const std::string& program) {
  Digest name;
  name.add_all(key, program);
  return fmt::format("{:016x}{:016x}", name.value().high, name.value().low);
}

std::string file_text(const RunKey& key, const std::string& program, std::string_view value) {
  Packer packer;
  packer(kFirstLine, kFormat, program, key.low, key.high, value);
  std::string text = packer.take();
  Packer sum;
  sum(fnv1a(text));
  return text + sum.take();
}

// Its value, if it is whole and what was asked for.
std::optional<std::string> value_in(std::string_view text, const RunKey& key,
                                    const std::string& program) {
  std::string first_line;
  std::uint32_t format = 0;
  std::string writer;
  RunKey of;
  std::string value;
  std::uint64_t sum = 0;
  Unpacker file(text);
  file(first_line, format);
  if (first_line != kFirstLine || format != kFormat) return std::nullopt;
  file(writer, of.low, of.high, value);
  const std::string_view before = text.substr(0, text.size() - file.left());
  file(sum);
  const bool right = file.is_done() && sum == fnv1a(before) && of == key && writer == program;
  return right ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

KnownFiles::KnownFiles(KnownFolder where)
    : where_(std::move(where)), files_(where_.folder, kEnding, where_.most) {}

std::optional<std::string> KnownFiles::find(const RunKey& key) const {
  const std::optional<std::string> text = files_.read(name_of_file(key, where_.program));
  return text ? value_in(*text, key, where_.program) : std::nullopt;
}

void KnownFiles::put(const RunKey& key, std::string_view value) {
  if (failed_) return;
  try {
    files_.write(name_of_file(key, where_.program), file_text(key, where_.program, value));
  } catch (const std::exception& error) {
    if (failed_.exchange(true) || !where_.warning) return;
    where_.warning(fmt::format("{}; what is simulated from now on is not kept for other processes",
                               error.what()));
  }
}

void KnownFiles::remove(const std::filesystem::path& folder) {
  SharedFolder::remove(folder, kEnding);
}

}  // namespace weft
