#include "secrets/service.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"

namespace secrets {
namespace {

namespace ssm = api::ssm;
namespace sm = api::secretsmanager;

const base::Time noon{std::chrono::seconds(1'750'000'000)};
const std::string key(32, 'k');
using Reach = std::optional<std::vector<std::string>>;

struct Store {
  std::unique_ptr<Service> service = Service::open(":memory:", key, {"us-east-1", "1"}).value();
  base::Time now = noon;

  template <class Response, class Request>
  base::Result<Response> call(const api::Service& of, std::string_view name, const Request& request,
                              Reach reach = std::nullopt) {
    const api::Any input = api::Any::make(Request(request));
    auto answer = service->handle({&of, api::find(of, name), &input, std::move(reach)}, now);
    if (!answer) return base::fail(answer.error());
    return answer->template as<Response>();
  }

  base::Result<int64_t> put(const std::string& name, const std::string& value,
                            bool overwrite = false) {
    ssm::PutParameterRequest request;
    request.name = name;
    request.value = value;
    request.type = ssm::ParameterType::SecureString;
    request.overwrite = overwrite;
    return TRY(call<ssm::PutParameterResult>(api::ssm_service(), "PutParameter", request))
        .version.value();
  }
  base::Result<std::string> get(const std::string& name, Reach reach = std::nullopt,
                                bool decrypt = true) {
    ssm::GetParameterRequest request;
    request.name = name;
    request.with_decryption = decrypt;
    return TRY(call<ssm::GetParameterResult>(api::ssm_service(), "GetParameter", request, reach))
        .parameter->value.value();
  }
  base::Result<std::string> create_secret(const std::string& name, const std::string& value) {
    sm::CreateSecretRequest request;
    request.name = name;
    request.secret_string = value;
    return TRY(call<sm::CreateSecretResponse>(api::secretsmanager_service(), "CreateSecret",
                                              request))
        .arn.value();
  }
  base::Result<std::string> secret(const std::string& id, Reach reach = std::nullopt,
                                   const std::string& stage = {}) {
    sm::GetSecretValueRequest request;
    request.secret_id = id;
    if (!stage.empty()) request.version_stage = stage;
    return TRY(call<sm::GetSecretValueResponse>(api::secretsmanager_service(), "GetSecretValue",
                                                request, reach))
        .secret_string.value();
  }
};

TEST(Parameters, a_value_is_read_back_by_name_version_and_arn) {
  Store store;
  ASSERT_TRUE(store.put("/app/db", "one"));
  EXPECT_EQ(store.put("/app/db", "two").error().code, "ParameterAlreadyExists");
  EXPECT_EQ(store.put("/app/db", "two", true), 2);
  EXPECT_EQ(store.get("/app/db"), "two");
  EXPECT_EQ(store.get("/app/db:1"), "one");
  EXPECT_EQ(store.get("arn:aws:ssm:us-east-1:1:parameter/app/db"), "two");
  EXPECT_EQ(store.get("/app/db:3").error().code, "ParameterVersionNotFound");
  EXPECT_EQ(store.get("/app/none").error().code, "ParameterNotFound");
}

TEST(Parameters, a_secure_string_is_shown_decrypted_only_when_asked_for) {
  Store store;
  ASSERT_TRUE(store.put("p", "hunter2"));
  const auto shown = store.get("p", std::nullopt, false);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->find("hunter2"), std::string::npos);
}

TEST(Parameters, a_page_ends_where_the_next_begins) {
  Store store;
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(store.put("/many/" + std::string(1, static_cast<char>('a' + i)), "v"));
  }
  ASSERT_TRUE(store.put("/many/x/deep", "v"));
  ssm::GetParametersByPathRequest request;
  request.path = "/many";
  std::vector<std::string> names;
  do {
    auto page = store.call<ssm::GetParametersByPathResult>(api::ssm_service(),
                                                           "GetParametersByPath", request);
    ASSERT_TRUE(page);
    for (const auto& one : page->parameters) names.push_back(*one.name);
    request.next_token = page->next_token;
  } while (request.next_token);
  EXPECT_EQ(names.size(), 25U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Parameters, a_tasks_key_reads_those_that_its_definition_names) {
  Store store;
  ASSERT_TRUE(store.put("/app/db", "one"));
  ASSERT_TRUE(store.put("other", "two"));
  const Reach reach = std::vector<std::string>{"arn:aws:ssm:us-east-1:1:parameter/app/db"};
  EXPECT_EQ(store.get("/app/db", reach), "one");
  EXPECT_EQ(store.get("other", reach).error().code, "AccessDeniedException");
  EXPECT_EQ(store.get("missing", reach).error().code, "AccessDeniedException");
}

TEST(Secrets, a_secret_is_found_by_name_by_arn_and_by_an_arn_without_its_end) {
  Store store;
  const std::string arn = store.create_secret("db/password", "one").value();
  EXPECT_EQ(store.secret("db/password"), "one");
  EXPECT_EQ(store.secret(arn), "one");
  EXPECT_EQ(store.secret(arn.substr(0, arn.size() - 7)), "one");
  std::string other = arn;
  other.back() = other.back() == 'a' ? 'b' : 'a';
  EXPECT_EQ(store.secret(other).error().code, "ResourceNotFoundException");
  EXPECT_EQ(store.create_secret("db/password", "two").error().code, "ResourceExistsException");
}

TEST(Secrets, a_new_value_is_current_and_the_one_before_is_previous) {
  Store store;
  ASSERT_TRUE(store.create_secret("s", "one"));
  sm::PutSecretValueRequest put;
  put.secret_id = "s";
  put.secret_string = "two";
  put.client_request_token = "0123456789abcdef0123456789abcdef";
  const auto stored =
      store.call<sm::PutSecretValueResponse>(api::secretsmanager_service(), "PutSecretValue", put);
  ASSERT_TRUE(stored);
  EXPECT_EQ(store.secret("s"), "two");
  EXPECT_EQ(store.secret("s", std::nullopt, "AWSPREVIOUS"), "one");
  const auto again =
      store.call<sm::PutSecretValueResponse>(api::secretsmanager_service(), "PutSecretValue", put);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->version_id, stored->version_id);
  EXPECT_EQ(store.secret("s", std::nullopt, "AWSPREVIOUS"), "one");
  put.secret_string = "three";
  EXPECT_EQ(
      store.call<sm::PutSecretValueResponse>(api::secretsmanager_service(), "PutSecretValue", put)
          .error()
          .code,
      "ResourceExistsException");
}

TEST(Secrets, a_deleted_one_can_be_restored_until_its_window_has_passed) {
  Store store;
  ASSERT_TRUE(store.create_secret("s", "one"));
  sm::DeleteSecretRequest remove;
  remove.secret_id = "s";
  remove.recovery_window_in_days = 7;
  ASSERT_TRUE(
      store.call<sm::DeleteSecretResponse>(api::secretsmanager_service(), "DeleteSecret", remove));
  EXPECT_EQ(store.secret("s").error().code, "InvalidRequestException");
  sm::RestoreSecretRequest restore;
  restore.secret_id = "s";
  ASSERT_TRUE(store.call<sm::RestoreSecretResponse>(api::secretsmanager_service(), "RestoreSecret",
                                                    restore));
  EXPECT_EQ(store.secret("s"), "one");
  ASSERT_TRUE(
      store.call<sm::DeleteSecretResponse>(api::secretsmanager_service(), "DeleteSecret", remove));
  ASSERT_TRUE(store.service->sweep(noon + std::chrono::hours(24 * 8)));
  EXPECT_EQ(store.secret("s").error().code, "ResourceNotFoundException");
}

TEST(Secrets, a_tasks_key_reads_those_that_its_definition_names) {
  Store store;
  const std::string arn = store.create_secret("named", "one").value();
  ASSERT_TRUE(store.create_secret("other", "two"));
  const Reach reach = std::vector<std::string>{arn};
  EXPECT_EQ(store.secret("named", reach), "one");
  EXPECT_EQ(store.secret(arn, reach), "one");
  EXPECT_EQ(store.secret("other", reach).error().code, "AccessDeniedException");
  EXPECT_EQ(store.secret("none", reach).error().code, "AccessDeniedException");
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory); }
  void TearDown() override { std::filesystem::remove_all(directory); }

  std::string bytes() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      std::ifstream file(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return all;
  }

  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("berth-secrets-" + std::to_string(::getpid()));
  const std::string path = (directory / "secrets.db").string();
};

TEST_F(Files, no_value_stands_in_the_file_and_another_key_opens_none) {
  {
    Store store{.service = Service::open(path, key, {"us-east-1", "1"}).value()};
    ASSERT_TRUE(store.put("p", "correct horse battery staple"));
    ASSERT_TRUE(store.create_secret("s", "correct horse battery staple"));
  }
  EXPECT_EQ(bytes().find("correct horse"), std::string::npos);
  Store again{.service = Service::open(path, key, {"us-east-1", "1"}).value()};
  EXPECT_EQ(again.get("p"), "correct horse battery staple");
  Store other{.service = Service::open(path, std::string(32, 'x'), {"us-east-1", "1"}).value()};
  const auto refused = other.get("p");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("secrets.key"), std::string::npos);
}

TEST(Vault, a_key_of_another_length_is_refused) {
  EXPECT_EQ(Service::open(":memory:", "short", {"us-east-1", "1"}).error().code, "InvalidKey");
}

}  // namespace
}  // namespace secrets
