// Built where there is no library of GEMM: the cases that need it say so and are left out.

#include "check.h"
#include "gemm_library.h"

namespace calibration {

std::unique_ptr<GemmLibrary> make_gemm_library(const Gpu& /*gpu*/, int /*units*/) {
  throw NotPossible("built without a library of GEMM");
}

std::string gemm_library() { return "none"; }

}  // namespace calibration
