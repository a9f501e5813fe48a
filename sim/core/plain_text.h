// Text that others wrote, made safe for whoever reads it next: a terminal, YAML, JSON.
//
// Every character is plain except control characters (also U+0080 to U+009F, which terminals obey),
// line and paragraph separators, marks that change the direction of writing, invisible characters
// (also those of zero width) and noncharacters. Bytes that are not UTF-8 are not plain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

// Whether all of it is plain and on one line; tabs are not plain.
bool is_plain_text(std::string_view text);

// For a terminal: '?' for each character that is not plain. Tabs stay; printable() also keeps ends
// of lines.
std::string printable(std::string_view text);
std::string printable_line(std::string_view text);

// For the inside of a string in double quotes, in JSON or YAML: plain characters stay, and the rest
// becomes \uXXXX, U+FFFD beyond U+FFFF. Quotes and backslashes are escaped.
std::string escaped(std::string_view text);

// The same with quotes around it.
std::string in_double_quotes(std::string_view text);

// What already is JSON, on one line, in a form that YAML readers accept too: as escaped(), except
// for quotes and backslashes, which belong to the JSON.
std::string json_as_yaml(std::string_view json);

// What is wrong with the text as a name, which appears in tables, paths of results and files of all
// kinds. Empty: nothing.
std::string wrong_as_name(std::string_view text, std::size_t longest = 100);

// Whether spreadsheets may take the text for a formula: it begins with = + - or @, possibly after
// blanks.
bool begins_as_formula(std::string_view text);

}  // namespace weft
