// What the tests of agent/ need: a control plane that speaks just enough of ECS, ACS and CloudWatch
// Logs, in the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "acs/messages.h"
#include "acs/telemetry.h"
#include "agent/agent.h"
#include "api/generated/ecs.h"
#include "api/generated/logs.h"
#include "api/json.h"
#include "base/format.h"
#include "base/queue.h"
#include "net/http_server.h"

namespace agent::testing {

inline constexpr const char* instance_arn =
    "arn:aws:ecs:us-east-1:123456789012:container-instance/default/0123456789abcdef";
inline constexpr base::Milliseconds patience = std::chrono::minutes(2);

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "agent-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What the control plane has seen. Belongs to the loop's thread.
struct Seen {
  struct Stream {
    std::vector<std::string> lines;
    std::vector<int64_t> times;
    int64_t next = 0;
  };
  std::vector<api::ecs::RegisterContainerInstanceRequest> registrations;
  std::vector<api::ecs::SubmitTaskStateChangeRequest> submits;
  std::vector<std::string> connects;   // Targets of the control stream's upgrades.
  std::vector<std::string> closes;     // Reasons that the agent closed it with.
  std::vector<std::string> acks;       // Message ids.
  std::vector<std::string> telemetry;  // Types of its messages.
  std::map<std::string, std::map<std::string, Stream>> groups;
  size_t puts = 0;
  size_t gaps = 0;  // Batches of events before which some were left out.
  bool all_signed = true;
  std::shared_ptr<net::WebSocket> control;

  std::vector<std::string> lines(const std::string& group, const std::string& stream) const {
    const auto in = groups.find(group);
    if (in == groups.end()) return {};
    const auto found = in->second.find(stream);
    return found == in->second.end() ? std::vector<std::string>() : found->second.lines;
  }
  // "RUNNING main=RUNNING" of the latest report.
  std::string last_submit() const { return submits.empty() ? "" : describe(submits.back()); }
  static std::string describe(const api::ecs::SubmitTaskStateChangeRequest& submit) {
    std::string text = submit.status.value_or("");
    for (const auto& container : submit.containers) {
      text += base::format(" {}={}", *container.container_name, *container.status);
      if (container.exit_code) text += base::format("({})", *container.exit_code);
      if (container.reason) text += base::format(" [{}]", *container.reason);
    }
    return text;
  }
};

class ControlPlane {
 public:
  ControlPlane() { listen(0); }
  ~ControlPlane() {
    down();
    loop_.stop();
  }
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  std::string url() const { return base::format("http://127.0.0.1:{}", port_); }
  // The process ends, and comes back on the same port; what it has stored stays.
  void down() { server_.reset(); }
  void up() { listen(port_); }
  // Runs on the loop's thread.
  template <class Do>
  auto with(Do&& act) {
    using T = std::invoke_result_t<Do, Seen&>;
    if constexpr (std::is_void_v<T>) {
      base::Queue<bool> done(1);
      loop_.post([&] {
        act(seen_);
        done.push(true);
      });
      done.pop();
    } else {
      base::Queue<T> done(1);
      loop_.post([&] { done.push(act(seen_)); });
      return std::move(*done.pop());
    }
  }

  // The next `times` calls of the operation answer with that AWS error.
  void refuse(const std::string& operation, const std::string& code, const std::string& message,
              int times = 1) {
    with([&](Seen&) { refusals_[operation] = {code, message, times}; });
  }

