#include "sim/files/partial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <optional>
#include <string_view>

#include "sim/files/checksum.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

// Containers on one machine have names and process numbers of their own.
std::string host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return checksum_of("");
  return checksum_of(name.data());
}

std::optional<long> number_of(std::string_view text) {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// The last part of "a.b.c", which goes.
std::string_view take_last(std::string_view& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view last = name.substr(dot + 1);
  name = name.substr(0, dot);
  return last;
}

bool is_dead(long process) {
  if (process == getpid()) return true;  // of an earlier process with the same number
  return process > 0 && kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

std::optional<std::string> name_if_dead(std::string_view file, std::string_view here) {
  if (!file.ends_with(kPartial)) return std::nullopt;
  file.remove_suffix(kPartial.size());
  const std::optional<long> process = number_of(take_last(file));
  if (!process || !is_dead(*process)) return std::nullopt;
  // What wefts before this one wrote has no host.
  std::string_view name = file;
  const std::string_view writer = take_last(name);
  const std::size_t dash = writer.find('-');
  const bool has_host = dash == here.size() && number_of(writer.substr(dash + 1));
  if (!has_host) return std::string(file);
  if (!writer.starts_with(here)) return std::nullopt;
  return std::string(name);
}

}  // namespace

fs::path partial_name(const fs::path& file, int number) {
  return fmt::format("{}.{}-{}.{}{}", file.string(), host(), number, getpid(), kPartial);
}

std::vector<DeadPartial> dead_partials(const fs::path& folder) {
  std::vector<DeadPartial> dead;
  const std::string here = host();
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (auto name = name_if_dead(it->path().filename().string(), here)) {
      dead.push_back({.file = it->path(), .name = *std::move(name)});
    }
  }
  return dead;
}

}  // namespace weft
