// What a kind of whole models is, besides its row (workload_kinds.h): keys, rules, figures of its
// own. Its builder is in sim/models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

class Fields;
namespace rules {
struct Check;
}

struct ModelKind {
  void (*fields)(Fields& map, Workload& workload);   // in the map of the workload
  void (*rules)(const rules::Check& check);          // the kind could be read
  std::string (*figures)(const Workload& workload);  // "32 layers of 4096", for a list
  Bytes gradient_bucket = {};  // what is usual; 0: no size, but each layer's own
  bool before_bucket = false;  // its keys stand before `gradient_bucket`
  bool has_moments = false;    // its optimizer keeps some, of a type
};

// The words of the kinds that are such models.
std::vector<std::string_view> words_of(const ModelKind& model);

}  // namespace weft
