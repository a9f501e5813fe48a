#include "sim/report/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

std::int64_t ns_of(SimTime time) { return time.count() / 1000; }

// The format counts in microseconds.
std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

// A slice has its start but not its end.
bool has_inside(const TraceEvents::End& end) { return ns_of(end.start) < ns_of(end.end); }
std::int64_t inside(const TraceEvents::End& end) {
  return std::clamp(ns_of(end.at), ns_of(end.start), ns_of(end.end) - 1);
}

}  // namespace

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void TraceEvents::name_process(std::uint64_t process, std::string_view name) {
  add_always(
      fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})",
                  process, json_text(name)));
  add_always(fmt::format(
      R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
      process));
}

void TraceEvents::name_thread(const TraceThread& thread, std::string_view name) {
  add_always(
      fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                  thread.process, thread.thread, json_text(name)));
  add_always(fmt::format(
      R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
      thread.process, thread.thread));
}

bool TraceEvents::slice(const Slice& slice) {
  const std::int64_t at = ns_of(slice.start);
  return add(
      at, fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},)"
                      R"("cat":"{}","name":{},"args":{{{}}}}})",
                      slice.thread.process, slice.thread.thread, us(at), us(ns_of(slice.end) - at),
                      slice.category, json_text(slice.name), slice.args));
}

bool TraceEvents::arrow(const End& from, const End& to, std::string_view name) {
  if (!has_inside(from) || !has_inside(to)) return true;  // nothing to see
  const std::int64_t begin = inside(from);
  const std::int64_t end = inside(to);
  if (end < begin) return true;
  const std::string id =
      fmt::format(R"("cat":"message","id":{},"name":{})", arrows_ + 1, json_text(name));
  const std::string first = fmt::format(R"({{"ph":"s","pid":{},"tid":{},"ts":{},{}}})",
                                        from.thread.process, from.thread.thread, us(begin), id);
  const std::string second = fmt::format(R"({{"ph":"f","bp":"e","pid":{},"tid":{},"ts":{},{}}})",
                                         to.thread.process, to.thread.thread, us(end), id);
  if (in_use() + first.size() + second.size() + 4 > allowed_) return false;
  ++arrows_;
  return add(begin, first) && add(end, second);
}

bool TraceEvents::counter(std::uint64_t process, SimTime at, std::string_view name,
                          double percent) {
  return add(ns_of(at),
             fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"%":{:.1f}}}}})",
                         process, us(ns_of(at)), json_text(name), percent));
}

bool TraceEvents::add(std::int64_t at_ns, std::string_view text) {
  if (in_use() + text.size() + 2 > allowed_) return false;
  places_.push_back({at_ns, text_.size(), text_.size() + text.size()});
  text_ += text;
  return true;
}

void TraceEvents::add_always(std::string_view text) {
  places_.push_back({-1, text_.size(), text_.size() + text.size()});
  text_ += text;
}

std::string TraceEvents::json(std::string_view other) {
  std::stable_sort(places_.begin(), places_.end(),
                   [](const Place& a, const Place& b) { return a.at_ns < b.at_ns; });
  std::string json;
  json.reserve(text_.size() + 2 * places_.size() + other.size() + 100);
  json += R"({"displayTimeUnit":"ns","otherData":)";
  json += other;
  json += R"(,"traceEvents":[)";
  for (const Place& place : places_) {
    json += place.begin == places_.front().begin ? "\n" : ",\n";
    json.append(text_, place.begin, place.end - place.begin);
  }
  json += "\n]}\n";
  return json;
}

}  // namespace weft
