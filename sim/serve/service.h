// `weft serve` without its socket: a request in, a response out.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/serve/http_message.h"
#include "sim/serve/runner.h"

namespace weft {

struct ServeSettings {
  ServedFolder served;
  std::string address;
  unsigned port = 0;
  std::string token;
  std::vector<std::filesystem::path> page_dirs;  // the first that is there has the page's files
  // The page of one result, or of several runs side by side; not to be used if there are problems.
  std::function<std::string(const std::vector<std::filesystem::path>&, Diagnostics&)> report;
  int cores = 1;               // of a run
  KnownRuns* known = nullptr;  // for runs to ask and to add to; has to outlive the service
};

class Service {
 public:
  explicit Service(ServeSettings settings);

  // Requests may come from several threads. What fails is a response as well.
  HttpResponse answer(const HttpRequest& request);
  void stop() { runner_.stop(); }

 private:
  [[nodiscard]] HttpResponse answer_known(const HttpRequest& request, const HttpTarget& target);
  [[nodiscard]] HttpResponse get(const HttpTarget& target) const;
  [[nodiscard]] HttpResponse post(const HttpRequest& request, const HttpTarget& target);
  [[nodiscard]] HttpResponse page_file(const std::string& name, const std::string& type) const;
  [[nodiscard]] HttpResponse result_file(const HttpTarget& target) const;
  [[nodiscard]] HttpResponse report(const HttpTarget& target) const;
  [[nodiscard]] HttpResponse scenario(const HttpTarget& target) const;
  [[nodiscard]] std::string cookie_name() const;

  ServeSettings settings_;
  Runner runner_;
};

}  // namespace weft
