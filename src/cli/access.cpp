#include "cli/access.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <initializer_list>
#include <iterator>

#include "base/format.h"
#include "cli/environment.h"

namespace cli {
namespace {

std::string first_of(const std::function<std::string(const char*)>& variable,
                     std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    std::string value = variable(name);
    if (!value.empty()) return value;
  }
  return {};
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Of the name in AWS_PROFILE alone: who has a default profile means Amazon by it.
AwsProfile read_profile(const std::string& name) {
  if (name.empty()) return {};
  const auto text = [](const char* variable, const char* file) {
    const std::string path = environment(variable);
    return text_of_file(path.empty() ? base::format("{}/.aws/{}", environment("HOME"), file)
                                     : path);
  };
  return parse_aws_profile(name, text("AWS_CONFIG_FILE", "config"),
                           text("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
}

}  // namespace

void add_access_option(CLI::App& command, std::string& data) {
  command.add_option("--data", data,
                     base::format("The server's directory. Without it the environment names the "
                                  "server, as `berth env` prints it, or AWS_PROFILE does; else it "
                                  "is {}.",
                                  default_data_dir().string()));
}

std::optional<Credentials> server_in_environment(
    const std::function<std::string(const char*)>& variable, const AwsProfile& profile) {
  const auto or_else = [](std::string value, const std::string& other) {
    return value.empty() ? other : value;
  };
  Credentials made;
  made.url = or_else(first_of(variable, {"AWS_ENDPOINT_URL_ECS", "AWS_ENDPOINT_URL"}),
                     profile.endpoint_url);
  made.access_key_id = variable("AWS_ACCESS_KEY_ID");
  made.secret_access_key = variable("AWS_SECRET_ACCESS_KEY");
  made.session_token = variable("AWS_SESSION_TOKEN");
  if (made.access_key_id.empty() || made.secret_access_key.empty()) {
    made.access_key_id = profile.access_key_id;
    made.secret_access_key = profile.secret_access_key;
    made.session_token = profile.session_token;
  }
  made.ca_file = or_else(variable("AWS_CA_BUNDLE"), profile.ca_bundle);
  const std::string region =
      or_else(first_of(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"}), profile.region);
  if (!region.empty()) made.region = region;
  if (made.url.empty() || made.access_key_id.empty() || made.secret_access_key.empty()) {
    return std::nullopt;
  }
  return made;
}

base::Result<Credentials> find_server(const std::string& data) {
  if (!data.empty()) return read_credentials(data);
  const std::string name = environment("AWS_PROFILE");
  const AwsProfile profile = read_profile(name);
  if (auto found = server_in_environment(environment, profile)) return std::move(*found);
  // Not this machine's server instead: somebody may mean another one.
  if (!name.empty() && !profile.found) {
    return base::fail(
        "NotFound",
        base::format("AWS_PROFILE names {}, and neither ~/.aws/config has a [profile {}] nor "
                     "~/.aws/credentials a [{}]. Write it there, or name a server's directory "
                     "with --data.",
                     name, name, name));
  }
  auto stored = read_credentials(default_data_dir());
  if (!stored && stored.error().code == "NotFound") {
    stored.error().message +=
        " Or take its address and key from the environment: run `berth env` "
        "where the server runs, and its lines here; or name a profile of ~/.aws with AWS_PROFILE "
        "that has an endpoint_url and keys.";
  }
  return stored;
}

}  // namespace cli
