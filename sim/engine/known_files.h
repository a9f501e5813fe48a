// Values by key in a folder that processes share: those of other shards of a sweep, of jobs of a
// cluster, of runs tomorrow. A file says which program wrote it, its whole key and a checksum; what
// is cut short, damaged, of another program or no such file at all is as if it were not there, and
// is replaced.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/quantity.h"
#include "sim/engine/run_key.h"
#include "sim/files/shared_folder.h"

namespace weft {

struct KnownFolder {
  std::filesystem::path folder;
  Bytes most = mebibytes(1024);                          // of all its files
  std::string program;                                   // that may read them (files/program_id.h)
  std::function<void(const std::string&)> warning = {};  // said once: nothing can be written
};

class KnownFiles {
 public:
  explicit KnownFiles(KnownFolder where);

  [[nodiscard]] const KnownFolder& where() const { return where_; }
  [[nodiscard]] std::optional<std::string> find(const RunKey& key) const;
  // Once something could not be written nothing more is.
  void put(const RunKey& key, std::string_view value);

  // Those of a folder that are no longer needed.
  static void remove(const std::filesystem::path& folder);

 private:
  KnownFolder where_;
  SharedFolder files_;
  std::atomic<bool> failed_ = false;
};

}  // namespace weft
