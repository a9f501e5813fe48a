// PyTorch: Kineto profiles of all ranks, and execution traces if the profiles lack the sizes.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>

#include "sim/traces/load_trace.h"
#include "sim/traces/pytorch/by_device.h"
#include "sim/traces/pytorch/chosen_steps.h"
#include "sim/traces/pytorch/graph_of_profiles.h"
#include "sim/traces/text_file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

enum class Which : std::uint8_t { first, last };

// A number in a file's name: "worker3_step_12" has 3 first, "dlrm_eg_3.json" has 3 last.
std::int64_t number_in(const std::string& name, Which which) {
  std::int64_t found = -1;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) continue;
    std::size_t end = i;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    std::int64_t number = -1;
    std::from_chars(name.data() + i, name.data() + end, number);
    found = number;
    if (which == Which::first) return found;
    i = end;
  }
  return found;
}

class PyTorchLoader {
 public:
  PyTorchLoader(const TraceWork& work, int gpus, Bytes memory)
      : work_(work), gpus_(gpus), problems_(work.path, memory) {}

  LoadedTrace load() {
    if (work_.one_for_all) {
      problems_.add(work_.path, "one_for_all", "only for kind: chakra");
    } else if (!work_.collective_sizes.empty()) {
      problems_.add(work_.path, "collective_sizes", "only for kinds nsys and rocprof");
    } else {
      read_profiles();
      if (!work_.execution_traces.empty()) read_execution_traces();
    }
    if (!problems_.any()) {
      ranks_.writer = ranks_.et.empty()
                          ? "Kineto profiles"
                          : fmt::format("Kineto profiles and execution traces, schema {}",
                                        ranks_.et.begin()->second.schema);
      graph_of_profiles(work_, gpus_, ranks_, problems_, loaded_);
    }
    loaded_.problems = problems_.all();
    return std::move(loaded_);
  }

