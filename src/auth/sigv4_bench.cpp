// What one request's authentication costs.
#include <benchmark/benchmark.h>

#include "auth/signer.h"
#include "auth/verifier.h"

namespace auth {
namespace {

const Credentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};

// A RunTask as the AWS CLI sends it, with a body of state.range(0) bytes.
struct RunTask {
  explicit RunTask(size_t body_size) : body(body_size, 'x') {
    request.method = "POST";
    request.path = "/";
    request.headers = {{"Host", "127.0.0.1:7117"},
                       {"Accept-Encoding", "identity"},
                       {"X-Amz-Target", "AmazonEC2ContainerServiceV20141113.RunTask"},
                       {"Content-Type", "application/x-amz-json-1.1"},
                       {"User-Agent", "aws-cli/2.9.19 Python/3.11.2 Linux/6.1 source/x86_64"},
                       {"Content-Length", "123"}};
    request.body = body;
  }

  std::string body;
  Request request;
};

void verify(benchmark::State& state) {
  RunTask run_task(static_cast<size_t>(state.range(0)));
  const base::Time now = *base::parse_basic("20250131T120000Z");
  const auto added = sign(run_task.request, credentials, {"us-east-1", "ecs"}, now);
  for (const auto& [name, value] : added) run_task.request.headers.emplace_back(name, value);
  KeyRing keys;
  keys.put({.access_key_id = credentials.access_key_id,
            .secret_access_key = credentials.secret_access_key,
            .session_token = {},
            .account = "123456789012",
            .arn = "arn:aws:iam::123456789012:root",
            .user_id = "123456789012"});
  Verifier verifier({.region = "us-east-1", .services = {"ecs", "logs", "sts"}});
  for (auto _ : state) {
    if (!verifier.verify(run_task.request, keys, now)) {
      state.SkipWithError("the request does not verify");
      break;
    }
  }
}
BENCHMARK(verify)->Arg(200)->Arg(2'000)->Arg(1 << 20);

void sign_request(benchmark::State& state) {
  const RunTask run_task(200);
  const base::Time now = *base::parse_basic("20250131T120000Z");
  for (auto _ : state) {
    benchmark::DoNotOptimize(sign(run_task.request, credentials, {"us-east-1", "ecs"}, now));
  }
}
BENCHMARK(sign_request);

// The floor under verify: hashing the body and the canonical request, and one keyed hash.
void floor_hashes(benchmark::State& state) {
  crypto::Sha256 sha256;
  crypto::Hmac hmac("key");
  const std::string body(200, 'x');
  const std::string canonical(400, 'x');
  for (auto _ : state) {
    benchmark::DoNotOptimize(sha256.of(body));
    benchmark::DoNotOptimize(hmac.sign(crypto::as_text(sha256.of(canonical))));
  }
}
BENCHMARK(floor_hashes);

}  // namespace
}  // namespace auth
