// The numbers of a scenario's machine, as its files say them: what its results may depend on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/axis_values.h"
#include "sim/scenario/load.h"

namespace weft {

// How sure a number is, by the tag in the comment of its line (docs/hardware.md).
enum class Sureness { measured, published, digest, derived, background, untagged };

// How sure a fit makes a number, as the comment of its line says: "+- 0.4 %; with memory.bend
// -0.62, memory.latency 0.31" (docs/hardware.md).
struct Spread {
  double relative = 0;  // standard deviation
  // Correlations with other numbers, within [-1, 1]: by the keys of the comment's file as it says
  // them ("memory.bend"), by whole paths in a MachineNumber.
  std::vector<std::pair<std::string, double>> with = {};
  [[nodiscard]] std::optional<double> correlation_with(const std::string& path) const;
};
// The largest that a comment may say; more tells nothing.
inline constexpr double kMostSpread = 1;
// Nothing where the comment has no "+- "; where it is wrong, `wrong` says why.
std::optional<Spread> spread_in(const std::string& comment, std::string& wrong);

struct MachineNumber {
  std::string path;   // "cluster.gpu.memory.bandwidth"
  std::string value;  // "4.625 TB/s"
  SourcePosition at;
  std::string line = {};  // its text
  Sureness sureness = Sureness::untagged;
  const CountedType* type = nullptr;
  std::optional<Spread> spread = {};
  // Why its comment's is none, if it has one: also where another number's comment contradicts it.
  std::string wrong_spread = {};
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
