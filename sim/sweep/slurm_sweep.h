// A sweep as an array of Slurm jobs: each task runs its share of the points, `weft sweep --shard`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/sweep/merge.h"
#include "sim/sweep/observer.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/row.h"
#include "sim/sweep/sweep_options.h"

namespace weft {

class SlurmSweep {
 public:
  // `plan` has to outlive it.
  SlurmSweep(const SweepPlan& plan, const SweepOptions& options, SlurmOptions slurm,
             SweepMessages messages);

  [[nodiscard]] const std::filesystem::path& folder() const { return options_.folder; }
  // Of the jobs: found again by it, also by another weft.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t tasks() const { return shares_.size(); }

  // Submits what is neither finished nor in the queue.
  void launch();
  // Until all is finished, or given up: what was lost is resubmitted. False: interrupted.
  bool wait(const OnCounts& on_counts);
  // After wait(): tasks ended without all their results, however often they were submitted.
  [[nodiscard]] bool has_unfinished() const { return !all_finished(); }
  // Merges the shares that are finished; nothing where none is. Says what is wrong.
  std::optional<Merged> merge();

  struct Tasks {
    std::size_t waiting = 0;
    std::size_t running = 0;
    std::size_t lost = 0;  // ended without all their results
  };
  struct State {
    SweepCounts counts;
    bool finished = false;
    std::optional<Tasks> tasks;  // nothing: Slurm does not respond
  };
  State state();

 private:
  using Queue = std::optional<std::map<std::size_t, std::string>>;

  // A part of the points, which one task runs.
  struct Share {
    std::filesystem::path folder;
    std::set<std::string> points;  // hashes
    std::size_t rows = 0;
    bool finished = false;
    int submissions = 0;
    // Of results.jsonl, when it was last looked at:
    std::uintmax_t size = 0;
    std::size_t done = 0;
    std::size_t failed = 0;
  };

  void make_shares();
  void write_note() const;
  [[nodiscard]] std::filesystem::path script() const;
  [[nodiscard]] std::string script_text() const;
  [[nodiscard]] Queue queue() const;
  void look(const Queue& in_queue);
  [[nodiscard]] bool is_finished(const Share& share) const;
  [[nodiscard]] bool all_finished() const;
  [[nodiscard]] SweepCounts counts(const Queue& in_queue) const;
  std::vector<std::size_t> lost(const Queue& in_queue);
  void submit(const std::vector<std::size_t>& tasks);
  bool submit_lost(const Queue& in_queue);

  const SweepPlan& plan_;
  SweepOptions options_;
  SlurmOptions slurm_;
  SweepMessages messages_;
  SweepInfo info_;
  std::string name_;
  std::vector<Share> shares_;
};

// What launch() has left in the folder, which --status reads.
struct SlurmNote {
  std::filesystem::path file;
  std::vector<std::string> sets;
  int max_jobs = 0;
  int points_per_job = 0;
  std::vector<std::size_t> only = {};  // of the file's points, from 1; empty: all
};
// The other one: why there is none.
std::variant<SlurmNote, std::string> read_note(const std::filesystem::path& folder);

}  // namespace weft