  // Waits until it holds; looks again after everything that the agent sends.
  bool await(const std::function<bool(Seen&)>& holds) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!with(holds)) {
      const auto left =
          std::chrono::duration_cast<base::Milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      happened_.pop_batch(1000, left);
    }
    return true;
  }
  // Makes await() look again.
  void poke() { happened_.try_push(true); }
  bool await_submit(const std::string& text) {
    const bool found = await([&](Seen& seen) {
      for (const auto& submit : seen.submits) {
        if (Seen::describe(submit) == text) return true;
      }
      return false;
    });
    if (!found) {
      with([&](Seen& seen) {
        for (const auto& submit : seen.submits) {
          ADD_FAILURE() << "submitted: " << Seen::describe(submit);
        }
      });
    }
    return found;
  }
  bool await_connected() {
    return await([](Seen& seen) { return seen.control != nullptr; });
  }
  std::vector<std::string> lines(const std::string& group, const std::string& stream) {
    return with([&](Seen& seen) { return seen.lines(group, stream); });
  }
  bool await_lines(const std::string& group, const std::string& stream, size_t count) {
    return await([&](Seen& seen) { return seen.lines(group, stream).size() >= count; });
  }

  void send(const acs::ServerMessage& message) {
    with([&](Seen& seen) {
      ASSERT_NE(seen.control, nullptr);
      seen.control->send(acs::encode(message));
    });
  }
  void send_task(acs::Task task) {
    acs::PayloadMessage message;
    message.cluster_arn = "default";
    message.container_instance_arn = instance_arn;
    message.seq_num = ++sequence_;
    message.message_id = base::format("m{}", message.seq_num);
    message.tasks.push_back(std::move(task));
    send(message);
  }

 private:
  struct Refusal {
    std::string code;
    std::string message;
    int times = 0;
  };

  void listen(uint16_t port) {
    net::HttpServerOptions options;
    options.port = port;
    options.body_limit = [](const net::HttpRequest&) { return size_t{6} << 20; };
    auto server = net::HttpServer::create(
        loop_, options,
        [this](const net::HttpRequest& request, const net::Responder& responder) {
          responder.respond(answer(request));
          happened_.try_push(true);
        },
        [this](const net::HttpRequest& request, const net::Upgrade& upgrade) {
          open(request, upgrade);
        });
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->port();
  }

  void check_signature(const net::HttpRequest& request) {
    const auto authorization = net::header_or_empty(request.headers, "Authorization");
    const bool is_signed = authorization.starts_with("AWS4-HMAC-SHA256 Credential=AGENTKEY/") &&
                           net::find_header(request.headers, "X-Amz-Date") != nullptr;
    seen_.all_signed = seen_.all_signed && is_signed;
  }

  static net::HttpResponse fail(const std::string& code, const std::string& message) {
    return {.status = 400,
            .headers = {},
            .body = base::format(R"({{"__type":"{}","message":"{}"}})", code, message)};
  }
  template <class T>
  static net::HttpResponse succeed(const T& answer) {
    return {.status = 200, .headers = {}, .body = api::print(answer)};
  }
  template <class T>
  static T body_of(const net::HttpRequest& request) {
    auto parsed = api::parse<T>(request.body);
    EXPECT_TRUE(parsed.has_value()) << request.body;
    return parsed.value_or(T{});
  }

  net::HttpResponse answer(const net::HttpRequest& request) {
    check_signature(request);
    const std::string target(net::header_or_empty(request.headers, "X-Amz-Target"));
    const std::string operation = target.substr(target.rfind('.') + 1);
    if (Refusal& refusal = refusals_[operation]; refusal.times > 0) {
      --refusal.times;
      return fail(refusal.code, refusal.message);
    }
    if (operation == "RegisterContainerInstance") {
      seen_.registrations.push_back(body_of<api::ecs::RegisterContainerInstanceRequest>(request));
      api::ecs::RegisterContainerInstanceResponse response;
      response.container_instance.emplace().container_instance_arn = instance_arn;
      return succeed(response);
    }
    if (operation == "DiscoverPollEndpoint") {
      api::ecs::DiscoverPollEndpointResponse response;
      response.endpoint = url() + "/acs";
      response.telemetry_endpoint = url() + "/tcs";
      return succeed(response);
    }
    if (operation == "SubmitTaskStateChange") {
      seen_.submits.push_back(body_of<api::ecs::SubmitTaskStateChangeRequest>(request));
      return succeed(api::ecs::SubmitTaskStateChangeResponse{});
    }
    if (operation == "GetParameters") {
      return {.status = 200,
              .headers = {},
              .body = R"({"Parameters":[{"Name":"/token","Value":"the-secret-value"}]})"};
    }
    return answer_logs(operation, request);
  }

  net::HttpResponse answer_logs(const std::string& operation, const net::HttpRequest& request) {
    const auto no_group = [] {
      return fail("ResourceNotFoundException", "The specified log group does not exist.");
    };
    if (operation == "CreateLogGroup") {
      const auto create = body_of<api::logs::CreateLogGroupRequest>(request);
      seen_.groups[*create.log_group_name];
      return succeed(api::logs::CreateLogGroupResponse{});
    }
    if (operation == "CreateLogStream") {
      const auto create = body_of<api::logs::CreateLogStreamRequest>(request);
      const auto group = seen_.groups.find(*create.log_group_name);
      if (group == seen_.groups.end()) return no_group();
      if (!group->second.try_emplace(*create.log_stream_name).second) {
        return fail("ResourceAlreadyExistsException", "The specified log stream already exists");
      }
      return succeed(api::logs::CreateLogStreamResponse{});
    }
    EXPECT_EQ(operation, "PutLogEvents");
    const auto put = body_of<api::logs::PutLogEventsRequest>(request);
    const auto group = seen_.groups.find(*put.log_group_name);
    if (group == seen_.groups.end()) return no_group();
    const auto stream = group->second.find(*put.log_stream_name);
    if (stream == group->second.end()) {
      return fail("ResourceNotFoundException", "The specified log stream does not exist.");
    }
    ++seen_.puts;
    int64_t number = put.berth_position.value_or(stream->second.next);
    if (number > stream->second.next) ++seen_.gaps;
    for (const auto& event : put.log_events) {
      if (number++ < stream->second.next) continue;
      stream->second.lines.push_back(*event.message);
      stream->second.times.push_back(*event.timestamp);
      stream->second.next = number;
    }
    api::logs::PutLogEventsResponse response;
    response.berth_next_position = stream->second.next;
    return succeed(response);
  }

  void open(const net::HttpRequest& request, const net::Upgrade& upgrade) {
    check_signature(request);
    const bool is_control = request.target.starts_with("/acs/ws?");
    if (!is_control) {
      upgrade.accept({.on_message =
                          [this](const std::string& text, bool) {
                            const auto frame = acs::split_telemetry_frame(text);
                            EXPECT_TRUE(frame.has_value() && !frame->headers.empty());
                            const std::string_view envelope = frame->envelope;
                            seen_.telemetry.emplace_back(envelope.substr(0, envelope.find(',')));
                            happened_.try_push(true);
                          },
                      .on_close = [](uint16_t, const std::string&) {}});
      return;
    }
    seen_.connects.push_back(request.target);
    const size_t number = seen_.connects.size();
    seen_.control = upgrade.accept(
        {.on_message =
             [this](const std::string& text, bool) {
               const auto message = acs::decode_agent_message(text);
               EXPECT_TRUE(message.has_value()) << text;
               if (!message) return;
               if (const auto* ack = std::get_if<acs::AckRequest>(&*message)) {
                 seen_.acks.push_back(ack->message_id);
               } else if (const auto* beat = std::get_if<acs::HeartbeatAckRequest>(&*message)) {
                 seen_.acks.push_back(beat->message_id);
               }
               happened_.try_push(true);
             },
         .on_close =
             [this, number](uint16_t, const std::string& reason) {
               seen_.closes.push_back(reason);
               if (number == seen_.connects.size()) seen_.control.reset();
               happened_.try_push(true);
             }});
    happened_.try_push(true);
  }

  net::Loop loop_{1};
  Seen seen_;
  std::map<std::string, Refusal> refusals_;
  base::Queue<bool> happened_{100'000};
  uint16_t port_ = 0;
  int64_t sequence_ = 0;
  std::unique_ptr<net::HttpServer> server_;
};

