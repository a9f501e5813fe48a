#pragma once

#include <string>
#include <vector>

#include "timer.h"

namespace calibration {

struct Options {
  std::vector<std::string> only;  // empty: all
  std::string output;             // empty: standard output
  Repeats repeats;
  int gpus = 0;   // 0: all there are
  int units = 0;  // with --list: SMs or CUs of a GPU that is not here
  int patience_seconds = 60;
  bool list = false;
  bool quick = false;
  bool tiny = false;
  bool help = false;
};

extern const char* const usage;

// Throws std::invalid_argument with what is wrong with the arguments.
Options parse_options(const std::vector<std::string>& arguments);

// Whether the text of a line contains one of the patterns, or there are none.
bool is_wanted(const Options& options, const std::string& text);

}  // namespace calibration
