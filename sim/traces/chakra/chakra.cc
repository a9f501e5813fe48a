// Chakra execution traces: loads the files of all ranks into one ModelGraph.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sim/files/file_set.h"
#include "sim/traces/chakra/chakra_rank.h"
#include "sim/traces/chakra/process_groups.h"
#include "sim/traces/found_blocks.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/text_file.h"
#include "sim/traces/totals.h"

namespace weft {
namespace {

const char* word_of(WaitFor what) {
  switch (what) {
    case WaitFor::data:
      return "data";
    case WaitFor::blocking_collectives:
      return "blocking_collectives";
    case WaitFor::data_and_control:
      return "data_and_control";
  }
  return "";
}

class ChakraLoader {
 public:
  ChakraLoader(const TraceWork& work, int gpus, Bytes memory)
      : work_(work),
        gpus_(gpus),
        problems_(work.path, memory),
        sums_{.summary = loaded_.summary, .counts = {}} {}

  LoadedTrace load() {
    read_files();
    if (!problems_.any()) build();
    loaded_.problems = problems_.all();
    return std::move(loaded_);
  }

 private:
  [[nodiscard]] int ranks() const { return work_.one_for_all ? 1 : gpus_; }
  [[nodiscard]] std::string name_of_rank(int rank, const char* ending) const {
    return fmt::format("{}.{}.{}", work_.path, rank, ending);
  }

  // Each file becomes a rank's trace before the next one is read: a large trace is not in memory
  // twice.
  void read_files() {
    const bool json = !is_there(name_of_rank(0, "et")) && is_there(name_of_rank(0, "json"));
    const char* ending = json ? "json" : "et";
    const FileSet exported(beside("files.json"));
    if (!exported.problem().empty()) problems_.add(beside("files.json"), "", exported.problem());
    expect_groups(exported);
    for (int rank = 0; rank < ranks(); ++rank) {
      const std::string name = name_of_rank(rank, ending);
      const ReadText read = text_of_file(name, loaded_.inputs);
      if (!read.text) {
        problems_.add(name, "",
                      fmt::format("{}; on {} GPUs the trace needs ranks 0 to {}{}", read.problem,
                                  gpus_, gpus_ - 1, hint(rank)));
        continue;
      }
      expect_of(exported, name, *read.text);
      take(read_chakra(*read.text, name, problems_));
    }
    const std::string next = name_of_rank(gpus_, ending);
    if (!work_.one_for_all && is_there(next)) {
      problems_.add(next, "",
                    fmt::format("the trace has more ranks than the cluster's {} GPUs", gpus_));
    }
  }

  void take(ChakraFile file) {
    if (problems_.any()) return;  // it was only read for what is wrong with it
    if (traces_.empty()) {
      meaning_ = decide(file);
      groups_ = read_groups(file);
      if (problems_.any()) return;
    }
    traces_.push_back(read_rank(file, meaning_, groups_, sums_, problems_));
    if (traces_.size() > 1) return;
    first_ = std::move(file);
    first_.nodes = {};
  }

  // A file without permission is reported when it is read.
  static bool is_there(const std::string& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  }

  [[nodiscard]] std::string beside(const char* rest) const {
    return fmt::format("{}.{}", work_.path, rest);
  }

  // Checks that the files of ranks, and of their groups, are those that weft exported together.
  void expect_of(const FileSet& exported, const std::string& file, std::string_view text) {
    const std::string name = std::filesystem::path(file).filename().string();
    const std::string problem = exported.problem_of(name, text);
    if (!problem.empty()) problems_.add(file, "", problem);
  }

  void expect_groups(const FileSet& exported) {
    const std::string file = beside("groups.json");
    if (!exported.lists(std::filesystem::path(file).filename().string())) return;
    const ReadText read = read_text(file);
    if (read.text) return expect_of(exported, file, *read.text);
    problems_.add(file, "", read.problem);
  }

  static const char* hint(int rank) {
    return rank == 1 ? "; one_for_all: true uses rank 0's for all" : "";
  }

