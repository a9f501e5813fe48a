// The files of a run's folder, read back for a page.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/html/json_check.h"
#include "sim/html/run_tables.h"
#include "sim/report/fields.h"
#include "sim/report/mode_fields.h"

namespace weft {

// Each file is read whatever the others hold; what is wrong is a problem with its path and column.
class RunReader {
 public:
  RunReader(const std::filesystem::path& folder, Diagnostics& problems);

  [[nodiscard]] bool has(const std::string& name) const;
  std::optional<JsonValue> json(ResultFile file);
  Rows rows(const std::string& name, const std::vector<Needed>& needed);
  Rows rows(ResultFile file, const std::vector<Needed>& needed) {
    return rows(file_name(file), needed);
  }
  // What is drawn from some of the files is told of all of them: none may be another's.
  void check_others();

 private:
  const std::filesystem::path& folder_;
  FileSet files_;
  std::set<std::string> read_;
  Diagnostics& problems_;
};

// What the reader may choose to see of the modes, in the order of the catalogue.
std::vector<ModeField> shown_fields();

// Of a mode; "wait_us.post" is in a group. `where` is the mode's path.
double number_at(const JsonValue& mode, const std::string& path, const std::string& where,
                 JsonCheck& check);

// Three blanks part what is said of a cluster.
std::string in_one_line(std::string text);

}  // namespace weft
