// Text that others wrote, made safe for whoever reads it next: a terminal, YAML, JSON.
//
// Plain is every character but those that command instead of being shown: controls (also U+0080 to
// U+009F, which terminals obey), line and paragraph separators, marks that turn the direction of
// writing, what is invisible (also of no width) or no character. Bytes that are not UTF-8 are not
// plain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

// All of it on one line; tabs are not.
bool is_plain_text(std::string_view text);

// For a terminal: '?' for each character that is not plain. Tabs stay, and ends of lines where it
// is not one line.
std::string printable(std::string_view text);
std::string printable_line(std::string_view text);

// For the inside of a string in double quotes, of JSON or YAML: all of it plain ASCII or plain
// characters, and \uXXXX or U+FFFD for the rest. Quotes and backslashes are escaped.
std::string escaped(std::string_view text);

// As the text of such a string, quotes around it.
std::string in_double_quotes(std::string_view text);

// What already is JSON, on one line, as YAML readers take it too: as escaped(), but for quotes and
// backslashes, which are the JSON's own.
std::string json_as_yaml(std::string_view json);

// What is wrong with the text as a name of something: it stands in tables, paths of results and
// files of all kinds. Empty: nothing.
std::string wrong_as_name(std::string_view text, std::size_t longest = 100);

// A spreadsheet takes text for a formula that begins with = + - or @, and for a number's sign; some
// also behind blanks.
bool begins_as_formula(std::string_view text);

}  // namespace weft
