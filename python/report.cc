#include "python/report.h"

#include <optional>
#include <string>
#include <utility>

#include "sim/html/assets.h"
#include "sim/html/run_page.h"
#include "sim/html/sweep_page.h"
#include "sim/html/to_html.h"

namespace weft {
namespace {

enum class Of { run, sweep };

struct Paged {
  Problems problems;
  std::string html;  // none with errors
};

Paged page_of(const fs::path& folder, Of of, const Folders& page, const Folders& vega) {
  Diagnostics problems;
  const Page made =
      of == Of::run ? run_page(folder, problems) : sweep_page(folder, std::nullopt, problems);
  const Assets assets = load_assets({.page = page, .vega = vega}, problems);
  Paged paged{.problems = told(problems), .html = ""};
  if (!problems.has_errors()) paged.html = to_html(made, assets);
  return paged;
}

}  // namespace

void add_report(py::module_& module) {
  module.attr("source_html") = WEFT_SOURCE_HTML;
  module.attr("vega") = WEFT_VEGA;
  py::class_<Paged>(module, "Paged")
      .def_readonly("problems", &Paged::problems)
      .def_readonly("html", &Paged::html);
  module.def(
      "page",
      [](const fs::path& folder, bool of_sweep, const Folders& page, const Folders& vega) {
        return page_of(folder, of_sweep ? Of::sweep : Of::run, page, vega);
      },
      py::arg("folder"), py::arg("of_sweep"), py::arg("page"), py::arg("vega"), Released());
}

}  // namespace weft
