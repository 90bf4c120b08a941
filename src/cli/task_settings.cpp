#include "cli/task_settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/format.h"
#include "cli/environment.h"
#include "model/task_bounds.h"
#include "net/http.h"

namespace cli {
namespace {

using agent::core::PullBehavior;

std::unexpected<base::Error> invalid(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

base::Result<PullBehavior> parse_pull_behavior(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, PullBehavior>, 4> behaviors{
      {{"default", PullBehavior::Default},
       {"always", PullBehavior::Always},
       {"once", PullBehavior::Once},
       {"prefer-cached", PullBehavior::PreferCached}}};
  for (const auto& [name, behavior] : behaviors) {
    if (name == text) return behavior;
  }
  return invalid(base::format(
      "--image-pull-behavior is \"{}\"; it is default, always, once or prefer-cached", text));
}

base::Result<void> set_duration(const std::string& text, const char* option,
                                base::Milliseconds least, base::Milliseconds& value) {
  if (text.empty()) return {};
  const auto parsed = parse_duration(text);
  if (!parsed) return invalid(base::format("{}: {}", option, parsed.error().message));
  if (*parsed < least) {
    return invalid(base::format("{} is {}; it must be at least {} s", option, text,
                                std::chrono::duration_cast<std::chrono::seconds>(least).count()));
  }
  value = *parsed;
  return {};
}

// As Docker's option max-size has it: "100m". "0" is none.
base::Result<std::string> parse_log_size(const std::string& text) {
  if (text == "0") return std::string();
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  const bool good = digits > 0 && digits < 10 && text.front() != '0' &&
                    (unit == "k" || unit == "m" || unit == "g");
  if (good) return text;
  return invalid(
      base::format("--container-log-size is \"{}\"; write it as 500k, 100m, 1g or 0", text));
}

// Secrets come by the environment only: everybody on the machine can read arguments.
base::Result<agent::EcrAccess> ecr_access(const std::string& endpoint) {
  agent::EcrAccess access{.access_key_id = environment("BERTH_ECR_ACCESS_KEY_ID"),
                          .secret_access_key = environment("BERTH_ECR_SECRET_ACCESS_KEY"),
                          .session_token = environment("BERTH_ECR_SESSION_TOKEN"),
                          .endpoint = endpoint};
  if (access.access_key_id.empty() != access.secret_access_key.empty()) {
    return invalid(
        "BERTH_ECR_ACCESS_KEY_ID and BERTH_ECR_SECRET_ACCESS_KEY go together, and only one is set");
  }
  if (!endpoint.empty()) TRY(net::parse_url(endpoint));
  return access;
}

}  // namespace

base::Result<base::Milliseconds> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  const auto refuse = [&] {
    return invalid(base::format("\"{}\" is no duration: write it as 90s, 10m or 1h30m", text));
  };
  if (text.empty()) return refuse();
  double sum = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    double number = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (parsed.ec != std::errc{} || number < 0) return refuse();
    rest.remove_prefix(static_cast<size_t>(parsed.ptr - rest.data()));
    const std::string_view unit = rest.substr(0, rest.find_first_of("0123456789."));
    double factor = 0;
    for (const auto& [name, milliseconds] : units) {
      if (name == unit) factor = milliseconds;
    }
    if (factor == 0) return refuse();
    rest.remove_prefix(unit.size());
    sum += number * factor;
  }
  if (sum > 1e12) return refuse();
  return base::Milliseconds(static_cast<int64_t>(sum));
}

