// Rules about several keys at once. Each says what would be right, at the key to change.
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/spec/reader.h"

namespace weft {

// Defaults that do not fit this scenario become what does, and that is said: only what somebody
// wrote is refused.
void fit_defaults(Scenario& scenario, Reading& reading);

// Adds what is wrong with `scenario` to the problems of `reading`, which has read it.
void validate(const Scenario& scenario, Reading& reading);

// What is right, but cannot have the effect that it seems to be meant for.
void warn_of_no_effect(const Scenario& scenario, Reading& reading);

}  // namespace weft
