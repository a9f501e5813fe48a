// Reports of Nsight Systems as nsys export --type sqlite writes them, made by the test: the columns
// that its documentation lists, as far as weft reads them.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/traces/run_sql.h"

namespace weft {

// One process of one GPU: what its host does, one call 10 us after the last; what is launched
// starts 5 us later. Times are in microseconds.
class NsysReport {
 public:
  NsysReport() {
    run("PRAGMA page_size = 512");
    run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
    run("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER)");
    run("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
        "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
        "shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, "
        "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "
        "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
        "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
        "correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, "
        "copyKind INTEGER NOT NULL)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
        "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, "
        "end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
        "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
        "syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER NOT NULL, "
        "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
        "globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER)");
    run("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, "
        "eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, textId INTEGER, "
        "domainId INTEGER, binaryData BLOB)");
    run("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, "
        "schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, type INTEGER, name TEXT, "
        "offset INTEGER)");
    for (const char* entry :
         {"1, 0, 18, 'NCCL communicator ID', NULL", "1, 1, 5, 'No. of ranks', 8",
          "1, 2, 5, 'Rank', 12", "1, 3, 5, 'CUDA device', 16",
          "2, 0, 18, 'NCCL communicator ID', NULL", "2, 1, 22, 'Message size [bytes]', 8",
          "2, 2, 5, 'Peer rank', 16"}) {
      run(std::string("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (7, ") + entry + ")");
    }
  }
  ~NsysReport() { sqlite3_close(base_); }
  NsysReport(const NsysReport&) = delete;
  NsysReport& operator=(const NsysReport&) = delete;
  NsysReport(NsysReport&&) = delete;
  NsysReport& operator=(NsysReport&&) = delete;

  void run(const std::string& sql) { run_sql(base_, sql); }

  // From here on, what this process does on its GPU, from the start of time.
  NsysReport& process(int number, int device) {
    process_ = std::int64_t{number} << 24U;
    device_ = device;
    now_ = 1000;
    return *this;
  }
  NsysReport& later(double us) {
    now_ += us;
    return *this;
  }
  NsysReport& kernel(int stream, double us, const std::string& name = "void gemm_kernel<4>(int)") {
    launch();
    insert("CUPTI_ACTIVITY_KIND_KERNEL",
           {at(now_ + 5), at(now_ + 5 + us), device_, 1, stream, correlation_, process_, id(name),
            id("short"), 40, 6, 2, 1, 128, 2, 1, 12, 500});
    return pass();
  }
  // Within a range such as emit_nvtx's.
  NsysReport& in_range(const std::string& text, int stream, double us, const std::string& name) {
    range(text, 8);
    return kernel(stream, us, name);
  }
  NsysReport& copy(int stream, double us, std::int64_t size, int kind) {
    launch("cudaMemcpyAsync_v3020");
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", {at(now_ + 5), at(now_ + 5 + us), device_, 1, stream,
                                          correlation_, process_, size, kind});
    return pass();
  }
  NsysReport& range(const std::string& text, double us, const std::string& payload = "NULL") {
    run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(at(now_ - 1)) + ", " +
        std::to_string(at(now_ + us)) + ", 59, NULL, " + std::to_string(process_ + 1) + ", " +
        std::to_string(id(text)) + ", 7, " + payload + ")");
    return *this;
  }
  // A call of NCCL with what it says: communicator, bytes, peer.
  NsysReport& says(const std::string& call, std::int64_t communicator, std::int64_t bytes,
                   std::int64_t peer = 0) {
    return range(call, 6, blob(2, {{communicator, 8}, {bytes, 8}, {peer, 4}}));
  }
  NsysReport& joins(std::int64_t communicator, int ranks, int rank) {
    range("ncclCommInitRankConfig", 5,
          blob(1, {{communicator, 8}, {ranks, 4}, {rank, 4}, {device_, 4}}));
    return pass();
  }
  // In a group, as PyTorch does it: the kernel is launched by the call that ends it.
  NsysReport& group(const std::vector<std::vector<std::int64_t>>& calls, const std::string& call,
                    double us, const std::string& name) {
    range("ncclGroupStart", 1);
    pass();
    for (const auto& one : calls) {
      const std::string what = call.empty() ? (one[3] == 0 ? "ncclSend" : "ncclRecv") : call;
      says(what, one[0], one[1], one.size() > 2 ? one[2] : 0);
      pass();
    }
    range("ncclGroupEnd", 8);
    return kernel(20, us, name);
  }
  // A stream waits for an event; recorded on another, if the report says so.
  NsysReport& wait(int stream, int on_stream = -1) {
    launch("cudaStreamWaitEvent_v3020");
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
           {at(now_), at(now_ + 1), device_, 1, stream, correlation_, process_, 2, correlation_,
            on_stream < 0 ? -1 : correlation_});
    if (on_stream >= 0) {
      insert("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
             {device_, 1, on_stream, correlation_, process_, correlation_, correlation_});
    }
    return pass();
  }

  [[nodiscard]] std::string bytes() const {
    sqlite3_int64 size = 0;
    unsigned char* data = sqlite3_serialize(base_, "main", &size, 0);
    std::string text(reinterpret_cast<char*>(data), static_cast<std::size_t>(size));
    sqlite3_free(data);
    return text;
  }
  void write(const std::string& file) const { std::ofstream(file, std::ios::binary) << bytes(); }

 private:
  static sqlite3* opened() {
    sqlite3* base = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &base), SQLITE_OK);
    return base;
  }
  static std::int64_t at(double us) { return static_cast<std::int64_t>(us * 1000); }
  NsysReport& pass() {
    now_ += 10;
    return *this;
  }
  void launch(const std::string& call = "cudaLaunchKernel_v7000") {
    ++correlation_;
    insert("CUPTI_ACTIVITY_KIND_RUNTIME",
           {at(now_), at(now_ + 4), 1, process_ + 1, correlation_, id(call), 0});
  }
  std::int64_t id(const std::string& text) {
    const auto [found, first] = ids_.try_emplace(text, static_cast<std::int64_t>(ids_.size()) + 1);
    if (first) {
      run("INSERT INTO StringIds VALUES (" + std::to_string(found->second) + ", '" + text + "')");
    }
    return found->second;
  }
  void insert(const std::string& table, const std::vector<std::int64_t>& values) {
    std::string list;
    for (const std::int64_t value : values) {
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    }
    run("INSERT INTO " + table + " VALUES (" + list + ")");
  }
  // Numbers and their sizes in bytes, behind the head of a payload of this schema.
  static std::string blob(int schema, const std::vector<std::pair<std::int64_t, int>>& numbers) {
    std::string body;
    int size = 0;
    for (const auto& [number, bytes] : numbers) {
      body += little_endian(number, bytes);
      size += bytes;
    }
    return "x'" + little_endian(7, 8) + little_endian(schema, 8) + little_endian(size, 8) +
           little_endian(32 + size, 8) + body + "'";
  }
  static std::string little_endian(std::int64_t number, int bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string hex;
    for (int i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::size_t>((number >> (8 * i)) & 255);
      hex += kDigits[byte >> 4U];
      hex += kDigits[byte & 15U];
    }
    return hex;
  }

  sqlite3* base_ = opened();
  std::map<std::string, std::int64_t> ids_;
  std::int64_t process_ = std::int64_t{1} << 24U;
  std::int64_t device_ = 0;
  std::int64_t correlation_ = 0;
  double now_ = 1000;
};

}  // namespace weft
