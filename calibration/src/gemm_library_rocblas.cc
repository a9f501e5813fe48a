#include <rocblas/rocblas.h>

#include "check.h"
#include "gemm_library.h"

namespace calibration {
namespace {

void check_rocblas(rocblas_status status) {
  if (status != rocblas_status_success) {
    throw std::runtime_error(std::string("rocBLAS: ") + rocblas_status_to_string(status));
  }
}

class Rocblas final : public GemmLibrary {
 public:
  explicit Rocblas(const Gpu& gpu) : gpu_(gpu) { check_rocblas(rocblas_create_handle(&handle_)); }
  ~Rocblas() override { static_cast<void>(rocblas_destroy_handle(handle_)); }
  Rocblas(const Rocblas&) = delete;
  Rocblas& operator=(const Rocblas&) = delete;

  // The library counts columns first: it gets C^T = B A^T.
  void launch(const Gemm& gemm, hipStream_t stream) override {
    const float one = 1;
    const float zero = 0;
    gpu_.use();
    check_rocblas(rocblas_set_stream(handle_, stream));
    check_rocblas(rocblas_gemm_ex(
        handle_, rocblas_operation_transpose, rocblas_operation_none, gemm.n, gemm.m, gemm.k, &one,
        gemm.b, rocblas_datatype_bf16_r, gemm.k, gemm.a, rocblas_datatype_bf16_r, gemm.k, &zero,
        gemm.c, rocblas_datatype_bf16_r, gemm.n, gemm.c, rocblas_datatype_bf16_r, gemm.n,
        rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0));
  }

 private:
  const Gpu& gpu_;
  rocblas_handle handle_ = nullptr;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_gemm_library(const Gpu& gpu, int units) {
  if (units != 0) {
    throw NotPossible("rocBLAS does not plan for fewer CUs");
  }
  gpu.use();
  return std::make_unique<Rocblas>(gpu);
}

std::string gemm_library() {
  return "rocBLAS " + std::to_string(ROCBLAS_VERSION_MAJOR) + "." +
         std::to_string(ROCBLAS_VERSION_MINOR);
}

}  // namespace calibration
