#include "sim/models/candidate.h"

#include <algorithm>

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

namespace {

bool is_of_kind(const Candidate& one, const Candidate& kind) {
  return one.is_uneven && kind.is_uneven && one.name == kind.name && one.pattern == kind.pattern &&
         one.obstacle.empty() == kind.obstacle.empty();
}

// Its times become the mean of both; 0 where a mode does not suit one of them.
void add(Candidate& kind, const Candidate& one) {
  const std::int64_t all = kind.times + one.times;
  for (Duration Candidate::*time :
       {&Candidate::exposed, &Candidate::bulk, &Candidate::chunked, &Candidate::pipelined,
        &Candidate::fused, &Candidate::role_split, &Candidate::copy_fed}) {
    const bool both = (kind.*time).count() > 0 && (one.*time).count() > 0;
    const Duration sum = kind.*time * kind.times + one.*time * one.times;
    kind.*time = both && all > 0 ? picoseconds(sum.count() / all) : Duration{};
  }
  kind.times = all;
}

}  // namespace

std::vector<Candidate> by_kind(const std::vector<Candidate>& all) {
  std::vector<Candidate> kinds;
  for (const Candidate& one : all) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&one](const Candidate& known) {
      return is_of_kind(one, known);
    });
    if (kind == kinds.end()) {
      kinds.push_back(one);
    } else {
      add(*kind, one);
    }
  }
  return kinds;
}

}  // namespace weft
