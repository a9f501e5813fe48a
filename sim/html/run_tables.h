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

// From a run's modes or a sweep's points: their columns up to the mode, the phase and how long it
// is. The last phase is the rest of the time.
PageTable phases_table(const PageTable& modes);
Pictured phases_picture(const PageTable& modes);

// Columns of the rows: mode, part, exposed_us, computing_us.
Pictured parts_picture(const Rows& rows);
// All columns of the file.
Pictured stages_picture(const Rows& rows);
// pair, bulk_us, chunked_us, fused_us, obstacle.
Pictured fusions_picture(const Rows& rows);
// mode, class, utilisation, bytes.
Pictured links_picture(const Rows& rows);
// All columns of the file.
Pictured over_time_picture(Rows rows);
Pictured no_over_time();
// mode, part, critical_us; `gaps`: each mode's launches in between.
Pictured critical_picture(const Rows& rows,
                          const std::vector<std::pair<std::string, double>>& gaps);

}  // namespace weft
