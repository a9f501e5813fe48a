// `weft serve` without a socket: what it answers, and what it refuses.
#include "sim/serve/service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "sim/serve/confined.h"
#include "sim/serve/listing.h"

namespace weft::service_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

class Served : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(top_);
    fs::create_directories(folder_);
    fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html/run", folder_ / "run");
    fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html/run", top_ / "secret");
    std::ofstream(top_ / "secret.yaml") << "name: secret\nworkload: {}\n";
    fs::create_directory_symlink(top_ / "secret", folder_ / "link");
    fs::create_symlink(top_ / "secret.yaml", folder_ / "link.yaml");
    std::ofstream(folder_ / "two.yaml") << "name: two\nbase: scenarios/embedding_a2a_2_nodes\n";
  }
  void TearDown() override { fs::remove_all(top_); }

  [[nodiscard]] ServedFolder served() const {
    return {.folder = fs::canonical(folder_), .config_dirs = [](const fs::path&) {
              return std::vector<fs::path>{fs::path(WEFT_SOURCE_DIR) / "configs"};
            }};
  }
  [[nodiscard]] ServeSettings settings() const {
    return {.served = served(),
            .address = "127.0.0.1",
            .port = 8080,
            .token = kToken,
            .page_dirs = {fs::path(WEFT_SOURCE_DIR) / "sim/html/page"},
            .report = [](const std::vector<fs::path>& folders, Diagnostics&) {
              return "report of " + std::to_string(folders.size());
            }};
  }
  static HttpRequest request(const std::string& target, const std::string& method = "GET",
                             const std::string& body = "") {
    return {.method = method,
            .target = target,
            .host = "127.0.0.1:8080",
            .cookie = std::string("weft_8080=") + kToken,
            .body = body};
  }
  // Of the run when it has ended.
  static ServedJson ended(Service& service) {
    while (true) {
      ServedJson status = ServedJson::parse(service.answer(request("/api/status")).body);
      if (status["state"] != "running") return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  fs::path top_ =
      fs::temp_directory_path() / ("weft_service_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::path folder_ = top_ / "served";
};

TEST_F(Served, wants_the_token_in_the_address_or_the_cookie) {
  Service service(settings());
  HttpRequest asked = request("/api/status");
  EXPECT_EQ(service.answer(asked).status, 200);
  asked.cookie = "";
  EXPECT_EQ(service.answer(asked).status, 403);
  asked.target = "/api/status?token=0123456789abcdef0123456789abcdee";
  EXPECT_EQ(service.answer(asked).status, 403);
  asked.target = std::string("/api/status?token=") + kToken;
  const HttpResponse response = service.answer(asked);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.front().first, "Set-Cookie");
}

TEST_F(Served, refuses_another_host_even_with_the_token) {
  Service service(settings());
  HttpRequest asked = request("/");
  asked.host = "evil.example:8080";
  EXPECT_EQ(service.answer(asked).status, 403);
}

TEST_F(Served, takes_only_get_and_post) {
  Service service(settings());
  EXPECT_EQ(service.answer(request("/", "DELETE")).status, 405);
  EXPECT_EQ(service.answer(request("/", "POST")).status, 404);
  EXPECT_EQ(service.answer(request("/%zz")).status, 400);
  EXPECT_EQ(service.answer(request("/nothing")).status, 404);
}

TEST_F(Served, has_every_file_that_the_page_names_with_a_policy) {
  Service service(settings());
  for (const char* file :
       {"/", "/serve.css", "/serve.js", "/serve_knobs.js", "/serve_data.js", "/serve_layout.js",
        "/serve_cluster.js", "/serve_lanes.js", "/serve_timeline.js"}) {
    const HttpResponse response = service.answer(request(file));
    EXPECT_EQ(response.status, 200) << file << response.body;
    EXPECT_EQ(response.headers.front().first, "Content-Security-Policy");
  }
}

TEST_F(Served, gives_no_file_that_is_no_results) {
  std::ofstream(folder_ / "run/notes.txt") << "x";
  fs::create_directories(folder_ / "other");
  std::ofstream(folder_ / "other/config.json") << "{}";
  fs::copy(folder_ / "run", folder_ / ".hidden");
  Service service(settings());
  for (const char* other : {"/file?of=run&name=notes.txt", "/file?of=other&name=config.json",
                            "/file?of=.hidden&name=links.csv", "/file?of=./run&name=links.csv"}) {
    EXPECT_EQ(service.answer(request(other)).status, 404) << other;
  }
}

// Cookies of a host go to all of its ports, and pages of them ask with ours.
TEST_F(Served, takes_no_post_from_another_page) {
  Service service(settings());
  HttpRequest asked = request("/api/stop", "POST");
  EXPECT_EQ(service.answer(asked).status, 200);
  asked.origin = "http://127.0.0.1:8080";
  EXPECT_EQ(service.answer(asked).status, 200);
  for (const char* origin : {"http://127.0.0.1:9999", "null", "https://127.0.0.1:8080"}) {
    asked.origin = origin;
    EXPECT_EQ(service.answer(asked).status, 403) << origin;
  }
}

TEST_F(Served, gives_no_file_outside_of_the_folder) {
  Service service(settings());
  EXPECT_EQ(service.answer(request("/file?of=run&name=links.csv")).status, 200);
  for (const char* outside :
       {"/file?of=../secret&name=links.csv", "/file?of=%2e%2e/secret&name=links.csv",
        "/file?of=link&name=links.csv", "/file?of=run/../../secret&name=links.csv",
        "/file?of=run&name=../../secret/links.csv", "/report?of=../secret", "/report?of=link",
        "/report?of=run&of=link", "/api/scenario?from=file&of=link.yaml",
        "/api/scenario?from=file&of=../secret.yaml", "/api/scenario?from=result&of=link",
        "/api/scenario?from=shipped&of=../secret"}) {
    EXPECT_EQ(service.answer(request(outside)).status, 404) << outside;
  }
  const std::string absolute = (top_ / "secret").string();
  EXPECT_EQ(service.answer(request("/file?of=" + absolute + "&name=links.csv")).status, 404);
}

TEST_F(Served, reports_no_result_whose_file_is_a_link_elsewhere) {
  fs::remove(folder_ / "run/links.csv");
  fs::create_symlink(top_ / "secret/links.csv", folder_ / "run/links.csv");
  Service service(settings());
  EXPECT_EQ(service.answer(request("/report?of=run")).status, 404);
}

TEST_F(Served, lists_results_and_scenarios_within_the_folder) {
  fs::create_directories(folder_ / "deep/er");
  fs::copy(folder_ / "run", folder_ / "deep/er/run");
  fs::copy(fs::path(WEFT_SOURCE_DIR) / "tests/html/sweep", folder_ / "sweep");
  std::ofstream(folder_ / "run/timeline.json.gz") << "x";
  std::ofstream(folder_ / "notes.yaml") << "a: 1\n";
  const Found found = found_in(fs::canonical(folder_));
  ASSERT_EQ(found.results.size(), 3U);
  EXPECT_EQ(found.results[0].name, "deep/er/run");
  EXPECT_EQ(found.results[1].timelines, std::vector<std::string>{"timeline.json.gz"});
  EXPECT_EQ(found.results[2].kind, FoundResult::Kind::sweep);
  EXPECT_EQ(found.scenarios, std::vector<std::string>{"two.yaml"});
  const ServedJson list = listing(served());
  EXPECT_EQ(list["results"][1]["title"], "embedding + all-to-all, 4 GPUs");
  EXPECT_GT(list["results"][1]["times_us"]["bulk"], 0);
  EXPECT_GT(list["shipped"].size(), 20U);
}

TEST_F(Served, compares_the_results_that_are_named) {
  Service service(settings());
  EXPECT_EQ(service.answer(request("/report?of=run")).body, "report of 1");
  EXPECT_EQ(service.answer(request("/report?of=run&of=run")).body, "report of 2");
  EXPECT_EQ(service.answer(request("/report")).status, 400);
}

TEST_F(Served, says_values_of_a_scenario_and_meanings_of_keys) {
  Service service(settings());
  const ServedJson scenario =
      ServedJson::parse(service.answer(request("/api/scenario?from=file&of=two.yaml")).body);
  EXPECT_EQ(scenario["values"]["cluster.nodes"], "2");
  const ServedJson keys = ServedJson::parse(service.answer(request("/api/keys")).body);
  bool known = false;
  for (const ServedJson& key : keys) {
    EXPECT_NE(key["type"], "map");
    known = known || (key["path"] == "cluster.nodes" && key["low"] == "1");
  }
  EXPECT_TRUE(known);
}

TEST_F(Served, tells_all_problems_of_a_run_with_their_keys) {
  Service service(settings());
  const std::string body =
      R"({"from": "file", "of": "two.yaml", "set": ["workload.batch=x", "cluster.nodez=2"]})";
  EXPECT_EQ(service.answer(request("/api/run", "POST", body)).status, 202);
  const ServedJson status = ended(service);
  EXPECT_EQ(status["state"], "failed");
  ASSERT_EQ(status["problems"].size(), 2U);
  EXPECT_EQ(status["problems"][0]["path"], "cluster.nodez");
  EXPECT_EQ(status["problems"][1]["text"],
            "--set workload.batch=x: error: workload.batch: 'x' does not start with a number\n");
}

TEST_F(Served, tells_nothing_of_a_base_that_lies_elsewhere) {
  std::ofstream(folder_ / "bad.yaml") << "base: link\nworkload: {kind: embedding_all_to_all}\n";
  Service service(settings());
  const std::string body = service.answer(request("/api/scenario?from=file&of=bad.yaml")).body;
  EXPECT_NE(body.find(kNotServed), std::string::npos) << body;
  EXPECT_EQ(body.find("secret\\nworkload"), std::string::npos) << body;
  EXPECT_EQ(body.find("name: secret"), std::string::npos) << body;
}

TEST_F(Served, tells_nothing_of_a_base_elsewhere_that_a_change_names) {
  Service service(settings());
  for (const char* base : {"../secret", "../no_such_file"}) {
    const std::string body =
        std::string(R"({"from": "file", "of": "two.yaml", "set": ["cluster.base=)") + base +
        R"("]})";
    EXPECT_EQ(service.answer(request("/api/run", "POST", body)).status, 202);
    const ServedJson status = ended(service);
    EXPECT_EQ(status["state"], "failed");
    const std::string told = status["problems"].dump();
    EXPECT_EQ(told.find("name: secret"), std::string::npos) << told;
    EXPECT_EQ(told.find("vailable"), std::string::npos) << told;
    EXPECT_EQ(told.find("unknown key"), std::string::npos) << told;
  }
}

