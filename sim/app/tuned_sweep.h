// One search of `weft tune`: the points of a sweep file.
#pragma once

#include <filesystem>
#include <string>

#include "sim/app/tune_command.h"
#include "sim/run/exit_code.h"

namespace weft {

// What is left of it when its plan and its results are gone.
struct TunedSweep {
  int code = exit_code::ok;
  bool was_stopped = false;   // by its time or by the user
  bool lacks_column = false;  // there is no such column: nor is there in other modes
  std::filesystem::path folder = {};
  std::string best = {};      // "1.278 ms"; empty: none
  std::string knobs = {};     // "slice_wgs=4 order=staggered"
  std::string as_it_is = {};  // "1.282 ms", or "-"
  double cost = 0;            // of the best
  std::string text = {};      // all that there is to say
  std::string json = {};      // the same
};

// Says what is wrong on stderr, and prints nothing.
TunedSweep tune_sweep(const std::filesystem::path& file, const TuneCommand& command,
                      KnownRuns& known);

}  // namespace weft
