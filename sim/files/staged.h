// The one way in which weft writes files. Every file is written next to its destination; all are
// moved there once the last one is complete, so that a failure changes nothing.
//
//   NAME.HOST.PID.partial   a file being written; those of processes that are dead are removed when
//                           the same NAME is written again
//
// A device, a pipe or a descriptor (/dev/stdout) is not replaced but written to; links are
// followed; a file that is there keeps its mode and its owner.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/file_set.h"
#include "sim/files/partial.h"
#include "sim/files/place.h"

namespace weft {

class Staged {
 public:
  // yes: what was committed survives a failure of power.
  enum class Durable { no, yes };

  explicit Staged(Durable durable = Durable::no) : durable_(durable) {}
  ~Staged();  // removes what was not moved
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  void add(const std::filesystem::path& file, std::string_view content);
  void remove(const std::filesystem::path& file);  // when the others are moved; a link stays

  // What was added to this folder so far is one result. Its manifest comes last. Whatever else is
  // there by a name that a result of this kind `owns` is of an earlier one, and goes.
  using Owns = std::function<bool(const std::string& name)>;
  void add_manifest(const std::filesystem::path& manifest, const Owns& owns);

  void commit();

 private:
  struct Step {
    enum class Does { move, remove, stream };
    Does does = Does::move;
    Place to;
    std::filesystem::path from = {};
    std::string content = {};  // of a stream
    std::string hash = {};
  };

  void stage(const Place& place, std::string_view content);
  void sweep_up(const std::filesystem::path& folder, const Owns& owns);
  static void take(const Step& step);

  Durable durable_;
  std::vector<Step> steps_;
  std::vector<std::filesystem::path> written_;  // beside their places; not moved yet
  std::vector<std::filesystem::path> results_;  // their folders
  std::map<std::filesystem::path, std::vector<DeadPartial>> dead_;  // by folder
  int number_ = 0;
};

// One file; missing folders are created.
void write_file(const std::filesystem::path& file, std::string_view content,
                Staged::Durable durable = Staged::Durable::no);

// Goes where it is there and a file of its own.
void remove_file(const std::filesystem::path& file);

// Durable: the file is either as it was or all new, whatever happens in between.
void replace_file(const std::filesystem::path& file, std::string_view content);

}  // namespace weft
