// The search of weft.tune, whose points others run.
#pragma once

#include <pybind11/pybind11.h>

namespace weft {

void add_tune(pybind11::module_& module);

}  // namespace weft
