#include "sim/traces/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace weft {
namespace {

constexpr int kInstructionsPerStep = 1000;
constexpr int kMostBytesOfValue = 16 << 20;

// Instructions that reading needs for each byte of a file at most, joins included, and for a start.
constexpr std::int64_t kInstructionsPerByte = 20;
constexpr std::int64_t kInstructionsToStart = 10'000'000;

int count_down(void* steps_left) { return --*static_cast<std::int64_t*>(steps_left) < 0 ? 1 : 0; }

}  // namespace

bool SqliteFile::is_one(std::string_view bytes) { return bytes.starts_with("SQLite format 3"); }

SqliteFile::SqliteFile(std::string& bytes, const char* writes)
    : steps_left_(
          (static_cast<std::int64_t>(bytes.size()) * kInstructionsPerByte + kInstructionsToStart) /
          kInstructionsPerStep) {
  if (!is_one(bytes)) {
    problem_ = fmt::format("not a database of SQLite; write one with {}", writes);
    return;
  }
  if (sqlite3_open_v2(":memory:", &base_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
    fail();
    return;
  }
  sqlite3_limit(base_, SQLITE_LIMIT_LENGTH, kMostBytesOfValue);
  sqlite3_db_config(base_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_progress_handler(base_, kInstructionsPerStep, count_down, &steps_left_);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  auto* data = reinterpret_cast<unsigned char*>(bytes.data());
  if (sqlite3_deserialize(base_, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) !=
          SQLITE_OK ||
      sqlite3_exec(base_, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

SqliteFile::~SqliteFile() { sqlite3_close(base_); }

void SqliteFile::fail() {
  if (problem_.empty()) problem_ = fmt::format("SQLite says: {}", sqlite3_errmsg(base_));
}

bool SqliteFile::any_row(const std::string& query) {
  SqliteRows rows(*this, query);
  return rows.next();
}

// Names are those that weft asks for, so they need no quotes of their own. A view is not a table.
bool SqliteFile::has_table(std::string_view table) {
  return any_row(
      fmt::format("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{}'", table));
}

bool SqliteFile::has_column(std::string_view table, std::string_view column) {
  return any_row(
      fmt::format("SELECT 1 FROM pragma_table_info('{}') WHERE name = '{}'", table, column));
}

SqliteRows::SqliteRows(SqliteFile& file, const std::string& query) : file_(file) {
  if (!file.problem_.empty()) return;
  if (sqlite3_prepare_v2(file.base_, query.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
    file.fail();
  }
}

SqliteRows::~SqliteRows() { sqlite3_finalize(statement_); }

bool SqliteRows::next() {
  if (statement_ == nullptr) return false;
  const int state = sqlite3_step(statement_);
  if (state != SQLITE_ROW && state != SQLITE_DONE) file_.fail();
  return state == SQLITE_ROW;
}

std::int64_t SqliteRows::whole(int column, std::int64_t absent) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return absent;
  return sqlite3_column_int64(statement_, column);
}

std::string_view SqliteRows::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view SqliteRows::blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_, column);
  if (blob == nullptr) return {};
  return {static_cast<const char*>(blob),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace weft
