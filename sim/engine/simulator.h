// Simulator: the state of one run, or of a share of its cluster, and the closed list of events.
// Events are scheduled only here; the models (SharedServer, CuSet, Transport) are told the time and
// answer.
//
// Every instant has two rounds: first all events of the instant happen, then kernels that
// start get their slots, and the shares of every server that changed are computed once (settle).
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>  // not iterated
#include <vector>

#include "sim/core/event_queue.h"
#include "sim/core/fingerprint.h"
#include "sim/core/huge_pages.h"
#include "sim/core/ring_queue.h"
#include "sim/core/shared_server.h"
#include "sim/core/window_queue.h"
#include "sim/engine/accounts.h"
#include "sim/engine/critical_path.h"
#include "sim/engine/latch_state.h"
#include "sim/engine/recorder.h"
#include "sim/engine/shares.h"
#include "sim/engine/simulate.h"
#include "sim/gpu_model/power_law.h"

namespace weft {

// What happens. The order of the list is the order within an instant.
enum class EventKind : std::uint8_t {
  link,          // id: the link whose first message has reached its end
  memory,        // id: the GPU whose HBM has finished a job, or lost some background load
  arithmetic,    // id: the CU (gpu x CUs + cu) that has finished a job
  worker,        // id: the worker (gpu x stride + index) that continues
  proxy,         // id: the GPU whose network thread has finished an operation
  kernel_start,  // id: the kernel
  kernel_flags,  // id: the kernel whose last awaited flag is now seen
  fence,         // id: the CU (gpu x CUs + cu) whose release fence has ended
  taken_in       // id: the arrival (held_) with which memories have caught up
};

class Simulator {
 public:
  Simulator(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options);
  // Of one share of the cluster: only what happens there.
  Simulator(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
            const Shares& shares, std::uint32_t share);
  // To be called before anything happens.
  void record(const RecordOptions& what);
  // All of a cluster, in one queue.
  RunResult run(const OnProgress& on_progress);
  // What was recorded, once all has happened.
  Recording recording(Duration time);

  // A share, window by window (windows.cc), between other shares.
  void start();
  [[nodiscard]] const WindowQueue::Next& next() { return windows_->next(); }
  // Of the window of `first`, the earliest event of all shares: what happens here until `stop`.
  void run_window(SimTime first, SimTime stop);
  // What has entered links to other shares: to be given to these before their next window.
  [[nodiscard]] std::vector<Transport::HandedOver>& handed_over();
  void take_over(const Transport::HandedOver& message);
  // Samples all intervals that have ended by then; returns the end of the next one.
  SimTime record_until(SimTime at);
  // Only one queue knows what then happens.
  [[nodiscard]] bool memories_can_fall_behind() const { return memories_can_fall_behind_; }
  [[nodiscard]] std::size_t in_flight() const { return transport_.in_flight(); }
  [[nodiscard]] std::uint32_t kernels_left() const { return kernels_left_; }
  [[nodiscard]] Duration time() const { return accounts_.time(); }  // of its kernels, so far
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Progress progress() const;
  // What another share has done is from now on this one's.
  void take_over(Simulator& other);
  RunResult collect(Ending ending);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr unsigned kKindShift = 60;  // of an event's content: what is above it is the kind
  static constexpr std::int64_t kRateUnit =
      1000;  // memory rates are in kB/s: one WG's fits 32 bits

  // Where a worker continues when it runs next.
  enum class Phase : std::uint8_t {
    idle,
    take_item,
    begin,
    work,
    done,
    made,
    send,
    share,
    store,
    put,
    sent,
    linger
  };

