// Runs that need not be simulated again: results by what they depend on, by content (run_key.h).
// Points of a sweep share one, so that what a knob does not touch is simulated once a point has
// finished it; with a folder other processes share it too. Bounded; safe from any thread; nothing
// is locked while something is simulated, read or written.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "sim/engine/known_files.h"
#include "sim/engine/results.h"
#include "sim/engine/run_key.h"

namespace weft {

// What lowering makes of a part of a model: the run that it is, and by GPU the operator of its
// first kernel. It takes as long as simulating a small one, and its key less.
struct KnownLowering {
  RunKey run;
  std::vector<OperatorId> first_operators;
};

// Which of several ways trials of a collective have found to be the fastest, as its key's maker
// numbers them.
struct KnownChoice {
  int choice = 0;
};

class KnownRuns {
 public:
  static constexpr Bytes kInMemory = mebibytes(256);

  // `most` in memory.
  explicit KnownRuns(Bytes most = kInMemory,
                     const std::optional<KnownFolder>& folder = std::nullopt);

  [[nodiscard]] std::optional<RunResult> find(const RunKey& key) const;
  // The oldest give way where there is no room.
  void put(const RunKey& key, const RunResult& result);

  // The same of lowerings, whose keys are not those of runs.
  [[nodiscard]] std::optional<KnownLowering> find_lowering(const RunKey& key) const;
  void put_lowering(const RunKey& key, const KnownLowering& lowering);

  // The same of what trials of collectives have chosen.
  [[nodiscard]] std::optional<KnownChoice> find_choice(const RunKey& key) const;
  void put_choice(const RunKey& key, const KnownChoice& choice);

  [[nodiscard]] std::size_t size() const;  // in memory, all

  // For another process, which must not take over a lock that a thread of this one may hold: the
  // same folder, and nothing in memory.
  [[nodiscard]] std::unique_ptr<KnownRuns> for_a_child() const;

 private:
  using Value = std::variant<RunResult, KnownLowering, KnownChoice>;
  struct Known {
    Value value;
    std::int64_t bytes = 0;
  };

  template <class Of>
  [[nodiscard]] std::optional<Of> find_value(const RunKey& key) const;
  template <class Of>
  void put_value(const RunKey& key, const Of& value);
  void keep(const RunKey& key, Known&& known) const;

  std::int64_t most_;
  std::unique_ptr<KnownFiles> files_;
  mutable std::mutex guard_;
  mutable std::map<RunKey, Known> known_;
  mutable std::deque<RunKey> in_order_;  // of their arrival
  mutable std::int64_t bytes_ = 0;
};

}  // namespace weft
