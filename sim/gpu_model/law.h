// Which of weft's laws says how long an operator takes. How far a law may be off on a GPU was
// measured law by law; a run's range follows from that (sim/report/time_range.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

enum class Law : std::uint8_t {
  gemm,
  attention,
  decoding,
  stream,
  lookup,
  collective,
  between_nodes,
  fused,
  launch,
  recorded  // a time that a recording says: nothing is predicted
};

struct LawRow {
  const char* name;
  const char* meaning;
};
// Those of which a GPU's file says how far they are off, in the order of Law.
inline constexpr std::array kLaws = {
    LawRow{"gemm", "GEMMs and GEMVs"},
    LawRow{"attention", "attention of prompts and of training"},
    LawRow{"decoding", "attention of one new token a sequence"},
    LawRow{"stream", "norms, activations, optimisers: what streams through the HBM"},
    LawRow{"lookup", "lookups in tables of embeddings"},
    LawRow{"collective", "collectives within a node"},
    LawRow{"between_nodes", "collectives between nodes"},
    LawRow{"fused", "operators fused with their collectives"},
    LawRow{"launch", "times between kernels"},
};

static_assert(kLaws.size() == static_cast<std::size_t>(Law::recorded));

// 80 % of the measured times were from `low` to `high` times what the law said, half of them up to
// `median` times that.
struct LawError {
  double low = 1;
  double median = 1;
  double high = 1;
};
using LawErrors = std::array<LawError, kLaws.size()>;

}  // namespace weft