  // A WG on a CU, or a copy engine at work: runs the items of one kernel. One cache line, with what
  // it needs of its item: there are hundreds of thousands, and each is touched a few times for each
  // of its items, out of the caches every time.
  struct alignas(64) Worker {
    SimTime since;  // start of its wait
    SimTime begun;  // start of its item
    std::uint32_t kernel = kNone;
    std::uint32_t cu = kNone;               // kNone: a copy engine
    std::uint32_t item = 0;                 // of its kernel's; of this:
    LatchId counts_down = LatchId::none();  // as in Item
    std::uint32_t scale : 24 = 0;           // as in Item
    std::uint32_t work : 8 = 0;             // as in Item
    std::uint32_t next_static = 0;          // of a static work list: its next item
    std::uint32_t next_waiter = kNone;      // of the same latch
    std::uint32_t send = 0;                 // the send it is at ...
    std::uint32_t outer_send = 0;           // ... and after the sends of a nested latch
    std::uint16_t sends = 0;                // how many are left, this one included ...
    std::uint16_t outer_sends = 0;          // ... and there
    Phase phase = Phase::idle;
    std::uint8_t parts = 0;  // of its work that are still running
    Wait waiting_for = Wait::post;
    bool waits = false;
    std::uint8_t share = 0;  // how many shares of its item it has stored
    bool paused = false;     // in the middle of its item
    bool nested = false;     // it is at the sends of a latch that a send of another latch opened
  };
  static_assert(sizeof(Worker) == 64);
  // What is known of its stores into peers. On a GPU that has no peers in its node there are none.
  struct Stores {
    SimTime free;                       // when the last unfenced one has left
    std::uint32_t next_fenced = kNone;  // next WG of the same fence
    std::uint32_t on_the_way = 0;       // that the fence waits for
    bool fencing = false;
    bool fences_again = false;  // its other waves fence after the first one has
  };
  // A store whose arrival a fence waits for; of several copies, that of the last.
  struct Fenced {
    std::uint32_t worker = kNone;
    std::uint32_t copies = 1;  // still on their way
  };
  // A CU has one release fence in progress. WGs that fence meanwhile share the next one.
  struct Fence {
    std::uint32_t under_way = kNone;  // first of the WGs it serves
    std::uint32_t waiting = kNone;    // first of the WGs that the next one will serve
    std::uint32_t outstanding = 0;    // WGs whose stores have not arrived
    SimTime least;                    // earliest end: there and back, even if all has arrived
  };
  struct KernelState {
    std::uint32_t dependencies_left = 0;
    std::uint32_t grid = 0;  // WGs of the grid
    std::uint32_t dispatched = 0;
    std::uint32_t next_item = 0;  // of a dynamic work list
    std::uint32_t retired = 0;
    std::uint32_t lingering = 0;
    bool flags_seen = false;
    bool finished = false;
    bool draining =
        false;  // WGs of the grid that have no slot yet wait until the others have ended
  };

  struct GpuState {
    std::vector<Worker> workers;
    std::vector<Stores> stores;  // of the same workers; empty until one of them stores
    std::vector<std::uint32_t> free_workers;
    std::vector<std::uint32_t> active;  // kernels with WGs to dispatch: by priority, then start
    std::uint32_t turn = kNone;         // the kernel that last got a slot
    std::uint32_t free_engines = 0;
    SimTime dispatcher_free;
    SimTime commands_free;  // the CPU thread that gives commands to the copy engines
    SimTime proxy_free;
    SimTime last_fence;  // latest end of a fence that is known
    struct HandedOver {
      std::uint32_t send = 0;
      SimTime seen;  // when the thread can see it
    };
    RingQueue<HandedOver> proxy;  // the first is being worked on
  };
  struct Timer {  // the pending event of a server
    SimTime at = SharedServer::kNever;
    bool dirty = false;
  };

  // event_loop.cc
  Ending run_in_order(const OnProgress& on_progress);
  void start_kernel_without_dependencies(std::uint32_t kernel);
  [[nodiscard]] bool is_here(GpuId gpu) const;
  [[nodiscard]] std::vector<std::uint32_t> gpus_here() const;
  [[nodiscard]] std::vector<LinkId> links_from_here() const;
  void schedule(SimTime at, EventKind kind, std::uint32_t id);
  void happen(const Event& event);
  void handle(EventKind kind, std::uint32_t id);
  void fetch_ahead(std::uint64_t content) const;
  void fetch_links() const;
  // Brings a worker into the caches; without an effect on anything else.
  void fetch_worker(std::uint32_t gpu, std::uint32_t worker) const {
    const std::vector<Worker>& workers = gpus_[gpu].workers;
    if (worker < workers.size()) __builtin_prefetch(&workers[worker], 1);
  }

  // simulator.cc: the servers, and the result
  void settle_instant();
  void settle(SharedServer& server, Timer& timer, EventKind kind, std::uint32_t id);
  void mark_memory(std::uint32_t gpu);
  void mark_arithmetic(std::uint32_t cu);
  bool serve(SharedServer& server, Timer& timer, std::uint32_t gpu);
  void memory_event(std::uint32_t gpu);
  void arithmetic_event(std::uint32_t cu);
  [[nodiscard]] std::string who_waits_for_whom() const;
  void add_paths(RunResult& result) const;

