#include "cli/join.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "api/berth.h"
#include "api/describe.h"
#include "api/json.h"
#include "api/service.h"
#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/installation.h"
#include "crypto/crypto.h"
#include "json/value.h"
#include "net/http_client.h"

namespace cli {

API_DESCRIBED(JoinedKey);
API_DESCRIBE(JoinedKey, API_REQUIRED(agent_name, "agentName"),
             API_MEMBER(access_key_id, "accessKeyId"),
             API_MEMBER(secret_access_key, "secretAccessKey"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(region, "region"), API_MEMBER(token_digest, "tokenDigest"));

namespace {

constexpr base::Milliseconds first_join_pause{500};
constexpr base::Milliseconds longest_join_pause{15'000};
constexpr size_t name_length = 40;

std::filesystem::path key_path(const JoinOptions& options) {
  return options.data_dir / "agent-key.json";
}

// Without an access key: a join that was begun, or not.
base::Result<JoinedKey> stored_key(const JoinOptions& options) {
  std::ifstream file(key_path(options), std::ios::binary);
  if (!file) {
    JoinedKey begun;
    begun.agent_name = random_name(name_length);
    return begun;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto key = api::parse<JoinedKey>(text);
  if (key) return std::move(*key);
  return base::fail("Corrupt", base::format("{} cannot be read: {}. Remove it, and join with a new "
                                            "token.",
                                            key_path(options).string(), key.error().message));
}

base::Result<void> store(const JoinOptions& options, const JoinedKey& key) {
  return write_private_file(key_path(options), api::print(key) + "\n");
}

struct Attempt {
  bool answered = false;  // False: this server may answer later, or another one now.
  base::Result<api::berth::JoinClusterResponse> response;
};

Attempt ask(const std::string& server, const JoinOptions& options, const JoinedKey& key) {
  const auto parsed = net::parse_url(server);
  if (!parsed) return {true, base::fail(parsed.error())};
  const auto client = net::HttpClient::create(*parsed, options.trust);
  if (!client) return {true, base::fail(client.error())};
  api::berth::JoinClusterRequest body;
  body.token = options.token;
  body.agent_name = key.agent_name;
  net::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = api::print(body);
  request.headers = {
      {"Content-Type", "application/x-amz-json-1.1"},
      {"X-Amz-Target", base::format("{}.JoinCluster", api::berth_service().target_prefix)}};
  const auto response = (*client)->request(request, {.retry = net::Retry::Always});
  if (!response) {
    const bool hopeless = response.error().code == "TlsError";
    return {hopeless, base::fail(response.error())};
  }
  if (response->status == 200) {
    return {true, api::parse<api::berth::JoinClusterResponse>(response->body, {.validate = false})};
  }
  const auto error = json::parse(response->body);
  const std::string code = error ? (*error)["__type"].text_or("HttpError") : "HttpError";
  const std::string message =
      error ? (*error)["message"].text_or("") : base::format("HTTP {}", response->status);
  const bool refused = response->status / 100 == 4 && code != "ThrottlingException";
  return {refused, base::fail(code, message)};
}

base::Result<JoinedKey> exchange(const JoinOptions& options, JoinedKey key) {
  std::string told;
  for (base::Milliseconds pause = first_join_pause;;
       pause = std::min(pause * 2, longest_join_pause)) {
    for (const std::string& server : options.servers) {
      const Attempt attempt = ask(server, options, key);
      if (attempt.response) {
        key.access_key_id = attempt.response->access_key_id.value_or("");
        key.secret_access_key = attempt.response->secret_access_key.value_or("");
        key.cluster = attempt.response->cluster.value_or("default");
        key.region = attempt.response->region.value_or("us-east-1");
        TRY_VOID(store(options, key));
        base::log_info("joined the cluster {}; this machine's key is in {}", key.cluster,
                       key_path(options).string());
        return key;
      }
      if (attempt.answered) return base::fail(attempt.response.error());
      if (told != attempt.response.error().message) {
        told = attempt.response.error().message;
        base::log_warning("cannot join yet, and goes on trying: {}", told);
      }
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

base::Result<std::string> read_token(const TokenSource& source, const std::string& environment,
                                     const std::function<std::string()>& read_input) {
  if (source.text.empty() && source.file.empty()) return environment;
  if (!source.text.empty() && source.text != "-") return source.text;
  std::string text;
  if (source.text == "-") {
    text = read_input();
  } else {
    std::ifstream file(source.file, std::ios::binary);
    if (!file) {
      return base::fail("IoError", base::format("--token-file {} cannot be read: {}.", source.file,
                                                std::strerror(errno)));
    }
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::string token(base::trimmed(text, " \t\r\n"));
  if (!token.empty()) return token;
  return base::fail("InvalidParameterException",
                    base::format("{} holds no join token; `berth token create` makes one.",
                                 source.file.empty() ? "standard input" : source.file));
}

base::Result<JoinedKey> join(const JoinOptions& options) {
  TRY_VOID(make_data_dir(options.data_dir));
  JoinedKey key = TRY(stored_key(options));
  const bool has_key = !key.access_key_id.empty();
  const std::string digest =
      options.token.empty() ? std::string() : crypto::to_hex(crypto::sha256(options.token));
  if (has_key && (digest.empty() || digest == key.token_digest)) return key;
  if (options.token.empty()) {
    return base::fail(
        "MissingCredentials",
        "this machine has no key of the server: give --token-file with a file of what "
        "`berth token create` prints on the server's machine, or set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  }
  // The name first: after a crash in the middle the exchange is repeated under the same.
  if (!has_key) TRY_VOID(store(options, key));
  JoinedKey wanted = key;
  wanted.token_digest = digest;
  auto joined = exchange(options, std::move(wanted));
  if (joined || !has_key) return joined;
  base::log_warning("this machine goes on with the key that it has: {}", joined.error().message);
  key.token_digest = digest;  // It is not asked about again.
  TRY_VOID(store(options, key));
  return key;
}

}  // namespace cli
