#include "sim/models/begins.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/once_each.h"

namespace weft {

Duration release_of(OpId op, const ModelLowering& how) {
  const auto known = std::lower_bound(how.releases.begin(), how.releases.end(), op,
                                      [](const Release& a, OpId b) { return a.op < b; });
  return known == how.releases.end() || known->op != op ? Duration{} : known->after;
}

Duration release_of(const Fusion& fusion, const ModelLowering& how) {
  const Duration both = longer(release_of(fusion.first, how), release_of(fusion.second, how));
  return fusion.through.is_none() ? both : longer(both, release_of(fusion.through, how));
}

void starts_with_its_source(CollectiveCall& call, bool meets) {
  std::vector<KernelId>& target = call.after[call.target];
  std::vector<KernelId>& source = call.after[call.root];
  target.insert(target.end(), source.begin(), source.end());
  target = once_each(std::move(target));
  if (meets) source = target;
}

}  // namespace weft
