// A PyTorch execution trace of one rank: its calls of the communication library, with their sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/traces/problems.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

struct PytorchEt {
  std::string name;  // of the file
  std::string schema;
  std::vector<CommCall> calls;  // in order; waits are calls too
  std::string groups;           // the text that lists process groups, or empty
};

PytorchEt read_pytorch_et(std::string_view text, const std::string& name, TraceProblems& problems);

}  // namespace weft