void add_task_settings(CLI::App& command, TaskSettings& settings) {
  command
      .add_option("--image-pull-behavior", settings.pull_behavior,
                  "default (pull, else take what is there), always, once, or prefer-cached (only "
                  "what is not there), which it is without this option.")
      ->envname("ECS_IMAGE_PULL_BEHAVIOR");
  command
      .add_option("--task-cleanup-wait", settings.cleanup_wait,
                  "How long the containers of a stopped task stay: 3h.")
      ->envname("ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION");
  command
      .add_option("--container-stop-timeout", settings.stop_timeout,
                  "Between the stop signal and SIGKILL, where the definition says nothing: 30s.")
      ->envname("ECS_CONTAINER_STOP_TIMEOUT");
  command.add_option("--gpu-release-timeout", settings.gpu_release_timeout,
                     "A GPU still in use so long after its task has ended is quarantined: 60s.");
  command
      .add_option("--pids-limit", settings.pids_limit,
                  "Processes and threads that one container may have; 0: no limit.")
      ->check(CLI::Range(0, 4'194'304))
      ->capture_default_str();
  command.add_option("--metrics-interval", settings.metrics_interval,
                     "How often what GPUs and containers use is measured and told: 20s.");
  command
      .add_flag("--no-image-cleanup", settings.no_image_cleanup,
                "Keep all images that were pulled for tasks.")
      ->envname("ECS_DISABLE_IMAGE_CLEANUP");
  command
      .add_option("--image-cleanup-interval", settings.image_cleanup_interval,
                  "How often pulled images that no task uses are removed: 30m.")
      ->envname("ECS_IMAGE_CLEANUP_INTERVAL");
  command
      .add_option("--image-minimum-age", settings.image_minimum_age,
                  "How long such an image has been unused at least: 1h.")
      ->envname("ECS_IMAGE_MINIMUM_CLEANUP_AGE");
  command
      .add_option("--images-per-cleanup", settings.images_per_cleanup,
                  "How many images go at a time.")
      ->envname("ECS_NUM_IMAGES_DELETE_PER_CYCLE")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option(
          "--disk-pressure-percent", settings.disk_pressure_percent,
          "A fuller disk of Docker's lets stopped containers and unused pulled images go at "
          "once; 0: never.")
      ->check(CLI::Range(0, 99))
      ->capture_default_str();
  command
      .add_option("--container-log-size", settings.container_log_size,
                  "Output that Docker's log driver json-file keeps of a container in each of 5 "
                  "files, where its definition does not say; 0: as Docker is set up.")
      ->capture_default_str();
  command.add_option("--profile", settings.profile,
                     "What tasks may ask of this machine: trusted, everything, which it is without "
                     "this option, or shared, nothing that reaches beyond their own containers.");
  command
      .add_option("--allow", settings.allow,
                  "What tasks may ask of a shared machine nevertheless (implies --profile shared): "
                  "privileged, host-paths=/data:/scratch, host-network, host-pid, host-ipc, "
                  "docker-socket, docker-volumes, capabilities=SYS_PTRACE:NET_ADMIN, devices, "
                  "security-options; several with commas.")
      ->delimiter(',');
  command.add_flag("--allow-instance-metadata", settings.allow_instance_metadata,
                   "Let tasks reach 169.254.169.254, where a cloud tells a machine its own keys.");
  command.add_flag(
      "--adopt-data", settings.adopt_data,
      "The directory of --data was moved here with its machine, and nothing uses it "
      "any more where it was: without this option, one of another machine is refused.");
  command
      .add_option("--s3-endpoint", settings.s3_endpoint,
                  "Where environmentFiles of S3 are read; without it, Amazon S3.")
      ->envname("AWS_ENDPOINT_URL_S3");
  command
      .add_option(
          "--ecr-endpoint", settings.ecr_endpoint,
          "Where tokens for images of Amazon ECR are asked for, with the keys in "
          "BERTH_ECR_ACCESS_KEY_ID and BERTH_ECR_SECRET_ACCESS_KEY; without it, Amazon ECR.")
      ->envname("AWS_ENDPOINT_URL_ECR");
}

base::Result<void> apply_task_settings(const TaskSettings& settings, agent::AgentOptions& options) {
  constexpr base::Milliseconds second{1'000};
  if (!settings.pull_behavior.empty()) {
    options.pull_behavior = TRY(parse_pull_behavior(settings.pull_behavior));
  }
  TRY_VOID(
      set_duration(settings.cleanup_wait, "--task-cleanup-wait", second, options.cleanup_wait));
  TRY_VOID(set_duration(settings.stop_timeout, "--container-stop-timeout", second,
                        options.stop_timeout));
  TRY_VOID(set_duration(settings.gpu_release_timeout, "--gpu-release-timeout", second,
                        options.gpu_release_timeout));
  TRY_VOID(set_duration(settings.metrics_interval, "--metrics-interval", second,
                        options.metrics_interval));
  TRY_VOID(set_duration(settings.image_cleanup_interval, "--image-cleanup-interval", second,
                        options.cleanup.interval));
  TRY_VOID(set_duration(settings.image_minimum_age, "--image-minimum-age", second,
                        options.cleanup.minimum_image_age));
  options.pids_limit = settings.pids_limit;
  options.cleanup.images = !settings.no_image_cleanup;
  options.cleanup.most_images = static_cast<size_t>(settings.images_per_cleanup);
  options.cleanup.disk_percent = settings.disk_pressure_percent;
  if (!settings.s3_endpoint.empty()) TRY(net::parse_url(settings.s3_endpoint));
  options.s3_endpoint = settings.s3_endpoint;
  options.container_log_size = TRY(parse_log_size(settings.container_log_size));
  options.bounds = TRY(model::parse_task_bounds(settings.profile, settings.allow));
  options.allow_instance_metadata = settings.allow_instance_metadata;
  options.adopt_data = settings.adopt_data;
  options.ecr = TRY(ecr_access(settings.ecr_endpoint));
  return {};
}

}  // namespace cli
