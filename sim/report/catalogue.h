// The catalogue of results as JSON, for programs other than weft that draw them: titles,
// units and meanings of a mode's fields, colours of modes and of the parts of their time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft {

nlohmann::ordered_json catalogue();
std::string catalogue_json();  // catalogue.json of a sweep, and `weft schema results`

}  // namespace weft
