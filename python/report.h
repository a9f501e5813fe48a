// The page of `weft report` for Python.
#pragma once

#include "python/given.h"

namespace weft {

void add_report(py::module_& module);

}  // namespace weft
