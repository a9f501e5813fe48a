#pragma once

#include <hip/hip_runtime.h>

#include <memory>
#include <string>

#include "machine.h"
#include "numbers.h"

// The library of GEMM, rocBLAS or cuBLAS, chosen when this is built.

namespace calibration {

// C = A B^T in bf16 with sums in float32; A is m x k, B is n x k, C is m x n, all row by row.
struct Gemm {
  int m;
  int n;
  int k;
  const bf16_bits* a;
  const bf16_bits* b;
  bf16_bits* c;
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual void launch(const Gemm& gemm, hipStream_t stream) = 0;
};

// For one GPU. `units` is how many SMs or CUs the library may plan for; 0: all.
std::unique_ptr<GemmLibrary> make_gemm_library(const Gpu& gpu, int units);

std::string gemm_library();  // name and version

}  // namespace calibration
