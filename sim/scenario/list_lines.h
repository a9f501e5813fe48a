// One line about each thing that a scenario can name: what it is, and its key figures.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/load_part.h"

namespace weft {

struct ListLine {
  std::string word;  // as a scenario writes it
  std::string title;
  std::string figures;
};

ListLine gpu_line(const PartFile& part);
ListLine cluster_line(const PartFile& part);
ListLine model_line(const PartFile& part);
ListLine nic_line(const PartFile& part);
ListLine scenario_line(const PartFile& part);
ListLine kernel_line(const PartFile& part);
ListLine sweep_line(const PartFile& part);
ListLine caches_line(const PartFile& part);
ListLine application_line(const PartFile& part);

std::vector<ListLine> collective_lines();
std::vector<ListLine> shape_lines();

}  // namespace weft
