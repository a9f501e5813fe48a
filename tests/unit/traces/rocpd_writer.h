// The same process as a database of rocprofv3, with all columns of the tables that weft reads, in
// schema 3.0.1 (which generateRocpd.cpp of ROCm/rocm-systems fills so) or 4.1.0 of rocpd
// (rocpd_tables.sql there).
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/unit/traces/run_sql.h"

namespace weft {

class RocpdWriter {
 public:
  // `by_track`: as schema 4 has it. Each process of a file has its own `id`.
  RocpdWriter(const std::string& path, bool by_track, std::string id)
      : by_track_(by_track), id_(std::move(id)) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &base_), SQLITE_OK);
    run("PRAGMA page_size = 512");
    run("BEGIN");
    make_tables();
  }
  ~RocpdWriter() {
    run("COMMIT");
    sqlite3_close(base_);
  }
  RocpdWriter(const RocpdWriter&) = delete;
  RocpdWriter& operator=(const RocpdWriter&) = delete;
  RocpdWriter(RocpdWriter&&) = delete;
  RocpdWriter& operator=(RocpdWriter&&) = delete;

  // A process of its JSON format.
  void add(const nlohmann::json& process) {
    for (const auto& agent : process["agents"]) add_agent(agent);
    for (const auto& symbol : process["kernel_symbols"]) {
      if (symbol["kernel_id"] == 0) continue;
      std::string name = symbol["demangled_kernel_name"];
      name.resize(name.find(" [clone"));
      insert("info_kernel_symbol",
             {symbol["kernel_id"], kGuid, kNode, kProcess, 1, symbol["kernel_name"], name, 0, 8, 8,
              0, 0, 96, symbol["arch_vgpr_count"], symbol["accum_vgpr_count"], "{}"});
    }
    for (const auto& marker : process["strings"]["marker_api"]) {
      messages_[marker["key"]] = marker["value"];
    }
    if (!process.contains("buffer_records")) return;
    for (const auto& [list, records] : process["buffer_records"].items()) {
      for (const auto& record : records) {
        if (list == "kernel_dispatch") {
          add_dispatch(record);
        } else if (list == "memory_copy") {
          add_copy(record);
        } else {
          add_region(process["strings"]["buffer_records"][record["kind"].get<std::size_t>()],
                     record);
        }
      }
    }
  }

 private:
  static constexpr const char* kGuid = "01020304-0506-7708-890a-0b0c0d0e0f10";
  static constexpr int kNode = 1;
  static constexpr int kProcess = 10;

  // "_a" is process 4097.
  [[nodiscard]] int pid() const { return 4000 + (id_.empty() ? 0 : id_.back()); }

  void make_tables() {
    const std::string start =
        "(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL, ";
    const std::string end = ", extdata JSONB DEFAULT '{}' NOT NULL)";
    const std::string grid =
        "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, private_segment_size INTEGER, "
        "group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER "
        "NOT NULL, workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y "
        "INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER";
    make("string",
         "(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL, string "
         "TEXT NOT NULL UNIQUE ON CONFLICT ABORT)");
    make("info_thread", start +
                            "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid "
                            "INTEGER NOT NULL, name TEXT, start BIGINT, \"end\" BIGINT" +
                            end);
    make("info_kernel_symbol",
         start +
             "nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL, "
             "kernel_name TEXT, display_name TEXT, kernel_object INTEGER, kernarg_segment_size "
             "INTEGER, kernarg_segment_alignment INTEGER, group_segment_size INTEGER, "
             "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
             "accum_vgpr_count INTEGER" +
             end);
    make("info_process", start +
                             "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init "
                             "BIGINT, fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, "
                             "environment JSONB DEFAULT '{}' NOT NULL" +
                             end);
    insert("info_process", {kProcess, kGuid, kNode, 1, pid(), nullptr, nullptr, nullptr, nullptr,
                            "python", "{}", "{}"});
    insert("info_thread", {5, kGuid, kNode, 1, kProcess, 5, nullptr, nullptr, nullptr, "{}"});
    const std::string agent =
        "nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT, absolute_index INTEGER, "
        "logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, ";
    if (!by_track_) {
      make("info_agent",
           start + agent + "model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT" +
               end);
      make("event", start +
                        "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
                        "correlation_id INTEGER, call_stack JSONB DEFAULT '{}' NOT NULL, "
                        "line_info JSONB DEFAULT '{}' NOT NULL" +
                        end);
      make("region", start +
                         "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
                         "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT "
                         "NULL, event_id INTEGER" +
                         end);
      make("kernel_dispatch",
           start +
               "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT "
               "NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id "
               "INTEGER NOT NULL, stream_id INTEGER NOT NULL, " +
               grid + end);
      make("memory_copy",
           start +
               "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT "
               "NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER, "
               "dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER "
               "NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, "
               "event_id INTEGER" +
               end);
      return;
    }
    make("info_agent",
         start + agent + "generic_name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT" +
             end);
    make("info_category", start + "name TEXT NOT NULL" + end);
    make("track", start +
                      "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER, tid INTEGER, agent_id "
                      "INTEGER, queue_id INTEGER, stream_id INTEGER, name_id INTEGER" +
                      end);
    make("event", start +
                      "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
                      "correlation_id INTEGER" +
                      end);
    make("region", start +
                       "track_id INTEGER NOT NULL, name_id INTEGER NOT NULL, start BIGINT NOT "
                       "NULL, \"end\" BIGINT NOT NULL, event_id INTEGER" +
                       end);
    make("kernel_dispatch", start +
                                "track_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, "
                                "dispatch_id INTEGER NOT NULL, " +
                                grid + end);
    make("memory_copy",
         start +
             "track_id INTEGER NOT NULL, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
             "name_id INTEGER NOT NULL, dst_agent_id INTEGER, dst_address INTEGER, "
             "src_agent_id INTEGER, src_address INTEGER, size INTEGER NOT NULL, region_name_id "
             "INTEGER, event_id INTEGER" +
             end);
  }

  void add_agent(const nlohmann::json& agent) {
    const int node = agent["node_id"];
    agents_[agent["id"]["handle"]] = node;
    const bool gpu = agent["type"] == 2;
    const nlohmann::json extdata = {{"cu_count", agent.value("cu_count", 0)}, {"size", 296}};
    nlohmann::json row = {node,
                          kGuid,
                          kNode,
                          kProcess,
                          gpu ? "GPU" : "CPU",
                          node,
                          node,
                          gpu ? node - 1 : node,
                          1,
                          agent.value("name", "")};
    if (by_track_) row.push_back("");  // generic_name
    for (const std::string& text :
         {std::string(), std::string("AMD"), agent.value("product_name", "")}) {
      row.push_back(text);
    }
    if (!by_track_) row.push_back(agent.value("product_name", ""));  // user_name
    row.push_back(extdata.dump());
    insert("info_agent", row);
  }

  void add_dispatch(const nlohmann::json& record) {
    const nlohmann::json& info = record["dispatch_info"];
    const int number = ++dispatches_;
    const int agent = agents_.at(info["agent_id"]["handle"]);
    nlohmann::json row = {number, kGuid};
    if (by_track_) {
      row.push_back(track(agent, info["queue_id"]["handle"], stream_of(record)));
      row.insert(row.end(), {info["kernel_id"], number});
    } else {
      for (const nlohmann::json& value :
           {nlohmann::json(kNode), nlohmann::json(kProcess), record["thread_id"],
            nlohmann::json(agent), info["kernel_id"], nlohmann::json(number),
            info["queue_id"]["handle"], nlohmann::json(stream_of(record))}) {
        row.push_back(value);
      }
    }
    const nlohmann::json& group = info["workgroup_size"];
    const nlohmann::json& items = info["grid_size"];
    for (const nlohmann::json& value :
         {record["start_timestamp"], record["end_timestamp"], nlohmann::json(0),
          info["group_segment_size"], group["x"], group["y"], group["z"], items["x"], items["y"],
          items["z"], nlohmann::json(string(" ")),
          nlohmann::json(event("KERNEL_DISPATCH", record, "{}")), nlohmann::json("{}")}) {
      row.push_back(value);
    }
    insert("kernel_dispatch", row);
  }

  void add_copy(const nlohmann::json& record) {
    const int name = string("MEMORY_COPY_DEVICE_TO_DEVICE");
    const int made = event("MEMORY_COPY", record, "{}");
    const int to = agents_.at(record["dst_agent_id"]["handle"]);
    const int from = agents_.at(record["src_agent_id"]["handle"]);
    const auto& start = record["start_timestamp"];
    const auto& end = record["end_timestamp"];
    if (by_track_) {
      insert("memory_copy", {nullptr, kGuid, track(to, 0, stream_of(record)), start, end, name, to,
                             0, from, 0, record["bytes"], nullptr, made, "{}"});
      return;
    }
    insert("memory_copy",
           {nullptr, kGuid, kNode, kProcess, record["thread_id"], start, end, name, to, 0, from, 0,
            record["bytes"], nullptr, stream_of(record), nullptr, made, "{}"});
  }

  void add_region(const nlohmann::json& kind, const nlohmann::json& record) {
    const std::int64_t correlation = record["correlation_id"]["internal"];
    const int name = string(kind["operations"][record["operation"].get<std::size_t>()]);
    const auto message = messages_.find(correlation);
    const std::string extdata =
        message == messages_.end() ? "{}" : nlohmann::json{{"message", message->second}}.dump();
    const int made = event(kind["kind"], record, extdata);
    const auto& start = record["start_timestamp"];
    const auto& end = record["end_timestamp"];
    if (by_track_) {
      insert("region", {correlation, kGuid, track(0, 0, 0), name, start, end, made, "{}"});
    } else {
      insert("region", {correlation, kGuid, kNode, kProcess, record["thread_id"], start, end, name,
                        made, "{}"});
    }
  }

  static int stream_of(const nlohmann::json& record) {
    return record.contains("stream_id") ? record["stream_id"]["handle"].get<int>() : 0;
  }

  int event(const std::string& category, const nlohmann::json& record, const std::string& extdata) {
    const std::int64_t correlation = record["correlation_id"]["internal"];
    nlohmann::json row = {
        ++events_,   kGuid,       by_track_ ? category_of(category) : string(category),
        correlation, correlation, 0};
    if (!by_track_) row.insert(row.end(), {"{}", "{}"});
    row.push_back(extdata);
    insert("event", row);
    return events_;
  }

  int category_of(const std::string& name) {
    const auto [found, made] = categories_.emplace(name, static_cast<int>(categories_.size()) + 1);
    if (made) insert("info_category", {found->second, kGuid, name, "{}"});
    return found->second;
  }
  int string(const std::string& text) {
    const auto [found, made] = strings_.emplace(text, static_cast<int>(strings_.size()) + 1);
    if (made) insert("string", {found->second, kGuid, text});
    return found->second;
  }
  int track(int agent, int queue, int stream) {
    const std::string key = nlohmann::json{agent, queue, stream}.dump();
    const auto [found, made] = tracks_.emplace(key, static_cast<int>(tracks_.size()) + 1);
    if (made) {
      insert("track",
             {found->second, kGuid, kNode, 1, kProcess, 5, agent, queue, stream, nullptr, "{}"});
    }
    return found->second;
  }

  void make(const std::string& table, const std::string& columns) {
    run("CREATE TABLE rocpd_" + table + id_ + " " + columns);
  }
  void insert(const std::string& table, const nlohmann::json& row) {
    std::string values;
    for (const nlohmann::json& value : row) {
      if (!values.empty()) values += ", ";
      if (value.is_null()) {
        values += "NULL";
      } else if (value.is_string()) {
        values += "'" + value.get<std::string>() + "'";
      } else {
        values += value.dump();
      }
    }
    run("INSERT INTO rocpd_" + table + id_ + " VALUES (" + values + ")");
  }
  void run(const std::string& sql) { run_sql(base_, sql); }

  sqlite3* base_ = nullptr;
  bool by_track_;
  std::string id_;
  std::map<std::int64_t, int> agents_;  // nodes, by handle
  std::map<std::int64_t, std::string> messages_;
  std::map<std::string, int> strings_;
  std::map<std::string, int> categories_;
  std::map<std::string, int> tracks_;
  int events_ = 0;
  int dispatches_ = 0;
};

}  // namespace weft
