#pragma once

#include <cstddef>

namespace calibration {

// What the compiler and the GPU make of a kernel.
struct KernelFacts {
  int registers = 0;             // of a thread
  std::size_t spilled = 0;       // bytes of a thread that found no register
  std::size_t shared_bytes = 0;  // of a WG, with what is there to hold others back
  int resident = 0;              // WGs that fit on an SM or CU
};

}  // namespace calibration
