#include "sim/core/diagnostics.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "sim/core/plain_text.h"

namespace weft {
namespace {

std::string position_text(const SourcePosition& at) {
  std::string text = printable_line(at.file);
  if (at.line > 0) text += ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
  return text;
}

// The line with a caret under the column; of a very long line, only the part around the column.
std::string caret_text(std::string_view line, int column) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 120;
  if (column < 1 || static_cast<std::size_t>(column) > line.size() + 1) return "";
  std::size_t caret = static_cast<std::size_t>(column) - 1;
  if (line.size() > kShown) {
    const std::size_t start = caret > kBefore ? caret - kBefore : 0;
    line = line.substr(start, kShown);
    caret -= start;
  }
  std::string text = "  " + printable_line(line) + "\n  ";
  for (std::size_t i = 0; i < caret; ++i) text += line[i] == '\t' ? '\t' : ' ';
  return text + "^\n";
}

auto sort_key(const Diagnostic& d) {
  return std::tie(d.at.file, d.at.line, d.at.column, d.path, d.message);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }

void Diagnostics::append(const Diagnostics& others) {
  all_.insert(all_.end(), others.all_.begin(), others.all_.end());
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string Diagnostics::to_text() const {
  std::vector<Diagnostic> sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return sort_key(a) < sort_key(b);
  });
  // A file that is the base of two maps would report everything twice.
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return sort_key(a) == sort_key(b);
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());

  std::string text;
  for (const Diagnostic& d : sorted) {
    text += position_text(d.at) + (d.severity == Severity::error ? ": error: " : ": warning: ");
    if (!d.path.empty()) text += printable_line(d.path) + ": ";
    text += printable_line(d.message) + '\n';
    if (!d.source_line.empty()) text += caret_text(d.source_line, d.at.column);
  }
  return text;
}

namespace {

// The only one that begins so, of a word long enough to tell.
std::string completed(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kTelling = 3;
  if (word.size() < kTelling) return "";
  std::string only;
  for (const std::string& candidate : known) {
    if (!candidate.starts_with(word)) continue;
    if (!only.empty()) return "";
    only = candidate;
  }
  return only;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const std::size_t longest = std::max(word.size(), candidate.size());
    // The lengths alone may already tell that it is far: no table for a key of a million letters.
    const std::size_t shortest = std::min(word.size(), candidate.size());
    if ((longest - shortest) * 3 > longest) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance * 3 > longest) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? completed(word, known) : best;
}

}  // namespace weft
