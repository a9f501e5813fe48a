// Rows put in another order, and casts to fp8, by PyTorch on one H100 (calibration/pytorch,
// row_copies.py, casts.py). Instructions and tiles were read off the first file of each; the second
// one has other shapes of another hour.
#include "sim/models/row_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/measured/lines.h"
#include "sim/models/casts.h"
#include "sim/models/lower_model.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace weft::row_copies_test {
namespace {

constexpr double kShort = 15;  // us: below it launches are what counts

const Scenario& scenario() {
  static const Scenario loaded =
      *load_scenario_text(
           "name: rows\ncluster: {base: clusters/node_8x_h100}\nmodes: [bulk]\n"
           "run: {launch: graph}\n"
           "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n",
           "rows.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}})
           .scenario;
  return loaded;
}

// One after another on one H100, in a graph.
template <class Write>
double simulated_us(const Write& write) {
  static const Cluster cluster = build_cluster(scenario().cluster);
  ModelGraph graph;
  const PairRules rules;
  BlockWriter out(graph, rules);
  write(out, graph.add_place({.groups = {{0}}}));
  const TaskGraph tasks = lower_model(graph, {.options = overlap_options(scenario()),
                                              .cluster = cluster,
                                              .mode = Mode::bulk,
                                              .fusions = {}});
  return to_microseconds(simulate(cluster, tasks, scenario().run).time);
}

std::vector<MeasuredLine> lines_of(const std::string& file, const std::string& kind) {
  MeasuredFile measured =
      read_measured(std::string(WEFT_SOURCE_DIR "/calibration/measurements/h100-pytorch-") + file);
  EXPECT_EQ(measured.problems.to_text(), "");
  std::erase_if(measured.lines, [&](const MeasuredLine& line) { return line.kind != kind; });
  EXPECT_FALSE(measured.lines.empty()) << file;
  return measured.lines;
}

struct Errors {
  std::vector<double> all;  // sizes of them
  void add(const MeasuredLine& line, double us) {
    all.push_back(std::abs(us / line.us - 1));
    std::cout << line.kind << ' ' << line.text() << ": " << line.us << " us, predicted " << us
              << " (" << std::round((us / line.us - 1) * 1000) / 10 << " %)\n";
  }
  // Of so large a part of them.
  double at_most(double part) {
    std::sort(all.begin(), all.end());
    return all.at(static_cast<std::size_t>(part * static_cast<double>(all.size() - 1)));
  }
};

Errors of_moves(const std::string& file, const std::string& way,
                void (*move)(BlockWriter&, const RowMove&)) {
  Errors errors;
  for (const MeasuredLine& line : lines_of(file, "row_copies")) {
    if (!line.says("way", way) || line.us < kShort) continue;
    RowMove rows;
    rows.name = "rows";
    rows.part = "measured";
    rows.rows = *line.number("rows");
    rows.sources = rows.rows / *line.number("copies");
    rows.width = *line.number("width");
    rows.row_size = rows.source_size = bytes_of(rows.width, DataType::bf16);
    errors.add(line, simulated_us([&](BlockWriter& out, PlaceId place) {
                 rows.place = place;
                 move(out, rows);
               }));
  }
  return errors;
}

void expect_within(const std::string& kind, void (*move)(BlockWriter&, const RowMove&),
                   double median, double nine_of_ten) {
  for (const char* file : {"row_copies.jsonl", "row_copies-2.jsonl"}) {
    Errors errors = of_moves(file, kind, move);
    std::printf("%s, %s: %zu lines, median %.1f %%, 90 %% within %.1f %%\n", kind.c_str(), file,
                errors.all.size(), 100 * errors.at_most(0.5), 100 * errors.at_most(0.9));
    EXPECT_LT(errors.at_most(0.5), median) << file;
    EXPECT_LT(errors.at_most(0.9), nine_of_ten) << file;
  }
}

TEST(RowCopies, rows_taken_by_index_stream) { expect_within("index", take_rows, 0.10, 0.15); }

TEST(RowCopies, rows_added_to_sorted_places_take_instructions_and_a_sort) {
  expect_within("index_back", add_rows_sorted, 0.12, 0.20);
}

TEST(RowCopies, rows_scattered_take_atomic_additions) {
  expect_within("gather_back", scatter_add_rows, 0.10, 0.20);
}

// `scaling`: as calibration/pytorch/casts.py calls it.
Errors of_casts(const std::string& file, const std::string& scaling) {
  DecoderShapes shapes;
  shapes.fp8 = scaling == "tensor" ? Fp8Scales::tensor
               : scaling == "row"  ? Fp8Scales::row
                                   : Fp8Scales::block;
  Errors errors;
  for (const MeasuredLine& line : lines_of(file, "cast")) {
    if (!line.says("scaling", scaling) || line.us < kShort) continue;
    errors.add(line, simulated_us([&](BlockWriter& out, PlaceId place) {
                 cast_to_fp8(out, shapes, place,
                             {.name = "cast",
                              .rows = *line.number("rows"),
                              .width = *line.number("columns"),
                              .way = CastWay::both,
                              .square = scaling == "square"});
               }));
  }
  return errors;
}

// Casts by row: the kernel has tiles of 8 or 64 rows, chosen by trial, and takes twice as long with
// one as with the other; weft knows no tiles.
TEST(Casts, take_as_long_as_measured) {
  for (const char* file : {"casts.jsonl", "casts-2.jsonl"}) {
    for (const char* scaling : {"tensor", "row", "block", "square"}) {
      Errors errors = of_casts(file, scaling);
      std::printf("%s, %s: %zu lines, median %.1f %%, worst %.1f %%\n", scaling, file,
                  errors.all.size(), 100 * errors.at_most(0.5), 100 * errors.at_most(1));
      EXPECT_LT(errors.at_most(0.5), std::string(scaling) == "row" ? 0.20 : 0.15) << scaling;
    }
  }
}

}  // namespace
}  // namespace weft::row_copies_test
