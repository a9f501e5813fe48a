#include "suite.h"

namespace calibration {

Cases all_cases(const Plan& plan) {
  Cases cases;
  add_launch(plan, cases);
  add_memory(plan, cases);
  add_gather(plan, cases);
  add_chase(plan, cases);
  add_library_gemm(plan, cases);
  if (plan.gpus > 1) {
    add_peer_stores(plan, cases);
    add_peer_rows(plan, cases);
    add_flags(plan, cases);
    add_row_puts(plan, cases);
    add_copy_engine(plan, cases);
    add_collectives(plan, cases);
    add_embedding(plan, cases);
    add_gemv(plan, cases);
    add_gemm_all_to_all(plan, cases);
    add_gemm_reduce_scatter(plan, cases);
    add_concurrent(plan, cases);
  }
  return cases;
}

}  // namespace calibration
