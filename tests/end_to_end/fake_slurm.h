// sbatch and squeue of a Slurm that there is not, for programs that are run with its path().
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace weft {

class FakeSlurm {
 public:
  // `task` is what each task is, in sh: its script is $script. `queue` is what squeue prints.
  FakeSlurm(const std::filesystem::path& folder, const std::string& task,
            const std::string& queue = "")
      : bin_(folder / "slurm_bin") {
    std::filesystem::create_directories(bin_);
    write("sbatch",
          "for word; do\n"
          "  case $word in --array=*) tasks=${word#--array=} ;; esac\n"
          "  script=$word\n"
          "done\n"
          "tasks=${tasks%\\%*}\n"
          "for SLURM_ARRAY_TASK_ID in $(seq ${tasks%-*} ${tasks#*-}); do\n"
          "  export SLURM_ARRAY_TASK_ID\n  " +
              task + "\ndone\nexit 0\n");
    write("squeue", "printf '" + queue + "'\n");
  }
  // What comes before a program: its environment.
  [[nodiscard]] std::string path() const { return "PATH='" + bin_.string() + "':\"$PATH\""; }

 private:
  void write(const char* name, const std::string& text) const {
    std::ofstream(bin_ / name) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(bin_ / name, std::filesystem::perms::owner_all);
  }
  std::filesystem::path bin_;
};

}  // namespace weft