// The run's messages name its scenario by its title, which may be a folder's name here.
TEST_F(Served, titles_of_scenarios_are_no_files) {
  const fs::path before = fs::current_path();
  fs::create_directories(top_ / "here/two");
  fs::current_path(top_ / "here");
  Service service(settings());
  const std::string body =
      R"({"from": "file", "of": "two.yaml", "set": ["modes=[bulk]", "run.max_events=10"]})";
  service.answer(request("/api/run", "POST", body));
  const ServedJson status = ended(service);
  fs::current_path(before);
  EXPECT_EQ(status["problems"].dump().find(kNotServed), std::string::npos) << status;
}

TEST_F(Served, tells_once_and_nothing_more_of_a_graph_that_lies_elsewhere) {
  std::ofstream(top_ / "secret.yaml") << "operators: [secret\n";
  std::ofstream(folder_ / "graph.yaml") << "name: graph\n"
                                           "cluster: {base: clusters/node_4x_h200}\n"
                                           "workload: {kind: graph, path: ../secret.yaml}\n";
  Service service(settings());
  service.answer(request("/api/run", "POST", R"({"from": "file", "of": "graph.yaml"})"));
  const ServedJson status = ended(service);
  EXPECT_EQ(status["state"], "failed");
  ASSERT_EQ(status["problems"].size(), 1U) << status;
  EXPECT_EQ(status["problems"][0]["message"], kNotServed);
}

