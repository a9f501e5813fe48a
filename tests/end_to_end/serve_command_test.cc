// `weft serve` as a browser meets it: a process, its printed address, requests through a socket.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::serve_command_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Answered {
  int status = 0;
  std::string head;
  std::string body;
};

// A folder, served by a process of its own.
class Serving {
 public:
  explicit Serving(const fs::path& folder, const fs::path& known = "none") {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::execl(WEFT_BINARY, WEFT_BINARY, "serve", folder.c_str(), "--known", known.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char c = 0;
    while (::read(ends[0], &c, 1) == 1 && c != '\n') address_ += c;
    ::close(ends[0]);
    const std::size_t port = address_.rfind(':') + 1;
    port_ = std::atoi(address_.c_str() + port);
    token_ = address_.substr(address_.find("token=") + 6);
  }
  ~Serving() {
    if (process_ > 0) interrupt();
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] int port() const { return port_; }

  // Its exit status after Ctrl-C; -1: it was killed.
  int interrupt() {
    ::kill(process_, SIGINT);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  [[nodiscard]] Answered ask(const std::string& line, const std::string& body = "",
                             const std::string& host = "") const {
    const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Answered answered;
    if (::connect(connection, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return answered;
    const std::string own = "127.0.0.1:" + std::to_string(port_);
    const std::string text =
        line + " HTTP/1.1\r\nHost: " + (host.empty() ? own : host) + "\r\nCookie: weft_" +
        std::to_string(port_) + "=" + token_ +
        "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
        body;
    (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    std::string all;
    std::array<char, 65536> part{};
    for (ssize_t got = 0; (got = ::recv(connection, part.data(), part.size(), 0)) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(got));
    }
    ::close(connection);
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos) return answered;
    answered.status = std::atoi(all.c_str() + 9);
    answered.head = all.substr(0, end);
    answered.body = all.substr(end + 4);
    return answered;
  }

  [[nodiscard]] Json ended_run() const {
    while (true) {
      Json status = Json::parse(ask("GET /api/status").body);
      if (status["state"] != "running") return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  pid_t process_ = -1;
  std::string address_;
  std::string token_;
  int port_ = 0;
};

class ServeAFolder : public InOwnFolder {
 protected:
  void SetUp() override {
    fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html/run", folder_ / "run");
    std::ofstream(folder_ / "two.yaml") << "name: two\nbase: scenarios/embedding_a2a_2_nodes\n";
  }
};

TEST_F(ServeAFolder, prints_its_address_and_ends_well_at_ctrl_c) {
  Serving serving(folder_);
  EXPECT_TRUE(serving.address().starts_with("http://127.0.0.1:")) << serving.address();
  EXPECT_EQ(serving.token().size(), 32U);
  const Answered page = serving.ask("GET /");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("<title>weft</title>"), std::string::npos);
  EXPECT_EQ(serving.interrupt(), 0);
}

TEST_F(ServeAFolder, refuses_wrong_tokens_hosts_paths_and_sizes) {
  Serving serving(folder_);
  // The cookie is another port's then.
  const std::string other = "127.0.0.1:" + std::to_string(serving.port() + 1);
  EXPECT_EQ(serving.ask("GET /", "", other).status, 403);
  EXPECT_EQ(serving.ask("GET /", "", "evil.example:" + std::to_string(serving.port())).status, 403);
  EXPECT_EQ(serving.ask("GET /file?of=%2e%2e/x&name=links.csv").status, 404);
  EXPECT_EQ(serving.ask("PUT /").status, 405);
  EXPECT_EQ(serving.ask("POST /api/run", std::string(1100000, 'x')).status, 413);
  EXPECT_EQ(serving.ask("GET /" + std::string(20000, 'x')).status, 431);
  EXPECT_EQ(serving.ask("nonsense").status, 400);
  EXPECT_EQ(serving.ask("GET /").status, 200);  // still there
}

TEST_F(ServeAFolder, answers_many_at_a_time) {
  Serving serving(folder_);
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> browsers;
    browsers.reserve(8);
    for (int i = 0; i < 8; ++i) {
      browsers.emplace_back([&] {
        for (int k = 0; k < 25; ++k) {
          const char* asked = k % 5 == 0 ? "GET /report?of=run" : "GET /api/keys";
          if (serving.ask(asked).status == 200) ++answered;
        }
      });
    }
  }
  EXPECT_EQ(answered, 200);
  EXPECT_EQ(serving.interrupt(), 0);
}

TEST_F(ServeAFolder, shows_the_page_that_weft_report_makes) {
  Serving serving(folder_);
  const Answered page = serving.ask("GET /report?of=run");
  ASSERT_EQ(page.status, 200) << page.body;
  ASSERT_EQ(weft_in(folder_, "report run -o alone.html").status, 0);
  EXPECT_EQ(page.body, text_of(folder_ / "alone.html"));
}

// All but what tells of the machine.
Json comparable(const fs::path& summary) {
  Json json = Json::parse(text_of(summary));
  json.erase("engine");
  return json;
}

TEST_F(ServeAFolder, runs_what_weft_run_runs) {
  Serving serving(folder_);
  const Json asked = {{"from", "file"},
                      {"of", "two.yaml"},
                      {"set", {"workload.batch=64", "workload.tables_per_gpu=2"}},
                      {"name", "mine"}};
  ASSERT_EQ(serving.ask("POST /api/run", asked.dump()).status, 202);
  const Json status = serving.ended_run();
  ASSERT_EQ(status["state"], "done") << status;
  ASSERT_EQ(weft_in(folder_,
                    "run two.yaml --set workload.batch=64 --set "
                    "workload.tables_per_gpu=2 -q -o theirs")
                .status,
            0);
  EXPECT_EQ(comparable(folder_ / "mine/summary.json"), comparable(folder_ / "theirs/summary.json"));
  for (const char* same : {"links.csv", "over_time.csv", "resolved.yaml"}) {
    EXPECT_EQ(text_of(folder_ / "mine" / same), text_of(folder_ / "theirs" / same)) << same;
  }
}

// Times of pairs of a whole model are kept in the folder, and the next server takes them from
// there.
TEST_F(ServeAFolder, keeps_what_is_known_in_a_folder) {
  std::ofstream(folder_ / "layers.yaml")
      << "name: layers\ncluster: {base: clusters/node_8x_h100}\n"
         "workload: {kind: transformer, phase: prefill, model: {layers: 2, hidden: 2048, heads: "
         "16, "
         "kv_heads: 8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, "
         "microbatch: 1, parallel: {tensor: 8, sequence: true}}\nmodes: [bulk, fused]\n";
  const fs::path known = folder_ / "known";
  const auto files = [&known] {
    std::map<std::string, fs::file_time_type> written;
    if (!fs::exists(known)) return written;
    for (const auto& file : fs::directory_iterator(known)) {
      written[file.path().filename()] = file.last_write_time();
    }
    return written;
  };
  std::vector<std::map<std::string, fs::file_time_type>> kept;
  for (const char* name : {"cold", "warm"}) {
    Serving serving(folder_, known);
    const Json asked = {
        {"from", "file"}, {"of", "layers.yaml"}, {"set", Json::array()}, {"name", name}};
    ASSERT_EQ(serving.ask("POST /api/run", asked.dump()).status, 202);
    const Json status = serving.ended_run();
    ASSERT_EQ(status["state"], "done") << status;
    kept.push_back(files());
  }
  EXPECT_FALSE(kept[0].empty());
  EXPECT_EQ(kept[0], kept[1]) << "nothing was simulated again";
  EXPECT_EQ(comparable(folder_ / "cold/summary.json"), comparable(folder_ / "warm/summary.json"));
  EXPECT_EQ(text_of(folder_ / "cold/fusions.csv"), text_of(folder_ / "warm/fusions.csv"));
  ASSERT_EQ(weft_in(folder_, "run layers.yaml -q --known none -o alone").status, 0);
  EXPECT_EQ(text_of(folder_ / "cold/fusions.csv"), text_of(folder_ / "alone/fusions.csv"));
}

TEST_F(ServeAFolder, stops_a_run_and_ends_while_one_is_going_on) {
  Serving serving(folder_);
  const Json asked = {{"from", "shipped"}, {"of", "scenarios/embedding_a2a_128_nodes"}};
  ASSERT_EQ(serving.ask("POST /api/run", asked.dump()).status, 202);
  EXPECT_EQ(serving.ask("POST /api/run", asked.dump()).status, 409);
  EXPECT_EQ(serving.ask("POST /api/stop").status, 200);
  EXPECT_EQ(serving.ended_run()["why"], "stopped");
  ASSERT_EQ(serving.ask("POST /api/run", asked.dump()).status, 202);
  EXPECT_EQ(serving.interrupt(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "embedding_a2a_128_nodes-1"));
}

TEST_F(ServeAFolder, says_what_is_wrong_with_a_folder_a_port_or_an_address) {
  Ended ended = weft_in(folder_, "serve nowhere");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("nowhere: cannot be served: No such file or directory")) << ended.err;
  ended = weft_in(folder_, "serve two.yaml");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("two.yaml: cannot be served: Not a directory")) << ended.err;
  ended = weft_in(folder_, "serve run");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("run: is a result itself; name the folder that holds it")) << ended.err;
  Serving serving(folder_);
  ended = weft_in(folder_, "serve --port " + std::to_string(serving.port()));
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("Address already in use; choose another --port")) << ended.err;
  ended = weft_in(folder_, "serve --address here");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("--address here: not a numeric address")) << ended.err;
}

}  // namespace
}  // namespace weft::serve_command_test