inline AgentOptions options_for(const ControlPlane& plane, const std::filesystem::path& data_dir) {
  AgentOptions options;
  options.server_urls = {plane.url()};
  options.access_key_id = "AGENTKEY";
  options.secret_access_key = "agentsecret";
  options.data_dir = data_dir / "agent";
  return options;
}

inline std::string task_arn(const std::string& name) {
  return "arn:aws:ecs:us-east-1:123456789012:task/default/" + name;
}

// A task of one essential container "main".
inline acs::Task simple_task(const std::string& name, const std::string& image) {
  acs::Task task;
  task.arn = task_arn(name);
  task.family = "f";
  task.version = "1";
  task.desired_status = "RUNNING";
  task.task_cluster_arn = "default";
  acs::Container& container = task.containers.emplace_back();
  container.name = "main";
  container.image = image;
  container.essential = true;
  return task;
}

// Its output goes to the group "g", stream "p/main/<name>".
inline acs::Task with_logs(acs::Task task, bool create_group) {
  acs::DockerConfig& config = task.containers.front().docker_config.emplace();
  config.host_config =
      base::format(R"({{"LogConfig":{{"Type":"awslogs","Config":{{"awslogs-group":"g",)"
                   R"("awslogs-stream-prefix":"p","awslogs-create-group":"{}"}}}}}})",
                   create_group);
  return task;
}

}  // namespace agent::testing
