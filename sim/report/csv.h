// operators.csv, links.csv, link_classes.csv: one row per mode and operator, link or class of
// links. RFC 4180, lines end in \n.
#pragma once

#include <string>
#include <vector>

#include "sim/report/fields.h"
#include "sim/report/run_report.h"

namespace weft {

std::string operators_csv(const RunReport& report);
std::string links_csv(const RunReport& report);
std::string link_classes_csv(const RunReport& report);

std::vector<Field> operator_fields();
std::vector<Field> link_fields();
std::vector<Field> link_class_fields();

}  // namespace weft