  // kernels.cc: kernels and their WGs' slots
  void kernel_start(std::uint32_t kernel);
  void dispatch(std::uint32_t gpu);
  void make_room(std::uint32_t gpu, std::uint32_t kernel);
  void dispatch_one(std::uint32_t gpu, std::uint32_t kernel, std::uint32_t cu);
  void out_of_items(std::uint32_t gpu, std::uint32_t worker);
  void release_place(std::uint32_t gpu, std::uint32_t worker);
  void fill(std::uint32_t gpu, std::uint32_t cu);
  std::size_t next_in_turn(std::uint32_t gpu, std::uint32_t cu);
  [[nodiscard]] bool precedes(std::uint32_t kernel, std::uint32_t other) const;
  void kernel_flags(std::uint32_t kernel);
  void finish_if_done(std::uint32_t kernel);

  // workers.cc: the life of a WG
  void run_worker(std::uint32_t gpu, std::uint32_t worker);
  bool take_item(std::uint32_t gpu, std::uint32_t worker);
  bool sees(std::uint32_t gpu, std::uint32_t worker, LatchId latch);
  bool begin_item(std::uint32_t gpu, std::uint32_t worker);
  bool start_work(std::uint32_t gpu, std::uint32_t worker);
  void slow_down(std::uint32_t gpu, const Kernel& kernel, Duration& alone,
                 std::uint32_t& demand) const;
  void part_done(std::uint32_t gpu, std::uint32_t worker);
  bool finish_item(std::uint32_t gpu, std::uint32_t worker);
  void end_item(std::uint32_t gpu, std::uint32_t worker);
  bool send_next(std::uint32_t gpu, std::uint32_t worker);
  bool store_share(std::uint32_t gpu, std::uint32_t worker);
  Stores& stores_of(std::uint32_t gpu, std::uint32_t worker);
  bool begin_store(std::uint32_t gpu, std::uint32_t worker, const Send& send);
  bool store(std::uint32_t gpu, std::uint32_t worker);
  bool put(std::uint32_t gpu, std::uint32_t worker);
  void sent(std::uint32_t gpu, std::uint32_t worker);
  void pause(std::uint32_t gpu, std::uint32_t worker, SimTime until, Wait why);
  void resume(std::uint32_t gpu, std::uint32_t worker);

  // fences.cc: release fences
  bool fence(std::uint32_t gpu, std::uint32_t worker);
  enum class Waited : std::uint8_t { no, yes };  // those that it serves, for another
  void start_fence(std::uint32_t cu, Waited waited);
  void awaits_arrival(std::uint32_t gpu, std::uint32_t worker);
  void store_arrived(std::uint32_t worker_id);
  void end_fence(std::uint32_t cu, SimTime at);
  void fence_event(std::uint32_t cu);
  [[nodiscard]] Duration way_of_fence(std::uint32_t gpu, const Worker& worker) const;

  // messages.cc: messages, flags and the proxy
  enum class Part : std::uint8_t { first, last };  // of a send; a whole send is its last part
  Posted post(std::uint32_t gpu, std::uint32_t send, Part part, Bytes size);
  Posted post(std::uint32_t gpu, std::uint32_t send);
  Posted post_in_switch(std::uint32_t gpu, std::uint32_t send, Part part, Bytes size);
  [[nodiscard]] std::uint32_t kind_of_work(const Worker& worker) const {
    return graph_.kernels[KernelId(worker.kernel)].first_work + worker.work;
  }
  [[nodiscard]] Bytes share_of(const Worker& worker, Bytes size) const;
  void link_event(LinkId link);
  void fan_out(const Arrived& arrived);
  [[nodiscard]] Duration memories_behind(const Arrived& arrived);
  [[nodiscard]] std::uint32_t sender_of(std::uint32_t send);
  void hold(const Arrived& arrived, Duration time);
  void taken_in(std::uint32_t held);
  void end_message(const Arrived& arrived);
  void proxy_event(std::uint32_t gpu);
  void start_proxy(std::uint32_t gpu);
  void hand_to_proxy(std::uint32_t gpu, std::uint32_t send, Duration handover);
  enum class Seen : std::uint8_t { polled, loaded };  // as a flag, or as a WG's own load
  void delivered(std::uint32_t send, std::uint32_t gpu, LatchId arrives, Seen seen);
  bool count_down(LatchId id, Seen seen = Seen::polled);
  void wake(std::uint32_t waiter, Seen seen);
  // Channels of a collective: a step continues `flag` after its data has arrived, even if the
  // channel began to wait later.
  [[nodiscard]] static bool steps_by_flags(const Kernel& kernel) {
    return kernel.role == KernelRole::collective && kernel.executor == Executor::cu &&
           kernel.flag.count() > 0;
  }
  [[nodiscard]] Duration flag_of(std::uint32_t kernel) const {
    return graph_.kernels[KernelId(kernel)].flag;
  }
  void background(std::uint32_t gpu, LinkId link, Bytes size, std::uint32_t factor);

