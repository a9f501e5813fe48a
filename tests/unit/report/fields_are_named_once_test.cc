// A field of a mode is one row: whoever shows it goes through the rows. These tests read the
// sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "sim/report/mode_fields.h"
#include "sim/scenario/mode_rows.h"

namespace weft::fields_are_named_once_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = WEFT_SOURCE_DIR;

// Of what is built, drawn by, or draws. scripts/reproduce_* compute with results as a user does.
const std::map<std::string, std::string>& sources() {
  static const std::map<std::string, std::string> kSources = [] {
    const std::set<std::string> kinds{".cc", ".h", ".js", ".json", ".py"};
    std::map<std::string, std::string> texts;
    for (const char* folder : {"sim", "scripts"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        const std::string name = fs::relative(entry.path(), kRoot).generic_string();
        if (!kinds.contains(entry.path().extension()) ||
            name.find("reproduce_") != std::string::npos || name.ends_with("_test.py")) {
          continue;
        }
        std::ifstream stream(entry.path());
        for (std::string line; std::getline(stream, line);) {
          texts[name] += line.substr(0, line.find("// ")) + '\n';  // comments may give examples
        }
      }
    }
    return texts;
  }();
  return kSources;
}

// With any of these words.
std::set<std::string> files_with(const std::vector<std::string>& words) {
  std::set<std::string> files;
  for (const auto& [name, text] : sources()) {
    for (const std::string& word : words) {
      if (text.find(word) != std::string::npos) files.insert(name);
    }
  }
  return files;
}

std::vector<std::string> in_quotes(const std::string& text) {
  return {'"' + text + '"', "'" + text + "'"};
}

std::string last_word(const std::string& path) { return path.substr(path.find_last_of(".>") + 1); }

TEST(ResultFields, of_a_mode_are_a_row_and_what_computes_the_value) {
  EXPECT_EQ(files_with({"gpu_end_skew"}),
            (std::set<std::string>{"sim/report/measures.cc", "sim/report/measures.h",
                                   "sim/report/mode_fields.cc"}));
  EXPECT_EQ(files_with({"links_busy_max"}), std::set<std::string>{"sim/report/mode_fields.cc"});
}

// In quotes, as a key of JSON or a column. Each exception has its reason.
TEST(ResultFields, are_named_in_their_row_only) {
  const std::map<std::string, std::set<std::string>> others{
      // what all phases add up to, and what is compared
      {"time_us",
       {"sim/report/mode_fields.h", "sim/report/cache_runs.cc", "scripts/plot.py",
        "scripts/no_slower.py"}},
      // columns of other files, of the same name
      {"cu_busy", {"sim/report/over_time.cc"}},
      {"hbm_busy", {"sim/report/over_time.cc"}},
      {"exposed_us",
       {"sim/report/csv.cc", "sim/report/stages.cc", "sim/html/run_page.cc",
        "sim/html/run_tables.cc"}},
      {"computing_us", {"sim/report/stages.cc", "sim/html/run_page.cc", "sim/html/run_tables.cc"}},
      {"idle_us", {"sim/report/stages.cc"}},
      // what a search has to ask for
      {"time_low_us", {"sim/tune/objective.cc"}},
      {"time_high_us", {"sim/tune/objective.cc"}},
      // the path of a whole step is what its operators and these add up to
      {"critical_gaps_us", {"sim/html/run_page.cc"}},
  };
  for (const ModeField& field : mode_fields()) {
    const std::string path = field.path;
    if (path.find("modes.") != 0) continue;
    const std::string name = last_word(path);
    if (!name.ends_with("_us") && name.find("busy") == std::string::npos &&
        name.find("skew") == std::string::npos)
      continue;  // a word of its own that means other things too
    std::set<std::string> expected{"sim/report/mode_fields.cc"};
    const auto known = others.find(name);
    if (known != others.end()) expected.insert(known->second.begin(), known->second.end());
    std::vector<std::string> words = in_quotes(name);
    words.push_back('.' + name + '"');
    EXPECT_EQ(files_with(words), expected) << name;
  }
}

TEST(ResultFields, have_their_titles_in_their_row_only) {
  int checked = 0;
  for (const ModeField& field : mode_fields()) {
    const std::string title = field.title;
    if (std::count(title.begin(), title.end(), ' ') < 2) continue;
    std::set<std::string> expected{"sim/report/mode_fields.cc"};
    if (title == "WGs per CU") expected.insert("sim/report/model.cc");  // of a pair, not of a mode
    EXPECT_EQ(files_with(in_quotes(title)), expected) << title;
    ++checked;
  }
  EXPECT_GT(checked, 8);
}

TEST(Modes, have_their_colours_in_their_rows_only) {
  // Bulk, kernel and fused begin the palette, and some colours are of parts of the time.
  const std::set<std::string> may{"sim/scenario/mode_rows.h", "sim/report/catalogue.cc",
                                  "sim/report/mode_fields.cc",
                                  "scripts/plot_timeline.py"};  // draws traces, not results
  for (const ModeRow& mode : kModeRows) {
    std::string lower = mode.colour;
    for (char& letter : lower) letter = static_cast<char>(std::tolower(letter));
    for (const std::string& file : files_with({mode.colour, lower})) {
      EXPECT_TRUE(may.contains(file)) << mode.name << "'s colour is in " << file;
    }
  }
}

}  // namespace
}  // namespace weft::fields_are_named_once_test
