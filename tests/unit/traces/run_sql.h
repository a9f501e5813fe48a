// Writes tables of a database that a test makes.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace weft {

inline void run_sql(sqlite3* base, const std::string& sql) {
  char* problem = nullptr;
  EXPECT_EQ(sqlite3_exec(base, sql.c_str(), nullptr, nullptr, &problem), SQLITE_OK) << sql << '\n'
                                                                                    << problem;
  sqlite3_free(problem);
}

}  // namespace weft
