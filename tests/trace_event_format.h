// The Trace Event Format, strictly: what is wrong with a file of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {

class TraceEventFormat {
 public:
  using Json = nlohmann::json;

  explicit TraceEventFormat(const std::string& text) {
    const Json file = Json::parse(text, nullptr, false);
    if (!file.is_object()) {
      wrong("no JSON object", {});
      return;
    }
    if (file.value("displayTimeUnit", "") != "ns") wrong("displayTimeUnit", {});
    if (!file.contains("traceEvents") || !file["traceEvents"].is_array()) {
      wrong("traceEvents", {});
      return;
    }
    for (const Json& event : file["traceEvents"]) check(event);
    check_flows();
    check_names();
  }

  // At most ten.
  [[nodiscard]] const std::vector<std::string>& mistakes() const { return mistakes_; }
  [[nodiscard]] int count(char phase) const {
    const auto known = counts_.find(phase);
    return known == counts_.end() ? 0 : known->second;
  }
  [[nodiscard]] bool has_process(const std::string& name) const { return names_.contains(name); }
  [[nodiscard]] bool has_thread(const std::string& name) const { return threads_.contains(name); }

  struct Slice {
    std::int64_t start;  // ns
    std::int64_t end;
    std::string name;
  };
  using Track = std::pair<std::int64_t, std::int64_t>;  // process, thread
  [[nodiscard]] const std::map<Track, std::vector<Slice>>& slices() const { return slices_; }

 private:
  struct FlowEnd {
    Track track;
    std::int64_t at;
    std::string name;
  };

  void wrong(const std::string& what, const Json& event) {
    if (mistakes_.size() < 10) mistakes_.push_back(what + ": " + event.dump());
  }

  void check(const Json& event) {
    if (!event.is_object()) return wrong("no object", event);
    const std::string phase = event.value("ph", "");
    if (phase.size() != 1) return wrong("ph", event);
    counts_[phase[0]] += 1;
    if (!is_integer(event, "pid")) return wrong("pid", event);
    if (event.value("name", "").empty()) wrong("name", event);
    if (phase == "M") return check_metadata(event);
    if (!event.contains("ts") || !event["ts"].is_number()) return wrong("ts", event);
    const std::int64_t at = ns(event["ts"]);
    if (at < last_) wrong("ts goes back", event);
    last_ = at;
    if (phase == "C") return check_counter(event);
    if (!is_integer(event, "tid")) return wrong("tid", event);
    if (event.value("cat", "").empty()) wrong("cat", event);
    const Track track = track_of(event);
    if (phase == "X") return check_slice(event, track, at);
    if (phase == "s" || phase == "f")
      return check_flow(event, phase, {track, at, event["name"].get<std::string>()});
    wrong("unknown ph", event);
  }

  void check_metadata(const Json& event) {
    const std::string name = event.value("name", "");
    const Json args = event.value("args", Json::object());
    if (name == "process_name" || name == "thread_name") {
      if (args.value("name", "").empty()) return wrong("args.name", event);
      if (name == "process_name") {
        if (!named_.insert(event["pid"].get<std::int64_t>()).second) wrong("a second name", event);
        names_.insert(args["name"].get<std::string>());
      } else {
        if (!named_threads_.insert(track_of(event)).second) wrong("again", event);
        threads_.insert(args["name"].get<std::string>());
      }
    } else if (name == "process_sort_index" || name == "thread_sort_index") {
      if (!is_integer(args, "sort_index")) wrong("args.sort_index", event);
    } else {
      wrong("unknown metadata", event);
    }
  }

  void check_counter(const Json& event) {
    processes_.insert(event["pid"].get<std::int64_t>());
    if (!event.contains("args") || event["args"].empty()) return wrong("args", event);
    for (const Json& value : event["args"]) {
      if (!value.is_number()) wrong("no number", event);
    }
  }

  void check_slice(const Json& event, const Track& track, std::int64_t start) {
    if (!event.contains("dur") || !event["dur"].is_number()) return wrong("dur", event);
    if (!event.contains("args") || !event["args"].is_object()) wrong("args", event);
    const Slice slice{start, start + ns(event["dur"]), event["name"].get<std::string>()};
    if (slice.end < start) wrong("dur", event);
    std::vector<Slice>& open = open_[track];
    while (!open.empty() && open.back().end <= start) open.pop_back();
    if (!open.empty() && slice.end > open.back().end) wrong("neither in nor behind", event);
    open.push_back(slice);
    slices_[track].push_back(slice);
  }

  void check_flow(const Json& event, const std::string& phase, const FlowEnd& end) {
    if (!is_integer(event, "id")) return wrong("id", event);
    if (phase == "f" && event.value("bp", "") != "e") wrong("bp", event);
    auto& ends = phase == "s" ? begins_ : ends_;
    if (!ends.emplace(event["id"].get<std::int64_t>(), end).second) wrong("id again", event);
  }

  void check_flows() {
    if (begins_.size() != ends_.size()) wrong("flows without an end", {});
    for (const auto& [id, begin] : begins_) {
      const auto end = ends_.find(id);
      if (end == ends_.end()) {
        wrong("flow without an end", id);
        continue;
      }
      if (end->second.name != begin.name || end->second.at < begin.at) wrong("flow", id);
      if (!in_a_slice(begin)) wrong("flow begins in no slice", id);
      if (!in_a_slice(end->second)) wrong("flow ends in no slice", id);
    }
  }

  [[nodiscard]] bool in_a_slice(const FlowEnd& end) const {
    const auto track = slices_.find(end.track);
    if (track == slices_.end()) return false;
    for (const Slice& slice : track->second) {
      if (slice.start <= end.at && end.at < slice.end) return true;
    }
    return false;
  }

  void check_names() {
    for (const auto& [track, slices] : slices_) {
      processes_.insert(track.first);
      if (!named_threads_.contains(track)) wrong("thread without a name", track.second);
    }
    for (const std::int64_t process : processes_) {
      if (!named_.contains(process)) wrong("process without a name", process);
    }
  }

  static Track track_of(const Json& event) {
    return {event["pid"].get<std::int64_t>(), event["tid"].get<std::int64_t>()};
  }
  static bool is_integer(const Json& object, const char* key) {
    return object.contains(key) && object[key].is_number_integer();
  }
  static std::int64_t ns(const Json& us) { return std::llround(us.get<double>() * 1000); }

  std::vector<std::string> mistakes_;
  std::map<char, int> counts_;
  std::int64_t last_ = 0;
  std::set<std::int64_t> named_;
  std::set<std::int64_t> processes_;
  std::set<Track> named_threads_;
  std::set<std::string> names_;
  std::set<std::string> threads_;
  std::map<Track, std::vector<Slice>> open_;
  std::map<Track, std::vector<Slice>> slices_;
  std::map<std::int64_t, FlowEnd> begins_;
  std::map<std::int64_t, FlowEnd> ends_;
};

}  // namespace weft::testing
