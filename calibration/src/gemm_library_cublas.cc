#include <cublas_v2.h>

#include "buffers.h"
#include "check.h"
#include "gemm_library.h"

namespace calibration {
namespace {

constexpr std::size_t workspace_bytes = 32U << 20U;  // what cuBLAS asks for on Hopper

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
  }
}

class Cublas final : public GemmLibrary {
 public:
  Cublas(const Gpu& gpu, int units) : gpu_(gpu), workspace_(gpu, workspace_bytes, Reach::local) {
    check_cublas(cublasCreate(&handle_));
    if (units != 0) {
      check_cublas(cublasSetSmCountTarget(handle_, units));
    }
  }
  ~Cublas() override {
    static_cast<void>(cudaSetDevice(gpu_.device));
    static_cast<void>(cublasDestroy(handle_));
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // The library counts columns first: it gets C^T = B A^T.
  void launch(const Gemm& gemm, hipStream_t stream) override {
    const float one = 1;
    const float zero = 0;
    gpu_.use();
    check_cublas(cublasSetStream(handle_, stream));
    check_cublas(cublasSetWorkspace(handle_, workspace_.data(), workspace_bytes));
    check_cublas(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, gemm.n, gemm.m, gemm.k, &one,
                              gemm.b, CUDA_R_16BF, gemm.k, gemm.a, CUDA_R_16BF, gemm.k, &zero,
                              gemm.c, CUDA_R_16BF, gemm.n, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT));
  }

 private:
  const Gpu& gpu_;
  Buffer<char> workspace_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_gemm_library(const Gpu& gpu, int units) {
  gpu.use();
  return std::make_unique<Cublas>(gpu, units);
}

std::string gemm_library() {
  int version = 0;
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle));
  check_cublas(cublasGetVersion(handle, &version));
  check_cublas(cublasDestroy(handle));
  return "cuBLAS " + std::to_string(version);
}

}  // namespace calibration
