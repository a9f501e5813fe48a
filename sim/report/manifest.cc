#include "sim/report/manifest.h"

#include <nlohmann/json.hpp>

#include "sim/core/byte_names.h"
#include "sim/models/single_operator.h"
#include "sim/report/measures.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string manifest_json(const RunReport& report) {
  Json inputs = Json::array();
  for (const InputFile& input : report.inputs) {
    inputs.push_back({{"path", utf8_of_bytes(input.path)}, {"hash", input.hash}});
  }
  Json fingerprints;
  for (const ModeRun& run : report.runs) {
    fingerprints[name_of(run.result.mode)] = fingerprint_text(run.result.fingerprint);
  }
  const Json manifest = {{"version", report.version},
                         {"scenario", report.scenario.name},
                         {"scenario_hash", report.scenario.hash},
                         {"seed", report.scenario.run.seed},
                         {"command", utf8_of_bytes(report.command)},
                         {"inputs", inputs},
                         {"fingerprints", fingerprints}};
  return manifest.dump(2) + "\n";
}

}  // namespace weft
