// Recorder: the simulator reports to it what happens, and it asks at the end of each interval what
// CUs, HBMs and links have done by then. It decides nothing: a run is the same with or without one.
#pragma once

#include <unordered_map>  // not iterated
#include <vector>

#include "sim/core/shared_server.h"
#include "sim/engine/accounts.h"
#include "sim/engine/critical_path.h"
#include "sim/engine/recording.h"

namespace weft {

class Recorder {
 public:
  // `slots`: number of slots for WGs and copy engines of all GPUs. `demand`: what each work draws
  // from its GPU's memory, in kB/s.
  Recorder(const Cluster& cluster, const TaskGraph& graph, const RecordOptions& options,
           std::size_t slots, const std::vector<std::uint32_t>& demand);

  // Of a share of the cluster: samples only these GPUs and links.
  void watch_only(std::vector<std::uint32_t> gpus, std::vector<LinkId> links);
  // When sample() is to be called next, before anything after that time happens.
  [[nodiscard]] SimTime next_sample() const { return next_sample_; }
  struct Sources {
    const Accounts& accounts;
    const Transport& transport;
    const std::vector<SharedServer>& memory;
  };
  void sample(const Sources& sources);

  // A WG on a CU of its GPU, or a copy engine (cu: UINT32_MAX).
  struct Where {
    std::uint32_t gpu;
    std::uint32_t cu;
    std::uint32_t slot;
    std::uint32_t kernel;
  };
  void work_begins(SimTime now, const Where& where) {
    if (keeps_wgs_) work_since_[where.slot] = now;
  }
  // It pauses or is done. `item` is an index into its kernel's.
  void work_stops(SimTime now, const Where& where, std::uint32_t item) {
    if (keeps_wgs_) keep_work(now, where, item);
  }
  // A GPU's memory gets a job that takes `alone` by itself.
  void memory_job(std::uint32_t gpu, std::uint32_t demand, Duration alone) {
    memory_[gpu].begun += Drawn{demand} * static_cast<Drawn>(alone.count());
  }
  void waited(SimTime now, const Where& where, SimTime since, Wait why) {
    if (keeps_wgs_) keep_wait(now, where, since, why);
  }
  void posted(SimTime now, const Where& where, std::uint32_t send) {
    if (keeps_messages_) keep_posted(now, where, send);
  }
  void arrived(SimTime now, std::uint32_t send, std::uint32_t gpu) {
    if (keeps_messages_) keep_arrived(now, send, gpu);
  }

  // The run has ended after `time`.
  Recording close(Duration time, const Sources& sources, const std::vector<KernelSpan>& spans);

 private:
  using Drawn = SharedServer::Drawn;
  struct Pending {
    MessageRecord message;
    std::uint32_t left = 0;  // copies to arrive
  };

  void choose_watched(int cus);
  [[nodiscard]] bool watches(const Where& where) const;
  bool room(SimTime now);
  void keep_work(SimTime now, const Where& where, std::uint32_t item);
  void keep_wait(SimTime now, const Where& where, SimTime since, Wait why);
  void keep_posted(SimTime now, const Where& where, std::uint32_t send);
  void keep_arrived(SimTime now, std::uint32_t send, std::uint32_t gpu);
  enum class Booked : std::uint8_t { until_now, altogether };
  void add_up(SimTime now, const Sources& sources, Booked booked);
  void add_up_links(SimTime now, const Transport& transport);
  void expect_memory_jobs(const std::vector<std::uint32_t>& demand);
  [[nodiscard]] Duration first_length(const MemorySpec& memory) const;
  [[nodiscard]] Bytes moved_by_jobs(std::uint32_t gpu, Drawn left) const;

  const TaskGraph& graph_;
  RecordOptions options_;
  Recording recording_;
  bool keeps_wgs_;
  bool keeps_messages_;
  std::uint32_t cus_kept_;     // how many CUs per GPU whose WGs are kept ...
  std::uint32_t cu_step_ = 1;  // ... and how far apart they are
  SimTime last_sample_;
  SimTime next_sample_;
  struct Done {  // by a GPU, at the last sample
    Duration cu_time;
    Bytes hbm;
  };
  std::vector<Done> done_;
  std::vector<std::uint32_t> gpus_;  // that are sampled
  std::vector<LinkId> links_;        // the same
  struct Memory {  // jobs of a GPU's memory: what they draw, and how many bytes that is
    Drawn begun = 0;
    Drawn in_all = 0;
    Bytes traffic;
  };
  std::vector<Memory> memory_;
  std::vector<std::uint32_t> class_of_;
  std::vector<Duration> link_done_;
  std::vector<SimTime> work_since_;       // by slot
  std::vector<std::uint32_t> last_work_;  // by slot: index into wgs
  // By send.
  std::unordered_map<std::uint32_t, Pending> pending_;  // not iterated
  // With detail `kernels`: index of the last message from a kernel to a GPU.
  std::unordered_map<std::uint64_t, std::uint32_t> last_of_pair_;  // not iterated
};

}  // namespace weft
