// The pictures of a run, each a chart with the table that it draws.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/html/page.h"

namespace weft {

using Rows = std::vector<std::vector<JsonValue>>;

struct Pictured {
  PageTable table;
  Chart chart;
};

inline constexpr const char* kOverTime = "over_time.csv";

// Of any table with these columns (a run's modes, a sweep's points): its other columns, the phase
// and how long it is. What no phase has of the time is the last one.
PageTable phases_table(const PageTable& modes);
Pictured phases_picture(const PageTable& modes);

// Columns of the rows: mode, part, exposed_us, computing_us.
Pictured parts_picture(const Rows& rows);
// pair, bulk_us, chunked_us, fused_us, obstacle.
Pictured fusions_picture(const Rows& rows);
// mode, class, utilisation, bytes.
Pictured links_picture(const Rows& rows);
// The columns of the file, all of them.
Pictured over_time_picture(Rows rows);
Pictured no_over_time();
// mode, part, critical_us; and of each mode the launches in between.
Pictured critical_picture(const Rows& rows,
                          const std::vector<std::pair<std::string, double>>& gaps);

}  // namespace weft