  [[nodiscard]] std::uint32_t worker_id(std::uint32_t gpu, std::uint32_t worker) const {
    return gpu * worker_stride_ + worker;
  }
  [[nodiscard]] Recorder::Where where(std::uint32_t gpu, std::uint32_t w) const {
    const Worker& worker = gpus_[gpu].workers[w];
    return {.gpu = gpu, .cu = worker.cu, .slot = worker_id(gpu, w), .kernel = worker.kernel};
  }

  const Cluster& cluster_;
  const TaskGraph& graph_;
  const RunOptions& options_;
  EventQueue queue_;
  // Of a share, instead of queue_: the order of events of different nodes does not matter.
  const Shares* shares_ = nullptr;
  std::uint32_t share_ = 0;
  std::optional<WindowQueue> windows_;
  std::optional<LinksOfPlaces> links_of_places_;
  std::uint32_t place_ = 0;  // of what happens now
  // In windows messages are not recorded, and on a network each names the latch that it counts down
  // instead of its send, which would have to be looked up among millions.
  bool nics_tell_latches_ = false;
  SimTime latest_;  // of what has happened in windows
  Fingerprint fingerprint_;
  SimTime now_;
  std::uint64_t events_ = 0;

  Transport transport_;
  std::vector<GpuState> gpus_;
  std::vector<CuSet> cus_;
  std::vector<SharedServer> memory_;
  std::vector<Timer> memory_timers_;
  std::vector<SharedServer> arithmetic_;  // empty where no work needs it
  std::vector<Timer> arithmetic_timers_;
  bool unsettled_ = false;               // something has to be settled when this instant ends:
  std::vector<std::uint32_t> starting_;  // GPUs with kernels that start in this instant
  std::vector<std::uint32_t> dirty_memory_;
  std::vector<std::uint32_t> dirty_arithmetic_;
  // For each work: what it demands of the memory.
  std::vector<std::uint32_t> demand_;  // kB/s
  std::vector<Duration> alone_;
  ClockBeside clock_;
  // For each work: its share of what the GPU can compute. Empty where no clock falls.
  std::vector<std::uint32_t> matrix_share_;
  // By GPU: the sum over works in progress, now and, so that the order of ties does not matter,
  // when an instant last ended.
  std::vector<std::uint64_t> matrix_now_;
  std::vector<std::uint64_t> matrix_before_;
  std::vector<KernelState> kernels_;
  std::vector<KernelSpan> spans_;                // of kernels
  std::vector<std::uint32_t> dependents_begin_;  // CSR of kernels that wait for a kernel
  std::vector<std::uint32_t> dependents_;
  // Who waits for one: the first worker, or the kernel (kKernelBit).
  std::vector<LatchState, HugePages<LatchState>> latches_;
  std::vector<Fence> fences_;  // by CU; empty where they are independent
  // By send: the worker that waits for the confirmation of its arrival.
  std::unordered_map<std::uint32_t, Fenced> fenced_;  // not iterated
  // Where links bring more than memories take: messages that wait until their data is written, or
  // read.
  bool memories_can_fall_behind_ = false;
  std::vector<Arrived> held_;
  std::vector<std::uint32_t> free_held_;
  std::vector<std::uint32_t> senders_;  // by send; filled when first needed
  static constexpr std::uint32_t kKernelBit = 1U << 31U;
  std::uint32_t kernels_left_ = 0;
  std::uint32_t worker_stride_ = 0;
  Accounts accounts_;
  std::unique_ptr<Recorder> recorder_;  // null: nothing is recorded
};

}  // namespace weft
