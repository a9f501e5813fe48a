// What an operator is whose WGs a scenario describes, besides the rows of the kinds that compute it
// (workload_kinds.h): its keys, its rules, its WG. Its Grid is in sim/workloads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/check.h"
#include "sim/scenario/scenario.h"

namespace weft {

class Fields;

// What each peer has that chunks do not cut; 0: not known, or it does not divide.
struct WholeUnits {
  std::int64_t count = 0;
  const char* one = "";
  const char* several = "";
};

struct OperatorKind {
  void (*fields)(Fields& map, Workload& workload);  // in the map of the workload
  void (*rules)(const rules::Check& check);         // the kind could be read
  WgShape& (*wg)(Workload& workload);
  const char* path_of_wg;
  WholeUnits (*units)(const rules::Check& check);  // kind and number of GPUs could be read
};

// The words of the kinds that compute it.
std::vector<std::string_view> words_of(const OperatorKind& computes);

// Keys that every operator has.
void wg_fields(Fields& map, WgShape& wg, const WgShape& fallback);
void jitter_field(Fields& map, double& jitter);

namespace rules {

bool knows_gpus(const Check& check);

std::string nearest_multiples(std::int64_t value, std::int64_t step);

// The WGs of one GPU that belong to one peer: `units` of `unit`, which chunks do not cut.
struct Wgs {
  std::int64_t units;
  std::int64_t unit;
  std::int64_t parts;         // WGs that share one result
  std::int64_t result_bytes;  // of `parts` WGs
};

// Input comes in whole units: one where a slice is smaller.
void slices_of_input(const Check& check, const Wgs& wgs, const std::string& units);
void slices_and_chunks(const Check& check, const Wgs& wgs);

// In floating point: the products need not fit 63 bits.
bool too_many(double wgs_of_a_gpu, double bytes_of_a_pair, double gpus);

// What a kernel reads and writes; its peers' parts and buffers not counted. `key` names what is too
// large.
void matrices_fit_in_memory(const Check& check, double all, const char* key, const char* what);

}  // namespace rules
}  // namespace weft
