#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "sim/app/command_pages.h"
#include "sim/run/version.h"

namespace weft {
namespace {

// A dash of an option is no hyphen, and a line must not start with what roff takes for a request.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string paragraph(const std::string& text) {
  std::string page;
  std::istringstream lines(wrapped(text, {.columns = 72}));  // longer ones with their escapes
  for (std::string line; std::getline(lines, line);) page += roff(line) + '\n';
  return page;
}

std::string as_typed(const std::string& text) {
  std::string page = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) page += roff(line) + '\n';
  return page + ".fi\n";
}

std::string item(const OptionDoc& option) {
  std::string head = roff(fmt::format("{}", fmt::join(option.names, ", ")));
  head = "\\fB" + head + "\\fR";
  if (!option.positional && !option.value.empty()) head += " \\fI" + roff(option.value) + "\\fR";
  return ".TP\n" + head + '\n' + paragraph(full_help(option));
}

std::string items_of(const CommandDoc& command) {
  std::string page;
  for (const OptionDoc& option : command.options) page += item(option);
  return page;
}

}  // namespace

std::string man_page(const CommandDoc& weft) {
  std::string page = fmt::format(
      ".TH WEFT 1 {} \"weft {}\" \"User Commands\"\n.SH NAME\n"
      "weft \\- simulate clusters of GPUs, work\\-group by work\\-group\n.SH SYNOPSIS\n"
      ".B {}\n.SH DESCRIPTION\n{}.SH OPTIONS\n{}.SH COMMANDS\n",
      kVersionDate, kVersion, roff(usage_text(weft, "")), paragraph(weft.help), items_of(weft));
  for (const CommandDoc& command : weft.commands) {
    page += fmt::format(".SS {}\n{}.PP\n.B {}\n{}.PP\n{}", roff(command.name),
                        paragraph(command.help), roff(usage_text(command, "weft ")),
                        items_of(command), as_typed(command.footer));
  }
  return page + ".SH EXAMPLES\n" + as_typed(weft.footer);
}

}  // namespace weft