TEST_F(Served, refuses_a_run_that_is_not_asked_for_rightly) {
  Service service(settings());
  for (const char* wrong :
       {"", "[]", "{", R"({"from": "file", "of": "link.yaml"})", R"({"from": "x", "of": "run"})",
        R"({"from": "file", "of": "two.yaml", "set": "a=1"})",
        R"({"from": "file", "of": "two.yaml", "set": [1]})",
        R"({"from": "file", "of": "two.yaml", "timeline": "some"})",
        R"({"from": "file", "of": "two.yaml", "name": "../x"})",
        R"({"from": "file", "of": "two.yaml", "name": ".x"})",
        R"({"from": "file", "of": "two.yaml", "name": "run"})",
        R"({"from": "file", "of": "two.yaml", "nam": "x"})"}) {
    EXPECT_EQ(service.answer(request("/api/run", "POST", wrong)).status, 400) << wrong;
  }
}

TEST_F(Served, runs_into_new_folders_and_overwrites_none) {
  Service service(settings());
  const std::string body =
      R"({"from": "file", "of": "two.yaml", "timeline": "kernels",)"
      R"( "set": ["modes=[bulk]", "workload.tables_per_gpu=2", "workload.batch=64"]})";
  for (const char* name : {"two-1", "two-2"}) {
    ASSERT_EQ(service.answer(request("/api/run", "POST", body)).status, 202);
    const ServedJson status = ended(service);
    ASSERT_EQ(status["state"], "done") << status;
    EXPECT_EQ(status["result"], name);
    EXPECT_TRUE(fs::exists(folder_ / name / "files.json"));
    EXPECT_TRUE(fs::exists(folder_ / name / "timeline.json.gz"));
  }
  const auto again = source_of(served(), "result", "two-2");
  ASSERT_TRUE(again);
  EXPECT_EQ(free_name(folder_, *again), "two-3");
}

}  // namespace
}  // namespace weft::service_test
