#include "control/tasks/definition/rules.h"

namespace control {
namespace {

constexpr size_t most_files = 10;
constexpr std::string_view host_scheme = "file://";

// "arn:aws:s3:::bucket/key" or "s3://bucket/key".
bool is_object(std::string_view value) {
  size_t start = 0;
  if (value.starts_with("s3://")) {
    start = 5;
  } else if (value.starts_with("arn:") && value.find(":s3:::") != std::string_view::npos) {
    start = value.find(":s3:::") + 6;
  } else {
    return false;
  }
  const size_t slash = value.find('/', start);
  return slash != std::string_view::npos && slash > start && slash + 1 < value.size();
}

}  // namespace

bool is_host_file(std::string_view value) {
  return value.starts_with(host_scheme);
}

// Source: ECS API reference, EnvironmentFile.
base::Result<void> check_environment_files(const Container& container) {
  if (container.environment_files.size() > most_files) {
    return invalid_setting(container,
                           base::format("environmentFiles has {} files; it can have at most {}.",
                                        container.environment_files.size(), most_files));
  }
  for (const api::ecs::EnvironmentFile& file : container.environment_files) {
    const std::string value = file.value.value_or("");
    if (!file.type) {
      return invalid_setting(container, "An environment file needs the type s3.");
    }
    const bool in_host = is_host_file(value) && value.size() > host_scheme.size() + 1 &&
                         value[host_scheme.size()] == '/';
    if (!in_host && !is_object(value)) {
      return invalid_setting(
          container,
          base::format("The environment file \"{}\" must be the ARN of an object of S3, as "
                       "arn:aws:s3:::bucket/app.env, or a file of the container instance, as "
                       "file:///etc/app.env.",
                       value.substr(0, 255)));
    }
    if (!value.ends_with(".env")) {
      return invalid_setting(
          container, base::format("The name of the environment file \"{}\" must end in .env.",
                                  value.substr(0, 255)));
    }
  }
  return {};
}

}  // namespace control
