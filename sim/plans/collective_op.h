// What collectives do.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace weft {

enum class CollectiveOp {
  all_to_all,
  all_gather,
  reduce_scatter,
  all_reduce,
  broadcast,
  point_to_point
};

// Whether values of several GPUs are added up.
constexpr bool reduces(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter;
}

class CollectiveOps {
 public:
  constexpr CollectiveOps(std::initializer_list<CollectiveOp> ops) {
    for (const CollectiveOp op : ops) bits_ |= bit(op);
  }
  [[nodiscard]] constexpr bool has(CollectiveOp op) const { return (bits_ & bit(op)) != 0; }

 private:
  static constexpr unsigned bit(CollectiveOp op) { return 1U << static_cast<unsigned>(op); }
  unsigned bits_ = 0;
};

}  // namespace weft
