// A library of GEMM for the emulation.

#include "gemm_library.h"

namespace calibration {
namespace {

void multiply(const Gemm& gemm) {
  for (int row = 0; row < gemm.m; ++row) {
    for (int column = 0; column < gemm.n; ++column) {
      float sum = 0;
      for (int i = 0; i < gemm.k; ++i) {
        sum += from_bf16(gemm.a[row * gemm.k + i]) * from_bf16(gemm.b[column * gemm.k + i]);
      }
      gemm.c[row * gemm.n + column] = to_bf16(sum);
    }
  }
}

class EmulatedGemmLibrary final : public GemmLibrary {
 public:
  void launch(const Gemm& gemm, hipStream_t stream) override {
    emulation::enqueue(stream, [gemm] { multiply(gemm); });
  }
};

}  // namespace

std::unique_ptr<GemmLibrary> make_gemm_library(const Gpu& /*gpu*/, int /*units*/) {
  return std::make_unique<EmulatedGemmLibrary>();
}

std::string gemm_library() { return "emulation"; }

}  // namespace calibration
