#include "sim/serve/service.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/files/read_text.h"
#include "sim/serve/confined.h"
#include "sim/serve/knobs.h"
#include "sim/serve/listing.h"
#include "sim/serve/token.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kPlain = "text/plain; charset=utf-8";

// Nothing from elsewhere, and nowhere else shown. Reports have a rule of their own in the page.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
constexpr const char* kReportPolicy =
    "frame-ancestors 'self'; sandbox allow-scripts "
    "allow-downloads";

struct PageFile {
  const char* path;
  const char* file;
  const char* type;
};
constexpr const char* kCss = "text/css; charset=utf-8";
constexpr const char* kScript = "text/javascript; charset=utf-8";
constexpr auto kPageFiles = std::to_array<PageFile>({
    {"/", "serve.html", kHtml},
    {"/serve.css", "serve.css", kCss},
    {"/serve.js", "serve.js", kScript},
    {"/serve_knobs.js", "serve_knobs.js", kScript},
    {"/serve_data.js", "serve_data.js", kScript},
    {"/serve_layout.js", "serve_layout.js", kScript},
    {"/serve_cluster.js", "serve_cluster.js", kScript},
    {"/serve_lanes.js", "serve_lanes.js", kScript},
    {"/serve_timeline.js", "serve_timeline.js", kScript},
});

HttpResponse json_response(const ServedJson& json, int status = 200) {
  return {.status = status,
          .body = json.dump(-1, ' ', false, ServedJson::error_handler_t::replace)};
}

HttpResponse refusal(int status, const std::string& why) {
  return {.status = status, .type = kPlain, .body = why + "\n"};
}

// Whether a file of a folder is a link that leaves the served one.
bool has_file_elsewhere(const fs::path& served, const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (!path_within(served, at->path().lexically_relative(served).string())) return true;
  }
  return false;
}

HttpResponse not_here() { return refusal(404, "there is no such thing in the served folder"); }

}  // namespace

Service::Service(ServeSettings settings)
    : settings_(std::move(settings)), runner_(settings_.served, settings_.cores, settings_.known) {}

// Browsers give cookies of a host to all of its ports.
std::string Service::cookie_name() const { return fmt::format("weft_{}", settings_.port); }

HttpResponse Service::answer(const HttpRequest& request) {
  HttpResponse response;
  try {
    const auto target = parse_target(request.target);
    if (!is_own_host(request.host, settings_.address, settings_.port)) {
      response = refusal(403,
                         "the request is for another host; open the address that weft "
                         "serve has printed");
    } else if (!target) {
      response = refusal(400, "the address is not one: a % without two hexadecimal digits");
    } else {
      response = answer_known(request, *target);
    }
  } catch (const std::exception& error) {
    response = refusal(500, error.what());
  }
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

HttpResponse Service::answer_known(const HttpRequest& request, const HttpTarget& target) {
  const bool by_query = same_token(target.value("token"), settings_.token);
  if (!by_query && !same_token(cookie_named(request.cookie, cookie_name()), settings_.token)) {
    return refusal(403,
                   "the token is missing or wrong; open the address that weft serve has "
                   "printed");
  }
  HttpResponse response;
  if (request.method == "GET") {
    response = get(target);
  } else if (request.method == "POST") {
    response = post(request, target);
  } else {
    response = refusal(405, "only GET and POST");
    response.headers.emplace_back("Allow", "GET, POST");
  }
  if (by_query) {
    response.headers.emplace_back(
        "Set-Cookie",
        fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), settings_.token));
  }
  return response;
}

HttpResponse Service::get(const HttpTarget& target) const {
  for (const PageFile& file : kPageFiles) {
    if (target.path == file.path) return page_file(file.file, file.type);
  }
  if (target.path == "/api/list") return json_response(listing(settings_.served));
  if (target.path == "/api/keys") return json_response(knobs());
  if (target.path == "/api/status") return json_response(runner_.status());
  if (target.path == "/api/scenario") return scenario(target);
  if (target.path == "/file") return result_file(target);
  if (target.path == "/report") return report(target);
  return not_here();
}

HttpResponse Service::post(const HttpRequest& request, const HttpTarget& target) {
  // Cookies go to all ports of a host, so pages of another port come with ours.
  if (!request.origin.empty() && request.origin != "http://" + request.host) {
    return refusal(403, "the request is from another page than weft serve's");
  }
  if (target.path == "/api/stop") {
    runner_.stop();
    return json_response(runner_.status());
  }
  if (target.path != "/api/run") return not_here();
  const ParsedRun parsed = parse_run(settings_.served, request.body);
  if (!parsed.asked) return refusal(400, parsed.wrong);
  if (!runner_.start(*parsed.asked)) return refusal(409, "another run is going on");
  return json_response(runner_.status(), 202);
}

HttpResponse Service::page_file(const std::string& name, const std::string& type) const {
  for (const fs::path& folder : settings_.page_dirs) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) continue;
    ReadText read = read_text(folder / name);
    if (!read.text) {
      return refusal(500, fmt::format("{}: {}", (folder / name).string(), read.problem));
    }
    return {.type = type,
            .body = *std::move(read.text),
            .headers = {{"Content-Security-Policy", kPagePolicy}}};
  }
  return refusal(500, "weft's html folder is not where it was installed");
}

// A run's file as it is; what is packed is unpacked by the browser.
HttpResponse Service::result_file(const HttpTarget& target) const {
  const std::string name = target.value("name");
  if (!is_servable(name) || !is_run(settings_.served.folder, target.value("of"))) return not_here();
  const auto file = path_within(settings_.served.folder, target.value("of") + "/" + name);
  if (!file) return not_here();
  ReadText read = read_text(*file);
  if (!read.text) return refusal(500, fmt::format("{}: {}", name, read.problem));
  const bool packed = name.ends_with(".gz");
  HttpResponse response{.type = packed || name.ends_with(".json") ? "application/json" : kPlain,
                        .body = *std::move(read.text)};
  if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

HttpResponse Service::report(const HttpTarget& target) const {
  std::vector<fs::path> folders;
  for (const std::string& name : target.values("of")) {
    // As it is named within the folder: links are followed, and names of runs are those shown.
    if (!path_within(settings_.served.folder, name)) return not_here();
    if (has_file_elsewhere(settings_.served.folder, settings_.served.folder / name)) {
      return not_here();
    }
    folders.push_back(settings_.served.folder / name);
  }
  if (folders.empty()) return refusal(400, "of: name at least one result");
  Diagnostics problems;
  std::string html = settings_.report(folders, problems);
  if (problems.has_errors()) return refusal(422, problems.to_text());
  return {.type = kHtml,
          .body = std::move(html),
          .headers = {{"Content-Security-Policy", kReportPolicy}}};
}

HttpResponse Service::scenario(const HttpTarget& target) const {
  const auto source = source_of(settings_.served, target.value("from"), target.value("of"));
  if (!source) return not_here();
  return json_response(scenario_json(settings_.served, *source));
}

}  // namespace weft
