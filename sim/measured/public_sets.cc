#include "sim/measured/public_sets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace weft {
namespace {

struct Collective {
  const char* set;
  const char* op;
  const char* kind;
};
constexpr std::array kCollectives = {
    Collective{"nccl", "all_gather", "micro.nccl_allgather"},
    Collective{"nccl", "all_reduce", "micro.nccl_allreduce"},
    Collective{"nccl", "alltoall", "micro.nccl_alltoall"},
    Collective{"nccl", "all_to_all", "micro.nccl_alltoall"},
    Collective{"nccl", "reduce_scatter", "micro.nccl_reducescatter"},
    Collective{"multi", "all_gather", "micro.nccl_allgather"},
    Collective{"multi", "all_reduce", "micro.nccl_allreduce"},
    Collective{"multi", "alltoall", "micro.nccl_alltoall"},
    Collective{"multi", "all_to_all", "micro.nccl_alltoall"},
    Collective{"multi", "reduce_scatter", "micro.nccl_reducescatter"},
    Collective{"engine", "all_reduce", "engine.all_reduce"},
};

// The word that a line has under this name, or an empty one.
std::string word_of(const MeasuredLine& line, const char* name) {
  const auto found = line.words.find(name);
  return found == line.words.end() ? std::string() : found->second;
}

}  // namespace

void name_by_set(MeasuredLine& line) {
  const std::string set = word_of(line, "set");
  const std::string op = word_of(line, "op");
  line.kind = set;
  const auto* const found =
      std::find_if(kCollectives.begin(), kCollectives.end(),
                   [&](const Collective& known) { return set == known.set && op == known.op; });
  if (found == kCollectives.end()) return;
  line.kind = found->kind;
  line.words.erase("set");
  line.words.erase("op");
  line.words["timing"] = "in_a_row";  // as the first lines of the sets say
  auto size = line.numbers.extract("bytes");
  if (size.empty()) return;
  size.key() = "bytes_per_gpu";
  line.numbers.insert(std::move(size));
}

bool is_of_gpu(const MeasuredLine& line, std::string_view name) {
  const std::string system = word_of(line, "system");
  const std::string_view gpu = std::string_view(system).substr(0, system.find('_'));
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return system.empty() || std::equal(gpu.begin(), gpu.end(), name.begin(), name.end(), same);
}

}  // namespace weft
