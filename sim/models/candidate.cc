#include "sim/models/candidate.h"

namespace weft {

Duration Candidate::time_in(Mode mode) const {
  switch (mode) {
    case Mode::bulk:
      return bulk;
    case Mode::kernel:
      return chunked;
    case Mode::pipelined:
      return pipelined;
    case Mode::fused:
      return fused;
    case Mode::role_split:
      return role_split;
    case Mode::copy_fed:
      return copy_fed;
    default:
      return {};
  }
}

}  // namespace weft
