// A page as one self-contained HTML file.
#pragma once

#include <string>

#include "sim/html/assets.h"
#include "sim/html/page.h"

namespace weft {

std::string to_html(const Page& page, const Assets& assets);

// Text escaped for HTML, also within quotes.
std::string escaped(const std::string& text);

// JSON within a script: no `<` that could end it, and no byte that is not UTF-8.
std::string in_script(const JsonValue& json);

}  // namespace weft
