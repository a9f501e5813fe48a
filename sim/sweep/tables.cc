#include "sim/sweep/tables.h"

#include <map>
#include <set>
#include <utility>

#include "sim/files/checksum.h"
#include "sim/files/file_set.h"
#include "sim/report/catalogue.h"
#include "sim/report/csv_line.h"
#include "sim/report/fields.h"
#include "sim/sweep/summary_values.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The columns of results, in groups, each in the order in which rows have them first.
class ResultColumns {
 public:
  using Place = std::pair<ColumnGroup, std::size_t>;
  using Cells = std::map<Place, std::string>;  // what a row has

  Cells read(const std::string& summary) {
    Cells cells;
    for (const SummaryValue& value : summary_values(summary)) {
      cells[place_of(value)] = value.text;
    }
    return cells;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [group, columns] : groups_) {
      all.insert(all.end(), columns.names.begin(), columns.names.end());
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> in_order(const Cells& cells) const {
    std::vector<std::string> row;
    for (const auto& [group, columns] : groups_) {
      for (std::size_t i = 0; i < columns.names.size(); ++i) {
        const auto found = cells.find({group, i});
        row.push_back(found == cells.end() ? "" : found->second);
      }
    }
    return row;
  }

 private:
  struct Columns {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> numbers;
  };

  Place place_of(const SummaryValue& value) {
    Columns& columns = groups_[value.group];
    const std::string name = column_of(value);
    const auto [found, fresh] = columns.numbers.try_emplace(name, columns.names.size());
    if (fresh) columns.names.push_back(name);
    return {value.group, found->second};
  }

  std::map<ColumnGroup, Columns> groups_;
};

}  // namespace

std::string results_csv(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes) {
  ResultColumns columns;
  std::vector<ResultColumns::Cells> cells;
  cells.reserve(rows.size());
  for (const Row& row : rows) cells.push_back(columns.read(row.outcome.summary));

  std::vector<std::string> header;
  header.reserve(axes.size());
  for (const AxisColumn& axis : axes) header.push_back(axis.column);
  header.insert(header.end(), {"point", "status", "error"});
  const std::vector<std::string> names = columns.names();
  header.insert(header.end(), names.begin(), names.end());
  std::string csv = csv_line(header);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> line;
    line.reserve(header.size());
    for (const Cell& cell : rows[i].cells) line.push_back(text_of(cell));
    const PointOutcome& outcome = rows[i].outcome;
    line.insert(line.end(), {rows[i].point, outcome.ok ? "ok" : "failed", outcome.error});
    const std::vector<std::string> results = columns.in_order(cells[i]);
    line.insert(line.end(), results.begin(), results.end());
    csv += csv_line(line);
  }
  return csv;
}

std::string results_long_csv(const std::vector<Row>& rows) {
  std::vector<std::string> header;
  for (const Field& field : fields(ResultFile::sweep_long)) header.push_back(field.name);
  std::string csv = csv_line(header);
  std::set<std::string> seen;  // rows of equal scenarios are one point
  for (const Row& row : rows) {
    if (!seen.insert(row.point).second) continue;
    for (const SummaryValue& value : summary_values(row.outcome.summary)) {
      csv += csv_line({row.point, value.mode, value.field, value.text, name_of(value.unit)});
    }
  }
  return csv;
}

std::vector<std::string> table_names() {
  using enum ResultFile;
  std::vector<std::string> names;
  for (const ResultFile table : {sweep, sweep_long, catalogue, files}) {
    names.emplace_back(file_name(table));
  }
  return names;
}

void add_tables(Staged& staged, const fs::path& folder, const std::vector<Row>& rows,
                const std::vector<AxisColumn>& axes) {
  FileHashes hashes;
  for (const auto& [table, text] : {std::pair(ResultFile::sweep, results_csv(rows, axes)),
                                    std::pair(ResultFile::sweep_long, results_long_csv(rows)),
                                    std::pair(ResultFile::catalogue, catalogue_json())}) {
    staged.add(folder / file_name(table), text);
    hashes[file_name(table)] = checksum_of(text);
  }
  staged.add(folder / file_name(ResultFile::files), to_json(hashes));
}

void remove_tables(Staged& staged, const fs::path& folder) {
  for (const std::string& name : table_names()) staged.remove(folder / name);
}

}  // namespace weft
