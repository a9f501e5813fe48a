#include "sim/traces/nodes/collective_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sim/spec/units.h"
#include "sim/traces/names.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

struct KernelWord {
  CollectiveOp op;
  std::string_view in_kernel;  // part of the library's name of the kernel
  std::string_view call;       // as c10d names the call
};
constexpr std::array kKernelWords = {
    KernelWord{CollectiveOp::all_reduce, "AllReduce", "allreduce"},
    KernelWord{CollectiveOp::all_gather, "AllGather", "allgather"},
    KernelWord{CollectiveOp::reduce_scatter, "ReduceScatter", "reducescatter"},
    KernelWord{CollectiveOp::all_to_all, "SendRecv", "alltoall"},
    KernelWord{CollectiveOp::broadcast, "Broadcast", "broadcast"},
};

const KernelWord* row_of_op(CollectiveOp op) {
  const auto* const row = std::find_if(kKernelWords.begin(), kKernelWords.end(),
                                       [op](const KernelWord& one) { return one.op == op; });
  return row == kKernelWords.end() ? nullptr : row;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<CollectiveSize> size_of_line(std::string_view line, std::string& problem) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const auto* const row =
      std::find_if(kKernelWords.begin(), kKernelWords.end(),
                   [word](const KernelWord& one) { return name_of(one.op) == word; });
  if (row == kKernelWords.end() || space == std::string_view::npos) {
    problem =
        "must be like 'all_reduce 64 MiB', with all_reduce, all_gather, reduce_scatter, "
        "all_to_all or broadcast";
    return std::nullopt;
  }
  const Parsed<Bytes> size = parse_bytes(trimmed(line.substr(space)));
  if (!size.ok()) {
    problem = size.problem;
  } else if (size.value.count() < 1 || size.value.count() > trace_limits::kBytes) {
    problem = fmt::format("must be 1 B to {} B", trace_limits::kBytes);
  } else {
    return CollectiveSize{.op = row->op, .bytes = size.value.count()};
  }
  return std::nullopt;
}

std::vector<std::uint32_t> kernels_without_size(const KinetoFile& profile) {
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t i = 0; i < profile.gpu.size(); ++i) {
    if (is_library_collective(profile.gpu[i].name) && !profile.gpu[i].call) kernels.push_back(i);
  }
  std::stable_sort(kernels.begin(), kernels.end(), [&profile](std::uint32_t a, std::uint32_t b) {
    return profile.gpu[a].start < profile.gpu[b].start;
  });
  return kernels;
}

// RCCL has one kernel for all calls, and its name here has the call: "... of ncclAllToAllv".
std::optional<std::string_view> call_of_kernel(std::string_view kernel) {
  constexpr std::string_view kOf = " of nccl";
  const std::size_t at = kernel.find(kOf);
  if (at == std::string_view::npos) return std::nullopt;
  return kernel.substr(at + kOf.size());
}

bool is_call_of(const KernelWord& row, std::string_view call) {
  constexpr std::array kOthers = {
      std::pair{CollectiveOp::all_to_all, std::string_view("AllToAll")},
      std::pair{CollectiveOp::all_to_all, std::string_view("AllToAllv")},
      std::pair{CollectiveOp::all_to_all, std::string_view("AlltoAll")},
      std::pair{CollectiveOp::broadcast, std::string_view("Bcast")},
  };
  return call == row.in_kernel ||
         std::find(kOthers.begin(), kOthers.end(), std::pair{row.op, call}) != kOthers.end();
}

// Whether the kernel is named after another kind than this row's.
bool is_of_another(const KernelWord& row, const std::string& kernel) {
  if (const auto call = call_of_kernel(kernel)) return !is_call_of(row, *call);
  return std::any_of(kKernelWords.begin(), kKernelWords.end(), [&](const KernelWord& other) {
    return other.op != row.op && kernel.find(other.in_kernel) != std::string::npos;
  });
}

}  // namespace

std::vector<CollectiveSize> read_collective_sizes(std::string_view text, const std::string& file,
                                                  TraceProblems& problems) {
  std::vector<CollectiveSize> sizes;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    std::string problem;
    if (const auto size = size_of_line(line, problem)) {
      if (!problems.keep(file, sizeof(CollectiveSize))) return {};
      sizes.push_back(*size);
    } else {
      problems.add(file, fmt::format("line {}", number), std::move(problem));
    }
  }
  if (sizes.empty() && !problems.any()) problems.add(file, "", "lists no collective");
  return sizes;
}

void expect_launches(const KinetoFile& profile, TraceProblems& problems) {
  std::set<std::int64_t> launched;
  for (const HostEvent& event : profile.host) {
    if (event.kind == HostEvent::Kind::runtime) launched.insert(event.correlation);
  }
  std::map<std::int64_t, std::size_t> events;  // by correlation
  for (const GpuEvent& event : profile.gpu) ++events[event.correlation];
  std::map<std::string, std::size_t> counts;
  for (const GpuEvent& event : profile.gpu) {
    const bool own = launched.contains(event.correlation) && events[event.correlation] == 1;
    if (is_library_collective(event.name) && !own) ++counts[short_kernel_name(event.name)];
  }
  for (const auto& [name, count] : counts) {
    problems.add(profile.name, fmt::format("kernel '{}'", name),
                 fmt::format("{} of them have no launch of their own, so it is unknown who waits "
                             "for them: a CUDA graph launched them, or calls of CUDA or "
                             "HIP were not recorded",
                             count));
  }
}

bool lacks_sizes(const KinetoFile& profile) { return !kernels_without_size(profile).empty(); }

void add_sizes(KinetoFile& profile, const std::vector<CollectiveSize>& sizes, std::int64_t ranks,
               const std::string& file, TraceProblems& problems) {
  const std::vector<std::uint32_t> kernels = kernels_without_size(profile);
  if (kernels.size() % sizes.size() != 0) {
    return problems.add(file, "",
                        fmt::format("{} lines, but {} collectives of rank {} lack their size ({}); "
                                    "there must be as many, or a multiple",
                                    sizes.size(), kernels.size(), profile.rank, profile.name));
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const CollectiveSize& size = sizes[i % sizes.size()];
    GpuEvent& kernel = profile.gpu[kernels[i]];
    const KernelWord& row = *row_of_op(size.op);
    const std::string label = fmt::format("kernel '{}'", short_kernel_name(kernel.name));
    const std::int64_t parts = size.op == CollectiveOp::all_gather ? ranks : 1;
    if (is_of_another(row, kernel.name) || size.bytes % parts != 0) {
      problems.add(profile.name, label,
                   fmt::format("number {} without a size on rank {}, where {} says {} of {} B{}",
                               i + 1, profile.rank, file, name_of(size.op), size.bytes,
                               size.bytes % parts != 0
                                   ? fmt::format(", which do not divide among {} GPUs", parts)
                                   : ""));
      continue;
    }
    kernel.call = CommCall{.label = label,
                           .name = std::string(row.call),
                           .group = "all",
                           .elements = size.bytes / parts,
                           .element_bytes = 1,
                           .splits = {}};
  }
}

void report_missing_sizes(const KinetoFile& profile, const char* remedy, TraceProblems& problems) {
  std::map<std::string, std::size_t> counts;
  for (const std::uint32_t kernel : kernels_without_size(profile)) {
    ++counts[short_kernel_name(profile.gpu[kernel].name)];
  }
  for (const auto& [name, count] : counts) {
    problems.add(profile.name, fmt::format("kernel '{}'", name),
                 fmt::format("the profile does not say what {} of them move; {}", count, remedy));
  }
}

}  // namespace weft