  void build() {
    const std::size_t ranks = traces_.size();
    MergedRanks merged =
        merge_ranks(std::move(traces_), groups_, gpus_, problems_, kept_for(work_));
    if (problems_.any()) return;
    merged.graph.verify();
    sums_.counts
        ["operators that overtake others on their stream, because the trace would deadlock "
         "otherwise"] += merged.out_of_order;
    if (work_.find_blocks) find_blocks(merged, loaded_.summary);
    summarize(ranks, merged.graph);
    loaded_.graph = std::move(merged.graph);
  }

  ChakraMeaning decide(const ChakraFile& first) {
    ChakraMeaning meaning;
    meaning.gpus = gpus_;
    meaning.one_for_all = work_.one_for_all;
    const CommSizeUnit unit = work_.comm_size_unit.value_or(CommSizeUnit::bytes);
    if (unit == CommSizeUnit::elements) meaning.unit = work_.element_bytes;
    meaning.allgather = work_.allgather_size_is.value_or(AllGatherSize::per_rank);
    meaning.cpu_ops = work_.cpu_ops.value_or(CpuOps::drop);
    // Control dependencies of a recorder are the call tree: parents, which may be missing.
    meaning.waits_for =
        work_.waits_for.value_or(first.recorded ? WaitFor::data : WaitFor::data_and_control);
    say("comm_size_unit",
        unit == CommSizeUnit::bytes ? "bytes"
                                    : fmt::format("elements of {} B", work_.element_bytes),
        work_.comm_size_unit.has_value());
    say("allgather_size_is", meaning.allgather == AllGatherSize::per_rank ? "per_rank" : "total",
        work_.allgather_size_is.has_value());
    say("cpu_ops", meaning.cpu_ops == CpuOps::drop ? "drop" : "run", work_.cpu_ops.has_value());
    say("waits_for", word_of(meaning.waits_for), work_.waits_for.has_value());
    return meaning;
  }

  void say(const char* key, const std::string& value, bool given) {
    say(key, value, given ? "given" : "the default for this writer");
  }
  void say(const char* key, const std::string& value, const char* why) {
    loaded_.summary.choices.push_back(fmt::format("{}: {} ({})", key, value, why));
  }

  TraceGroups read_groups(const ChakraFile& first) {
    TraceGroups groups = groups_of_all(work_.one_for_all ? 1 : gpus_);
    const std::string beside_it = beside("groups.json");
    const bool lies_beside = work_.groups.empty() && is_there(beside_it);
    if (!work_.groups.empty() || lies_beside) {
      read_group_file(lies_beside ? beside_it : work_.groups, gpus_, groups, problems_,
                      loaded_.inputs);
      say("process_groups", lies_beside ? beside_it : work_.groups,
          lies_beside ? "found beside the trace" : "given");
    }
    for (const ChakraNode& node : first.nodes) {
      if (!node.inputs.empty()) take_listed_groups(node.inputs, gpus_, groups);
    }
    return groups;
  }

  void summarize(std::size_t ranks, const ModelGraph& graph) {
    TraceSummary& summary = loaded_.summary;
    summary.trace = work_.path;
    summary.writer = fmt::format(
        "{} {}", first_.recorded ? "recorded by PyTorch, schema" : "from a generator, version",
        first_.version.empty() ? "unknown" : first_.version);
    summary.ranks = ranks;
    add_simulated(graph, summary);
    for (const auto& [what, number] : sums_.counts) {
      if (number > 0) summary.notes.push_back(fmt::format("{} {}", number, what));
    }
    if (work_.one_for_all) {
      summary.notes.push_back(fmt::format("rank 0's trace is used for all {} GPUs", gpus_));
    }
  }

  const TraceWork& work_;
  int gpus_;
  TraceProblems problems_;
  LoadedTrace loaded_;
  ChakraSums sums_;
  ChakraFile first_;  // without its nodes
  ChakraMeaning meaning_;
  TraceGroups groups_;
  std::vector<RankTrace> traces_;  // by rank
};

}  // namespace

namespace readers {

LoadedTrace chakra(const TraceWork& work, int gpus, Bytes memory) {
  return ChakraLoader(work, gpus, memory).load();
}

}  // namespace readers

}  // namespace weft
