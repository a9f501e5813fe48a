#include "sim/html/to_html.h"

#include <fmt/format.h>

#include "sim/core/plural.h"
#include "sim/report/catalogue.h"
#include "sim/report/mode_fields.h"

namespace weft {
namespace {

// Nothing is fetched, whatever a file of results holds. Vega compiles its expressions.
constexpr const char* kPolicy =
    "default-src 'none'; img-src data:; script-src 'unsafe-inline' 'unsafe-eval'; style-src "
    "'unsafe-inline'";

JsonValue to_json(const PageTable& table) {
  JsonValue columns = JsonValue::array();
  for (const PageColumn& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"title", column.title},
                       {"as", name_of(column.as)},
                       {"unit", column.unit}});
  }
  return {{"columns", columns}, {"rows", table.rows}};
}

JsonValue to_json(const Chart& chart) {
  JsonValue roles = JsonValue::array();
  for (const Role& role : chart.roles) {
    roles.push_back({{"name", role.name},
                     {"label", role.label},
                     {"choices", role.choices},
                     {"chosen", role.chosen}});
  }
  return {{"id", chart.id},         {"title", chart.title}, {"spec", chart.kind},
          {"table", chart.table},   {"roles", roles},       {"slice", chart.slice},
          {"within", chart.within}, {"label", chart.label}, {"labelled", kTimeField},
          {"steps", chart.steps}};
}

JsonValue data_of(const Page& page, const Assets& assets) {
  JsonValue charts = JsonValue::array();
  for (const Chart& chart : page.charts) {
    if (!chart.table.empty()) charts.push_back(to_json(chart));
  }
  JsonValue tables = JsonValue::object();
  for (const PageTable& table : page.tables) tables[table.name] = to_json(table);
  return {
      {"charts", charts}, {"tables", tables}, {"specs", assets.kinds}, {"catalogue", catalogue()}};
}

std::string chart_html(const Chart& chart) {
  std::string html = fmt::format(
      "<section id=\"{}\" aria-labelledby=\"{}-title\">\n<h2 "
      "id=\"{}-title\">{}</h2>\n",
      chart.id, chart.id, chart.id, escaped(chart.title));
  if (chart.table.empty()) {
    return html + fmt::format("<p class=\"absent\">{}</p>\n</section>\n", escaped(chart.text));
  }
  if (!chart.text.empty()) html += fmt::format("<p>{}</p>\n", escaped(chart.text));
  return html + fmt::format(R"(<div class="controls"></div>
<div class="chart"></div>
<details><summary>The drawn values as a table</summary>
<div class="table" tabindex="0" role="region" aria-label="{0}: table"></div></details>
<button class="download" type="button" aria-label="{0}: download CSV">Download CSV</button>
</section>
)",
                            escaped(chart.title));
}

std::string row_html(const std::vector<std::string>& cells, std::size_t words) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    html += fmt::format("<td{}>{}</td>", i < words ? "" : " class=\"number\"", escaped(cells[i]));
  }
  return html + "</tr>\n";
}

std::string text_table_html(const TextTable& table) {
  const std::string title = escaped(table.title);
  std::string html = fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
      table.id, title);
  if (table.rows.empty()) {
    return html + fmt::format("<p class=\"absent\">{}</p>\n</section>\n", escaped(table.text));
  }
  html += fmt::format(
      "<p>{}</p>\n<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{}: table\">"
      "<table>\n<thead><tr>",
      escaped(table.text), title);
  for (const std::string& column : table.columns) {
    html += fmt::format("<th scope=\"col\">{}</th>", escaped(column));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) html += row_html(row, table.words);
  return html + "</tbody></table></div>\n</section>\n";
}

std::string facts_html(const Page& page) {
  std::string html = "<dl>\n";
  for (const auto& [label, text] : page.facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(label), escaped(text));
  }
  if (!page.command.empty()) {
    html += fmt::format("<dt>reproduce with</dt><dd><code>{}</code></dd>\n", escaped(page.command));
  }
  html += "</dl>\n";
  if (!page.note.empty()) {
    html += fmt::format("<p class=\"note\" role=\"note\">{}</p>\n", escaped(page.note));
  }
  if (!page.sentences.empty()) {
    html += "<div class=\"why\">\n";
    for (const std::string& one : page.sentences) html += fmt::format("<p>{}</p>\n", escaped(one));
    html += "</div>\n";
  }
  if (!page.failed.empty()) {
    html += fmt::format("<details><summary>{} {} failed</summary>\n<ul>\n", page.failed.size(),
                        plural(page.failed.size(), "point has", "points have"));
    for (const std::string& one : page.failed) html += fmt::format("<li>{}</li>\n", escaped(one));
    html += "</ul></details>\n";
  }
  return html;
}

std::string contents_html(const Page& page) {
  std::string html = "<nav aria-label=\"Charts\"><ul>\n";
  const auto add = [&html](const auto& section) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title));
  };
  for (const TextTable& table : page.texts) add(table);
  for (const Chart& chart : page.charts) add(chart);
  return html + "</ul></nav>\n";
}

std::string scripts_html(const Page& page, const Assets& assets) {
  std::string html = fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<!--\n{}-->\n<script>\n{}",
      in_script(data_of(page, assets)), assets.licences, assets.modules);
  for (const auto& [module, text] : assets.libraries) {
    html += fmt::format("weftModules['{}'] = function (module, exports, require) {{\n", module) +
            text + "\n};\n";
  }
  return html + "</script>\n<script>\n" + assets.page + "</script>\n";
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string in_script(const JsonValue& json) {
  const std::string text = json.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string to_html(const Page& page, const Assets& assets) {
  std::string html = fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<link rel="icon" href="data:,">
<style>
)",
                                 kPolicy, escaped(page.title));
  html += assets.css +
          "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#charts\">Skip to the charts</a>\n";
  html += fmt::format(R"(<header>
<h1>{}</h1>
<label for="theme" id="theme-choice">Colours <select id="theme">
<option value="">system default</option><option value="light">light</option>
<option value="dark">dark</option></select></label>
</header>
)",
                      escaped(page.title));
  html += facts_html(page) + contents_html(page);
  html += "<main id=\"charts\" tabindex=\"-1\">\n";
  for (const TextTable& table : page.texts) html += text_table_html(table);
  for (const Chart& chart : page.charts) html += chart_html(chart);
  if (page.charts.empty())
    html += "<p class=\"absent\">No point has finished: nothing to draw.</p>\n";
  html += "</main>\n<footer>Made by weft report, drawn by Vega.</footer>\n";
  html += "<noscript><p>The charts and tables of this page need JavaScript.</p></noscript>\n";
  return html + scripts_html(page, assets) + "</body>\n</html>\n";
}

}  // namespace weft
