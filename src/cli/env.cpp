#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/format.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "json/value.h"

namespace cli {
namespace {

struct EnvCommand {
  std::string data = default_data_dir().string();
  bool remote = false;
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

// For an `aws` that does not read AWS_ENDPOINT_URL: a program of that name, which stands before it
// on PATH, so that xargs, scripts and other programs find it as a shell does.
constexpr const char* wrapper = R"sh(#!/bin/sh
# Made by `berth env`.
exec "${BERTH_AWS:?run eval \"\$(berth env)\" again}" ${AWS_ENDPOINT_URL:+--endpoint-url "$AWS_ENDPOINT_URL"} "$@"
)sh";

// Evaluated by the shell, so that the `aws` and the boto3 on its PATH are meant. AWS_ENDPOINT_URL
// is read by the AWS CLI from 1.29 and 2.13 on, and by botocore from 1.31 on.
constexpr const char* old_clients = R"sh(case ":$PATH:" in
  *":$berth_bin:"*) ;;
  *) BERTH_AWS=$(command -v aws || true) ;;
esac
case "$(test -z "${BERTH_AWS:-}" || "$BERTH_AWS" --version 2>&1 | sed -n 's|^aws-cli/\([0-9]*\)\.\([0-9]*\)\..*|\1 \2|p')" in
  "1 "[0-9]|"1 "1[0-9]|"1 "2[0-8]|"2 "[0-9]|"2 "1[0-2])
    export BERTH_AWS
    case ":$PATH:" in *":$berth_bin:"*) ;; *) export PATH="$berth_bin:$PATH" ;; esac ;;
esac
berth_botocore=$(python3 -c 'import botocore; print(botocore.__version__)' 2>/dev/null || true)
case "$berth_botocore" in
  0.*|1.[0-9].*|1.[12][0-9].*|1.30.*)
    echo "berth: the boto3 of $(command -v python3) (botocore $berth_botocore) does not read AWS_ENDPOINT_URL: its calls go to Amazon. Give each client endpoint_url=os.environ['AWS_ENDPOINT_URL'], or install boto3 1.28 or newer." >&2 ;;
esac
unset berth_bin berth_botocore
)sh";

// Makes DIR/bin/aws. The folder's path.
base::Result<std::filesystem::path> make_wrapper(const std::filesystem::path& data) {
  const std::filesystem::path folder = std::filesystem::absolute(data) / "bin";
  TRY_VOID(make_data_dir(folder));
  const std::filesystem::path program = folder / "aws";
  TRY_VOID(write_private_file(program, wrapper));
  std::error_code error;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all, error);
  if (!error) return folder;
  return base::fail(
      "IoError", base::format("cannot make {} a program: {}", program.string(), error.message()));
}

base::Result<std::string> url_of(const EnvCommand& options, const Credentials& credentials) {
  if (!options.remote) return credentials.url;
  if (!credentials.advertised_url.empty()) return credentials.advertised_url;
  return base::fail(
      "InvalidParameterException",
      base::format("the server tells other machines no address: it is at {}. Start it "
                   "with --listen 0.0.0.0:7117 --advertise URL",
                   credentials.url));
}

base::Result<int> print_env(const EnvCommand& options) {
  const Credentials credentials = TRY(read_credentials(options.data));
  std::vector<std::pair<std::string, std::string>> variables{
      {"AWS_ENDPOINT_URL", TRY(url_of(options, credentials))},
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
  if (options.remote) {
    if (!credentials.ca_file.empty()) {
      std::fprintf(stderr,
                   "note: copy %s to the other machine, and name it there in AWS_CA_BUNDLE\n",
                   credentials.ca_file.c_str());
    }
    return 0;
  }
  const std::filesystem::path folder = TRY(make_wrapper(options.data));
  std::puts(base::format("berth_bin={}", quoted(folder.string())).c_str());
  std::fputs(old_clients, stdout);
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
  command->add_flag("--remote", options->remote,
                    "For another machine: the address that the server advertises.");
  command->callback([&action, options] { action = [options] { return print_env(*options); }; });
}

}  // namespace cli