 private:
  static bool is_profile(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".json") || name.ends_with(".json.gz");
  }

  // The folder's JSON files, ordered by name; if it has none, those of its subfolders, one per
  // rank.
  std::vector<fs::path> files_of(const std::string& folder) {
    std::vector<fs::path> files;
    std::vector<fs::path> folders;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (is_profile(entry.path())) files.push_back(entry.path());
      if (entry.is_directory(error)) folders.push_back(entry.path());
    }
    if (error) {
      const bool is_file = error == std::errc::not_a_directory;
      problems_.add(folder, "",
                    is_file ? "is a file; give the folder that it is in"
                    : error == std::errc::no_such_file_or_directory ? "no such folder"
                                                                    : error.message());
      return {};
    }
    for (const fs::path& inner : files.empty() ? folders : std::vector<fs::path>()) {
      for (const auto& entry : fs::directory_iterator(inner, error)) {
        if (is_profile(entry.path())) files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) problems_.add(folder, "", "contains no .json or .json.gz files");
    return files;
  }

  // Empty after a problem.
  std::optional<std::string> text_of(const fs::path& path) {
    ReadText read = unpacked_text_of_file(path, loaded_.inputs, problems_.room());
    if (!read.text) problems_.add(path.string(), "", read.problem);
    return std::move(read.text);
  }

  // "rank3/trace.json": the inner folder's number, if the file's name has none.
  [[nodiscard]] std::int64_t rank_in_name(const fs::path& path) const {
    const std::int64_t rank = number_in(path.filename().string(), Which::first);
    std::error_code error;
    if (rank >= 0 || fs::equivalent(path.parent_path(), work_.path, error)) return rank;
    return number_in(path.parent_path().filename().string(), Which::last);
  }

  void read_profiles() {
    for (const fs::path& path : files_of(work_.path)) {
      const std::optional<std::string> text = text_of(path);
      if (!text) continue;
      const std::size_t found = problems_.found();
      KinetoFile file = read_kineto(*text, path.string(), problems_);
      if (problems_.found() > found) continue;
      if (file.gpu.empty()) {
        problems_.add(path.string(), "",
                      "has no kernel of a GPU; record with activities=[ProfilerActivity.CPU, "
                      "ProfilerActivity.CUDA]");
        continue;
      }
      take(std::move(file), path);
    }
    expect_all(ranks_.profiles, work_.path);
  }

  // A file that does not say whose it is may have several GPUs of one process.
  void take(KinetoFile file, const fs::path& path) {
    std::vector<KinetoFile> devices;
    if (file.rank < 0) devices = by_device(file);
    if (devices.empty()) return take_rank(std::move(file), path);
    if (!is_of_one_process(file)) {
      return problems_.add(file.name, "",
                           "calls of one number launched kernels on several GPUs, so it is of "
                           "several processes; give the file of each (rank0.json, rank1.json)");
    }
    for (KinetoFile& one : devices) {
      one.rank = next_gpu_;
      ranks_.left_out += choose_steps(work_, one, problems_);
      keep(next_gpu_++, std::move(one), ranks_.profiles);
    }
  }

  void take_rank(KinetoFile file, const fs::path& path) {
    ranks_.left_out += choose_steps(work_, file, problems_);
    if (file.rank < 0) file.rank = gpus_ == 1 ? 0 : rank_in_name(path);
    if (file.ranks >= 0 && file.ranks != gpus_ && !other_number_told_) {
      other_number_told_ = true;  // of one rank, for all
      tell_other_number(file);
    }
    const std::int64_t rank = file.rank;
    keep(rank, std::move(file), ranks_.profiles);
  }

  void tell_other_number(const KinetoFile& file) {
    const bool copied = work_.copies != work_.recorded_copies;
    problems_.add(
        file.name, "distributedInfo: world_size",
        fmt::format("{}, but the cluster has {} GPUs{}: what each computes and sends on "
                    "another number of them was not recorded; the cluster has so many "
                    "where cluster.nodes x cluster.gpus_per_node is {}{}",
                    file.ranks, gpus_,
                    copied ? fmt::format(" for {} recorded of {} copies", work_.recorded_copies,
                                         work_.copies)
                           : "",
                    file.ranks, copied ? " x workload.copies / workload.recorded_copies" : ""));
  }

  void read_execution_traces() {
    for (const fs::path& path : files_of(work_.execution_traces)) {
      const std::optional<std::string> text = text_of(path);
      if (!text) continue;
      keep(number_in(path.stem().string(), Which::last),
           read_pytorch_et(*text, path.string(), problems_), ranks_.et);
    }
    expect_all(ranks_.et, work_.execution_traces);
  }

  template <class File>
  void keep(std::int64_t rank, File file, std::map<std::int64_t, File>& files) {
    const std::string name = file.name;
    if (rank < 0) {
      return problems_.add(name, "rank",
                           "neither in the file nor a number in its name; call it rank0.json");
    }
    if (rank >= gpus_) {
      return problems_.add(
          name, "rank",
          fmt::format("{}; must be 0 to {}, from the file or its name", rank, gpus_ - 1));
    }
    const auto [known, first] = files.try_emplace(rank, std::move(file));
    if (!first) {
      problems_.add(name, "rank",
                    fmt::format("{}, like {}; it is in the file, else a number in its name "
                                "(rank0.json)",
                                rank, known->second.name));
    }
  }

  template <class File>
  void expect_all(const std::map<std::int64_t, File>& files, const std::string& folder) {
    if (problems_.any()) return;
    for (int rank = 0; rank < gpus_; ++rank) {
      if (files.contains(rank)) continue;
      problems_.add(
          folder, fmt::format("rank {}", rank),
          fmt::format("has no file; on {} GPUs ranks 0 to {} are needed", gpus_, gpus_ - 1));
    }
  }

  const TraceWork& work_;
  int gpus_;
  TraceProblems problems_;
  LoadedTrace loaded_;
  RankProfiles ranks_;
  std::int64_t next_gpu_ = 0;  // of files of several GPUs
  bool other_number_told_ = false;
};

}  // namespace

namespace readers {

LoadedTrace pytorch(const TraceWork& work, int gpus, Bytes memory) {
  return PyTorchLoader(work, gpus, memory).load();
}

}  // namespace readers

}  // namespace weft
