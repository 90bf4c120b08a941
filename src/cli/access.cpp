#include "cli/access.h"

#include <CLI/CLI.hpp>
#include <initializer_list>

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

}  // namespace

void add_access_option(CLI::App& command, std::string& data) {
  command.add_option("--data", data,
                     base::format("The server's directory. Without it the environment names the "
                                  "server, as `berth env` prints it; else it is {}.",
                                  default_data_dir().string()));
}

std::optional<Credentials> server_in_environment(
    const std::function<std::string(const char*)>& variable) {
  Credentials made;
  made.url = first_of(variable, {"AWS_ENDPOINT_URL_ECS", "AWS_ENDPOINT_URL"});
  made.access_key_id = variable("AWS_ACCESS_KEY_ID");
  made.secret_access_key = variable("AWS_SECRET_ACCESS_KEY");
  made.session_token = variable("AWS_SESSION_TOKEN");
  made.ca_file = variable("AWS_CA_BUNDLE");
  const std::string region = first_of(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (!region.empty()) made.region = region;
  if (made.url.empty() || made.access_key_id.empty() || made.secret_access_key.empty()) {
    return std::nullopt;
  }
  return made;
}

base::Result<Credentials> find_server(const std::string& data) {
  if (!data.empty()) return read_credentials(data);
  if (auto found = server_in_environment(environment)) return std::move(*found);
  auto stored = read_credentials(default_data_dir());
  if (!stored && stored.error().code == "NotFound") {
    stored.error().message +=
        " Or take its address and key from the environment: run `berth env` "
        "where the server runs, and its lines here.";
  }
  return stored;
}

}  // namespace cli
