#include "gemv_kernels.h"
#include "launching.h"

namespace weft_fused {

void gemv_all_reduce(const Ranks& ranks, const std::vector<std::intptr_t>& results, int m, int k,
                     int rows_per_wg, const void* w, const void* x) {
  const int slices = m / rows_per_wg;
  const calibration::Gemv gemv{static_cast<const uint4*>(w), static_cast<const uint4*>(x),
                               static_cast<unsigned>(k / calibration::halves_per_word),
                               rows_per_wg};
  const calibration::RowReducing reducing{
      .order = order_of(ranks, slices / ranks.size()),
      .parts = pointers<float>(ranks.data),
      .part_flags = pointers<calibration::Flag>(ranks.flags),
      .y = pointers<float>(results),
      .sum_flags = pointers<calibration::Flag>(ranks.flags, static_cast<std::size_t>(slices)),
      .run = ranks.run};
  const auto kernel = calibration::multiply_and_all_reduce<4>;
  launch(ranks, kernel, std::min(resident_wgs(ranks, kernel, {}), slices), WgSize{}, gemv,
         reducing);
}

}  // namespace weft_fused
