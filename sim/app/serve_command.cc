#include "sim/app/serve_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/app/config_dirs.h"
#include "sim/app/jobs.h"
#include "sim/app/report_page.h"
#include "sim/html/to_html.h"
#include "sim/run/exit_code.h"
#include "sim/serve/http_server.h"
#include "sim/serve/listing.h"
#include "sim/serve/service.h"
#include "sim/serve/token.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string report_html(const std::vector<fs::path>& folders, Diagnostics& problems) {
  const Page page = report_page(folders, problems);
  const Assets assets = load_assets({.page = html_dirs(), .vega = vega_dirs()}, problems);
  return problems.has_errors() ? "" : to_html(page, assets);
}

// Nothing: it was said why.
std::optional<fs::path> served_folder(const fs::path& asked) {
  std::error_code failed;
  fs::path folder = fs::canonical(asked, failed);
  if (!failed && !fs::is_directory(folder, failed) && !failed) {
    failed = std::make_error_code(std::errc::not_a_directory);
  }
  if (!failed && holds_a_result(folder)) {
    spdlog::error("{}: is a result itself; name the folder that holds it", asked.string());
    return std::nullopt;
  }
  if (!failed) return folder;
  spdlog::error("{}: cannot be served: {}; name a folder", asked.string(), failed.message());
  return std::nullopt;
}

std::unique_ptr<HttpServer> listening(const ServeCommand& command) {
  try {
    return std::make_unique<HttpServer>(command.address, command.port);
  } catch (const std::invalid_argument& error) {
    spdlog::error("--address {}: {}", command.address, error.what());
  } catch (const std::system_error& error) {
    spdlog::error("cannot listen at {}: {}; choose another --port, or 0 for a free one",
                  host_text(command.address, command.port), error.code().message());
  }
  return nullptr;
}

}  // namespace

int serve_command(const ServeCommand& command) {
  const std::optional<fs::path> folder = served_folder(command.folder);
  if (!folder) return exit_code::user;
  const std::unique_ptr<HttpServer> server = listening(command);
  if (!server) return exit_code::user;
  const std::string token = new_token();
  const std::unique_ptr<KnownRuns> known = known_runs(command.known, known_folder(command.known));
  Service service(
      {.served = {.folder = *folder,
                  .config_dirs = [](const fs::path& file) { return config_dirs(file); }},
       .address = command.address,
       .port = server->port(),
       .token = token,
       .page_dirs = html_dirs(),
       .report = report_html,
       .cores = jobs_or_cores(command.jobs),
       .known = known.get()});
  fmt::print("http://{}/?token={}\n", host_text(command.address, server->port()), token);
  std::fflush(stdout);
  spdlog::info("serving {}; Ctrl-C ends it", folder->string());
  server->serve([&service](const HttpRequest& request) { return service.answer(request); });
  return exit_code::ok;
}

}  // namespace weft
