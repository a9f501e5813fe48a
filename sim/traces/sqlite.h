// SQLite databases, read from memory: nothing is opened, locked or written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace weft {

class SqliteFile {
 public:
  // Whether bytes are such a database's, from how they begin.
  static bool is_one(std::string_view bytes);
  // The bytes of a whole file, which must outlive this; `writes` is the command that makes one.
  SqliteFile(std::string& bytes, const char* writes);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  SqliteFile(SqliteFile&&) = delete;
  SqliteFile& operator=(SqliteFile&&) = delete;

  // Why it cannot be read, in SQLite's words; empty as long as all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  bool has_table(std::string_view table);
  bool has_column(std::string_view table, std::string_view column);

 private:
  friend class SqliteRows;
  bool any_row(const std::string& query);
  void fail();

  sqlite3* base_ = nullptr;
  std::string problem_;
  std::int64_t steps_left_ = 0;  // of a thousand instructions: damaged files may have no end
};

// The rows of one query, one after another.
class SqliteRows {
 public:
  SqliteRows(SqliteFile& file, const std::string& query);
  ~SqliteRows();
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  SqliteRows(SqliteRows&&) = delete;
  SqliteRows& operator=(SqliteRows&&) = delete;

  // False behind the last one, or after a problem of the file.
  bool next();
  // Of this row, columns counted from 0. What is NULL is `absent`; texts and blobs are then empty,
  // and stay valid until the next row.
  [[nodiscard]] std::int64_t whole(int column, std::int64_t absent = -1) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace weft
