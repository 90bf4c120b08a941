// RunTask accepted durably per second over HTTP: a server in a process of its own, instances whose
// tasks are reported RUNNING and STOPPED as agents report them, clients that sign every request.
// usage: run_task [--instances N] [--seconds S] [--connections 1,16,64]
// Prints one JSON object a line. Beside the figures: the processes' own CPU, and how many durable
// transactions a second the same file system does one by one.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "api/generated/ecs.h"
#include "api/json.h"
#include "api/service.h"
#include "auth/signer.h"
#include "base/format.h"
#include "base/log.h"
#include "base/queue.h"
#include "net/http_client.h"
#include "server/server.h"
#include "store/sqlite/sqlite_store.h"

namespace {

using Clock = std::chrono::steady_clock;

const auth::Credentials credentials{"BERTHBENCH", "bench-secret"};

struct Options {
  int instances = 1000;
  int seconds = 5;
  std::vector<int> connections{1, 16, 64};
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// User and system CPU seconds of a process.
double cpu_of(pid_t pid) {
  std::ifstream file(base::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  std::string word;
  for (int i = 0; i < 11; ++i) rest >> word;
  double user = 0;
  double system = 0;
  rest >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int64_t rss_kib_of(pid_t pid) {
  std::ifstream file(base::format("/proc/{}/statm", pid));
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

// One connection of a client.
class Client {
 public:
  explicit Client(uint16_t port)
      : url_(*net::parse_url(base::format("http://127.0.0.1:{}", port))) {
    client_ = std::move(*net::HttpClient::create(url_));
  }

  std::string call(std::string_view operation, const std::string& body) {
    net::HttpRequest request;
    request.method = "POST";
    request.target = "/";
    request.body = body;
    request.headers = {
        {"Host", net::authority(url_)},
        {"Content-Type", "application/x-amz-json-1.1"},
        {"X-Amz-Target", base::format("{}.{}", api::ecs_service().target_prefix, operation)}};
    auth::Request to_sign{
        .method = "POST", .path = "/", .query = {}, .headers = {}, .body = request.body};
    for (const net::Header& header : request.headers) {
      to_sign.headers.emplace_back(header.name, header.value);
    }
    base::SystemClock clock;
    for (auto& [name, value] :
         auth::sign(to_sign, credentials, {"us-east-1", "ecs"}, clock.now())) {
      request.headers.push_back({name, value});
    }
    const auto response = client_->request(request);
    if (!response || response->status != 200) {
      std::fprintf(stderr, "%s: %s\n", std::string(operation).c_str(),
                   response ? response->body.c_str() : response.error().message.c_str());
      std::exit(1);
    }
    return response->body;
  }

 private:
  net::Url url_;
  std::unique_ptr<net::HttpClient> client_;
};

[[noreturn]] void serve(const std::string& dir, int ready_fd, int stop_fd) {
  base::set_log_level(base::LogLevel::Error);
  base::SystemClock clock;
  auto store = store::SqliteStore::open(dir + "/state.db");
  CHECK(store.has_value());
  server::ServerOptions options;
  options.port = 0;
  options.logs_path = dir + "/logs.db";
  options.secrets_path = ":memory:";
  options.secrets_key = std::string(32, 'k');
  options.keys.push_back({.access_key_id = credentials.access_key_id,
                          .secret_access_key = credentials.secret_access_key,
                          .session_token = {},
                          .account = "123456789012",
                          .arn = "arn:aws:iam::123456789012:root",
                          .user_id = "123456789012"});
  options.settings.connect_grace = std::chrono::hours(1);  // Its agents never open a session.
  auto server = server::Server::start(std::move(options), std::move(*store), clock);
  CHECK(server.has_value());
  const uint16_t port = (*server)->port();
  CHECK(write(ready_fd, &port, sizeof(port)) == sizeof(port));
  char byte = 0;
  static_cast<void>(read(stop_fd, &byte, 1));  // Until the parent closes its end.
  (*server)->stop();
  std::_Exit(0);
}

void prepare(Client& client, int instances) {
  client.call("CreateCluster", R"({"clusterName":"default"})");
  for (int i = 0; i < instances; ++i) {
    client.call(
        "RegisterContainerInstance",
        base::format(R"({{"cluster":"default","instanceIdentityDocument":)"
                     R"("{{\"instanceId\":\"i-{:017x}\",\"instanceType\":\"m5.24xlarge\"}}"}})",
                     i));
  }
  client.call("RegisterTaskDefinition",
              R"({"family":"bench","containerDefinitions":[{"name":"main","image":"busybox",)"
              R"("cpu":10,"memory":16,"command":["true"]}]})");
}

struct Round {
  std::vector<double> latencies_ms;
  uint64_t accepted = 0;
};

// `connections` clients run tasks; two more report what was started, as agents do.
Round run_round(uint16_t port, int connections, int seconds) {
  base::Queue<std::string> started(1'000'000);
  std::atomic<bool> over = false;
  std::vector<Round> rounds(static_cast<size_t>(connections));
  std::vector<std::thread> clients;
  for (int i = 0; i < connections; ++i) {
    clients.emplace_back([&, i] {
      Client client(port);
      Round& mine = rounds[static_cast<size_t>(i)];
      while (!over) {
        const auto start = Clock::now();
        const auto response = api::parse<api::ecs::RunTaskResponse>(
            client.call("RunTask", R"({"taskDefinition":"bench"})"), {.validate = false});
        mine.latencies_ms.push_back(seconds_since(start) * 1000);
        CHECK(response.has_value() && response->tasks.size() == 1);
        ++mine.accepted;
        started.push(*response->tasks[0].task_arn);
      }
    });
  }
  std::vector<std::thread> reporters;
  for (int i = 0; i < 2; ++i) {
    reporters.emplace_back([&] {
      Client client(port);
      while (auto arn = started.pop()) {
        for (const char* status : {"RUNNING", "STOPPED"}) {
          client.call("SubmitTaskStateChange",
                      base::format(R"({{"task":"{}","status":"{}","containers":[{{)"
                                   R"("containerName":"main","status":"{}"}}]}})",
                                   *arn, status, status));
        }
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  over = true;
  for (std::thread& client : clients) client.join();
  Round sum;
  for (const Round& one : rounds) {
    sum.accepted += one.accepted;
    sum.latencies_ms.insert(sum.latencies_ms.end(), one.latencies_ms.begin(),
                            one.latencies_ms.end());
  }
  started.close();
  for (std::thread& reporter : reporters) reporter.join();
  std::ranges::sort(sum.latencies_ms);
  return sum;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted.empty()
             ? 0
             : sorted[static_cast<size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

// Durable transactions a second of one small record each, by one writer.
double floor_commits(const std::string& dir) {
  auto store = store::SqliteStore::open(dir + "/floor.db");
  CHECK(store.has_value());
  const auto epoch = (*store)->campaign("floor", base::Milliseconds{0});
  CHECK(epoch.has_value());
  const auto start = Clock::now();
  uint64_t count = 0;
  for (; seconds_since(start) < 1; ++count) {
    CHECK((*store)->commit(*epoch,
                           {.puts = {{base::format("task/{}", count), std::string(600, 'x')}}}) ==
          store::CommitOutcome::Committed);
  }
  return static_cast<double>(count) / seconds_since(start);
}

std::vector<std::string> run_tasks(Client& client, size_t count) {
  std::vector<std::string> arns;
  while (arns.size() < count) {
    const auto response = api::parse<api::ecs::RunTaskResponse>(
        client.call("RunTask", R"({"taskDefinition":"bench","count":10})"), {.validate = false});
    CHECK(response.has_value());
    if (response->tasks.empty()) break;  // No room for more.
    for (const auto& task : response->tasks) arns.push_back(*task.task_arn);
  }
  return arns;
}

void describe_round(uint16_t port, pid_t server, int seconds, int connections) {
  Client first(port);
  const std::vector<std::string> arns = run_tasks(first, 1000);
  const double cpu_before = cpu_of(server);
  const auto start = Clock::now();
  std::atomic<uint64_t> calls = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < connections; ++i) {
    clients.emplace_back([&] {
      Client client(port);
      while (seconds_since(start) < seconds) {
        const uint64_t call = calls++;
        api::ecs::DescribeTasksRequest request;
        for (size_t task = 0; task < 100; ++task) {
          request.tasks.push_back(arns[(call * 100 + task) % arns.size()]);
        }
        client.call("DescribeTasks", api::print(request));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const double elapsed = seconds_since(start);
  std::printf(R"({"what":"DescribeTasks of 100 tasks per second","connections":%d,"value":%.0f,)"
              R"("server_cpu_cores":%.2f})"
              "\n",
              connections, static_cast<double>(calls) / elapsed,
              (cpu_of(server) - cpu_before) / elapsed);
}

// The server's memory once it knows `wanted` tasks in all.
void memory_round(uint16_t port, pid_t server, uint64_t known, uint64_t wanted) {
  Client client(port);
  if (known < wanted) known += run_tasks(client, wanted - known).size();
  std::printf(R"({"what":"server memory in KiB","value":%ld,"tasks":%lu})"
              "\n",
              static_cast<long>(rss_kib_of(server)), static_cast<unsigned long>(known));
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--instances") == 0) options.instances = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seconds") == 0) options.seconds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--connections") == 0) {
      options.connections.clear();
      std::istringstream list(argv[i + 1]);
      for (std::string one; std::getline(list, one, ',');) {
        options.connections.push_back(std::atoi(one.c_str()));
      }
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::string dir = (std::filesystem::temp_directory_path() / "berth-bench-XXXXXX").string();
  CHECK(mkdtemp(dir.data()) != nullptr);
  int ready[2];
  int stop[2];
  CHECK(pipe(ready) == 0 && pipe(stop) == 0);
  const pid_t server = fork();
  if (server == 0) {
    close(stop[1]);
    serve(dir, ready[1], stop[0]);
  }
  uint16_t port = 0;
  CHECK(read(ready[0], &port, sizeof(port)) == sizeof(port));
  {
    Client client(port);
    prepare(client, options.instances);
  }
  std::printf(R"({"what":"floor: durable transactions per second, one by one","value":%.0f})"
              "\n",
              floor_commits(dir));
  uint64_t accepted_in_all = 0;
  for (const int connections : options.connections) {
    const double server_before = cpu_of(server);
    const double client_before = cpu_of(getpid());
    const auto start = Clock::now();
    const Round round = run_round(port, connections, options.seconds);
    const double elapsed = seconds_since(start);
    const auto accepted = static_cast<double>(round.accepted);
    accepted_in_all += round.accepted;
    std::printf(
        R"({"what":"RunTask per second","connections":%d,"value":%.0f,"p50_ms":%.2f,"p99_ms":%.2f,)"
        R"("server_cpu_us_per_task":%.0f,"server_cpu_cores":%.2f,"load_cpu_cores":%.2f})"
        "\n",
        connections, accepted / options.seconds, percentile(round.latencies_ms, 0.5),
        percentile(round.latencies_ms, 0.99), (cpu_of(server) - server_before) * 1e6 / accepted,
        (cpu_of(server) - server_before) / elapsed, (cpu_of(getpid()) - client_before) / elapsed);
    std::fflush(stdout);
  }
  for (const int connections : {1, 4}) {
    describe_round(port, server, options.seconds, connections);
    accepted_in_all += 1000;
  }
  memory_round(port, server, accepted_in_all, 100'000);
  close(stop[1]);
  int status = 0;
  waitpid(server, &status, 0);
  std::filesystem::remove_all(dir);
  return status == 0 ? 0 : 1;
}
