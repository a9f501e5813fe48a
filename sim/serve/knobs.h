// The keys that the page can change, and the values that a scenario has for them.
#pragma once

#include "sim/serve/asked_run.h"

namespace weft {

// Every key that takes a value: its path, meaning, unit and range, as docs/keys.md has them.
ServedJson knobs();

// The scenario's text and its values by path, or what is wrong with it.
ServedJson scenario_json(const ServedFolder& served, const ScenarioSource& source);

}  // namespace weft
