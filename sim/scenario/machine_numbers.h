// The numbers of a scenario's machine, as its files say them: what its results may depend on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/axis_values.h"
#include "sim/scenario/load.h"

namespace weft {

// How sure a number is, by the tag in the comment of its line (docs/hardware.md).
enum class Sureness { measured, published, digest, derived, background, untagged };

struct MachineNumber {
  std::string path;   // "cluster.gpu.memory.bandwidth"
  std::string value;  // "4.625 TB/s"
  SourcePosition at;
  Sureness sureness = Sureness::untagged;
  const CountedType* type = nullptr;
  [[nodiscard]] bool is_count() const { return type->type == "integer"; }  // of CUs, registers ...
};

// In the order of the files' keys. Lists are left out, and how many nodes and GPUs there are.
// Nothing where the scenario does not load.
std::vector<MachineNumber> machine_numbers(const std::filesystem::path& file,
                                           const LoadOptions& options);

const char* tag_of(Sureness sureness);  // "[M]"; "" if untagged

// The number times a factor, with its unit; a count is rounded, to another one than it was. Nothing
// where it is 0.
std::optional<std::string> times(const MachineNumber& number, double factor);
// The factor that this is: of a rounded count another one.
double factor_of(const MachineNumber& number, const std::string& value);

}  // namespace weft
