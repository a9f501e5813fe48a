#pragma once

#include <hip/hip_runtime.h>

#include <stdexcept>
#include <string>

namespace calibration {

// A result that is not what it has to be: an error, not a data point.
struct WrongAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The machine or a library cannot do what a case asks for; the case is left out, with this text.
struct NotPossible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws if a call of the runtime failed, with the place of the call.
inline void check(hipError_t status, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status != hipSuccess) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " +
                             hipGetErrorString(status));
  }
}

}  // namespace calibration
