#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "json/value.h"

namespace cli {
namespace {

struct EnvCommand {
  std::string data = default_data_dir().string();
  bool json = false;
};

// In single quotes a POSIX shell takes every character but the quote itself as it is.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made += "'\\''";
    } else {
      made += c;
    }
  }
  return made + "'";
}

// Whether the installed `aws` reads AWS_ENDPOINT_URL: v1 from 1.29, v2 from 2.13 on. The function
// asks once, in the shell that evaluates it, so that the one on that PATH is meant. Bash hands it
// on to the scripts that it starts.
constexpr const char* old_cli_function = R"(unset -f aws 2>/dev/null || true
berth_aws_version=$(command aws --version 2>&1 | sed -n 's|^aws-cli/\([0-9]*\)\.\([0-9]*\)\..*|\1 \2|p')
case "$berth_aws_version" in
  "1 "[0-9]|"1 "1[0-9]|"1 "2[0-8]|"2 "[0-9]|"2 "1[0-2])
    aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
    test -z "$BASH_VERSION" || export -f aws ;;
esac
unset berth_aws_version
)";

base::Result<int> print_env(const EnvCommand& options) {
  const Credentials credentials = TRY(read_credentials(options.data));
  std::vector<std::pair<std::string, std::string>> variables{
      {"AWS_ENDPOINT_URL", credentials.url},
      {"AWS_ACCESS_KEY_ID", credentials.access_key_id},
      {"AWS_SECRET_ACCESS_KEY", credentials.secret_access_key},
      {"AWS_DEFAULT_REGION", credentials.region},
      {"AWS_REGION", credentials.region}};
  // Read by the AWS CLI, boto3 and, in the second spelling, by SDKs of Node.
  if (!credentials.ca_file.empty()) {
    variables.emplace_back("AWS_CA_BUNDLE", credentials.ca_file);
    variables.emplace_back("NODE_EXTRA_CA_CERTS", credentials.ca_file);
  }
  if (options.json) {
    json::Value value = json::Value::object();
    for (const auto& [name, text] : variables) value.set(name, text);
    std::puts(json::print(value).c_str());
    return 0;
  }
  for (const auto& [name, text] : variables) {
    std::puts(base::format("export {}={}", name, quoted(text)).c_str());
  }
  std::puts(credentials.ca_file.empty()
                ? "unset AWS_PROFILE AWS_SESSION_TOKEN AWS_CA_BUNDLE NODE_EXTRA_CA_CERTS"
                : "unset AWS_PROFILE AWS_SESSION_TOKEN");
  std::fputs(old_cli_function, stdout);
  return 0;
}

}  // namespace

void add_env(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "env", "Print what points the AWS CLI and SDKs at this server: eval \"$(berth env)\".");
  const auto options = std::make_shared<EnvCommand>();  // Shared by the parser and the action.
  command->add_option("--data", options->data, "The server's data directory.")
      ->capture_default_str();
  command->add_flag("--json", options->json, "As JSON.");
  command->callback([&action, options] { action = [options] { return print_env(*options); }; });
}

}  // namespace cli
