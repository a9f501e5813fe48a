// docs/keys.md is made from the code that reads the keys. WEFT_UPDATE_GOLDENS=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/scenario/load.h"

namespace weft::keys_document_test {
namespace {

std::string range_of(const KeyDoc& key) {
  if (key.low.empty() && key.high.empty()) return "";
  return key.low + " .. " + key.high;
}

std::string meaning_of(const KeyDoc& key) {
  std::string text = key.help;
  for (const WordDoc& word : key.words) {
    if (!word.meaning.empty()) text += "; `" + word.word + "`: " + word.meaning;
  }
  return text;
}

std::string document() {
  std::string text =
      "# Every key of a scenario\n\nMade from the code that reads them (`describe_scenario()`); a "
      "test "
      "fails where this page differs.\n\n| key | type | units | default | range | only with | "
      "meaning |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const KeyDoc& key : describe_scenario()) {
    text += "| `" + key.path + "` | " + key.type + " | " + key.units + " | " + key.fallback +
            " | " + range_of(key) + " | " + key.only + " | " + meaning_of(key) + " |\n";
  }
  return text;
}

TEST(KeysDocument, says_what_the_reader_reads) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/docs/keys.md";
  if (std::getenv("WEFT_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << document();
  std::stringstream written;
  written << std::ifstream(path).rdbuf();
  EXPECT_EQ(written.str(), document());
}

}  // namespace
}  // namespace weft::keys_document_test
