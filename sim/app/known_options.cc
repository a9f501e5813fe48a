#include "sim/app/known_options.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "sim/files/program_id.h"
#include "sim/spec/units.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kLeastKnown = mebibytes(1);
constexpr const char* kNowhere = "none";

std::string is_known_size(const std::string& text) {
  const Parsed<Bytes> size = parse_bytes(text);
  if (!size.ok()) return fmt::format("{}: {}", text, size.problem);
  if (size.value < kLeastKnown) return fmt::format("{}: at least {}", text, to_text(kLeastKnown));
  return "";
}

}  // namespace

void add_known(CLI::App& command, KnownOptions& options, const std::string& by_default) {
  command
      .add_option("--known", options.folder,
                  "Keep what is simulated in this folder, and take from there what is known: the "
                  "results are the same (docs/sweeps.md). none: in none. Default: WEFT_KNOWN of "
                  "the environment, or " +
                      by_default)
      ->type_name("DIR");
  command
      .add_option_function<std::string>(
          "--known-most",
          [&options](const std::string& text) { options.most = parse_bytes(text).value; },
          "Most bytes in that folder; the oldest give way. Default: 1 GiB")
      ->type_name("SIZE")
      ->check(is_known_size);
}

std::optional<fs::path> known_folder(const KnownOptions& options,
                                     const std::optional<fs::path>& otherwise) {
  std::string folder = options.folder;
  if (const char* everywhere = std::getenv("WEFT_KNOWN"); folder.empty() && everywhere != nullptr) {
    folder = everywhere;
  }
  if (folder.empty()) return otherwise;
  return folder == kNowhere ? std::nullopt : std::optional<fs::path>(folder);
}

std::unique_ptr<KnownRuns> known_runs(const KnownOptions& options,
                                      const std::optional<fs::path>& folder) {
  if (!folder) return std::make_unique<KnownRuns>();
  return std::make_unique<KnownRuns>(
      KnownRuns::kInMemory,
      KnownFolder{.folder = *folder,
                  .most = options.most,
                  .program = program_id(),
                  .warning = [](const std::string& text) { spdlog::warn("{}", text); }});
}

std::vector<std::string> known_arguments(const KnownOptions& options,
                                         const std::optional<fs::path>& folder) {
  if (!folder) return {"--known", kNowhere};
  return {"--known", fs::absolute(*folder).string(), "--known-most", to_text(options.most)};
}

}  // namespace weft
