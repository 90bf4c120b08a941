#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "secrets/operations.h"

namespace secrets {
namespace {

namespace wire = api::secretsmanager;

constexpr std::string_view current_stage = "AWSCURRENT";
constexpr std::string_view previous_stage = "AWSPREVIOUS";
constexpr size_t suffix_length = 7;  // "-AbCdEf" behind the name in an ARN.
constexpr size_t most_secret_versions = 100;

std::unexpected<base::Error> invalid_parameter(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

std::unexpected<base::Error> secret_not_found() {
  return base::fail("ResourceNotFoundException",
                    "Secrets Manager can't find the specified secret.");
}

base::Result<void> check_secret_name(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) { return base::is_plain(c, "/_+=.@-"); });
  if (!name.empty() && plain) return {};
  return base::fail("ValidationException",
                    "Invalid name. Must be a valid name containing alphanumeric characters, or any "
                    "of the following: -/_+=.@!");
}

// What stands behind "secret:" in an ARN, up to a JSON key; the text itself when it is a name.
std::string resource_of(std::string_view id) {
  const size_t mark = id.find(":secret:");
  if (!id.starts_with("arn:") || mark == std::string_view::npos) return std::string(id);
  const std::string_view rest = id.substr(mark + std::string_view(":secret:").size());
  return std::string(rest.substr(0, rest.find(':')));
}

// By name, by whole ARN, or by an ARN without its last six characters.
base::Result<std::optional<Item>> find_secret(Context& context, std::string_view id) {
  const std::string resource = resource_of(id);
  auto found = TRY(context.vault.find(Kind::Secret, resource));
  if (found || !id.starts_with("arn:") || resource.size() <= suffix_length) return found;
  auto by_arn =
      TRY(context.vault.find(Kind::Secret, resource.substr(0, resource.size() - suffix_length)));
  if (by_arn && !by_arn->arn.ends_with(":secret:" + resource)) by_arn.reset();
  return by_arn;
}

base::Result<bool> may_read_secret(Context& context, const Item& item) {
  if (!context.reach) return true;
  for (const std::string& allowed : *context.reach) {
    const auto named = TRY(find_secret(context, allowed));
    if (named && named->name == item.name) return true;
  }
  return false;
}

// A secret that is not to be deleted. Errors: ResourceNotFoundException, InvalidRequestException.
base::Result<Item> require_secret(Context& context, const std::optional<std::string>& id) {
  auto item = TRY(find_secret(context, id.value_or("")));
  if (!item) return secret_not_found();
  if (item->deleted_at) {
    return base::fail("InvalidRequestException",
                      "You can't perform this operation on the secret because it was marked for "
                      "deletion. RestoreSecret takes the mark away.");
  }
  return std::move(*item);
}

std::string random_id() {
  std::string digits = crypto::to_hex(crypto::random_bytes(16));
  for (const size_t dash : {20U, 16U, 12U, 8U}) digits.insert(dash, "-");
  return digits;
}

struct Value {
  std::string bytes;
  bool binary = false;
};

// nullopt: none was given.
template <class Request>
base::Result<std::optional<Value>> value_of(const Request& request) {
  if (request.secret_string && request.secret_binary) {
    return invalid_parameter(
        "You can't specify both a binary secret value and a string secret value in the "
        "same secret.");
  }
  if (request.secret_string) return std::optional(Value{*request.secret_string, false});
  if (request.secret_binary) return std::optional(Value{request.secret_binary->bytes, true});
  return std::optional<Value>();
}

Version* staged(Item& item, std::string_view stage) {
  for (Version& version : item.versions) {
    if (std::ranges::find(version.stages, stage) != version.stages.end()) return &version;
  }
  return nullptr;
}

void take_stage(Item& item, std::string_view stage) {
  for (Version& version : item.versions) std::erase(version.stages, stage);
}

// Versions without a stage are forgotten, the newest ones excepted.
void forget_old(Item& item) {
  while (item.versions.size() > most_secret_versions) {
    const auto old =
        std::ranges::find_if(item.versions, [](const Version& one) { return one.stages.empty(); });
    if (old == item.versions.end()) return;
    item.versions.erase(old);
  }
}

// The new version takes the stages from those that have them; what was current becomes previous.
base::Result<std::string> add_value(Context& context, Item& item, const Value& value,
                                    const std::optional<std::string>& token,
                                    std::vector<std::string> stages) {
  const std::string id = token.value_or(random_id());
  const auto known = std::ranges::find(item.versions, id, &Version::id);
  if (known != item.versions.end()) {
    // The same call again.
    if (TRY(context.vault.open_value(Kind::Secret, item, *known)) == value.bytes) return id;
    return base::fail("ResourceExistsException",
                      "You can't use ClientRequestToken " + id +
                          " because that value is already in use for a version of secret " +
                          item.arn + ".");
  }
  if (stages.empty()) stages.emplace_back(current_stage);
  TRY_VOID(context.vault.add_version(Kind::Secret, item, id, value.bytes, context.now));
  Version* const before = staged(item, current_stage);
  const int64_t before_number = before == nullptr ? 0 : before->number;
  for (const std::string& stage : stages) take_stage(item, stage);
  if (std::ranges::find(stages, current_stage) != stages.end() && before_number > 0) {
    take_stage(item, previous_stage);
    std::ranges::find(item.versions, before_number, &Version::number)
        ->stages.emplace_back(previous_stage);
  }
  item.versions.back().stages = std::move(stages);
  item.versions.back().binary = value.binary;
  item.changed_at = context.now;
  forget_old(item);
  return id;
}

}  // namespace

Answer<wire::CreateSecretResponse> create_secret(Context& context,
                                                 const wire::CreateSecretRequest& request) {
  const std::string name = request.name.value_or("");
  TRY_VOID(check_secret_name(name));
  if (!request.add_replica_regions.empty()) {
    return invalid_parameter(
        "AddReplicaRegions is not offered by this version of Berth: leave it out.");
  }
  const auto value = TRY(value_of(request));
  auto before = TRY(context.vault.find(Kind::Secret, name));
  const bool again = before && !before->deleted_at && value && request.client_request_token &&
                     std::ranges::find(before->versions, *request.client_request_token,
                                       &Version::id) != before->versions.end();
  if (before && !again) {
    return before->deleted_at
               ? base::fail("InvalidRequestException",
                            "You can't create this secret because a secret with this name is "
                            "already scheduled for deletion.")
               : base::fail("ResourceExistsException",
                            "The operation failed because the secret " + name + " already exists.");
  }
  Item item;
  if (again) {
    item = std::move(*before);
  } else {
    item.name = name;
    item.arn = base::format("arn:aws:secretsmanager:{}:{}:secret:{}-{}", context.owner.region,
                            context.owner.account, name, random_id().substr(0, suffix_length - 1));
    item.created_at = context.now;
    item.changed_at = context.now;
    item.description = request.description.value_or("");
    item.key_id = request.kms_key_id.value_or("");
    for (const auto& tag : request.tags) item.tags[tag.key.value_or("")] = tag.value.value_or("");
  }
  wire::CreateSecretResponse response;
  if (value) {
    response.version_id = TRY(add_value(context, item, *value, request.client_request_token, {}));
  }
  TRY_VOID(context.vault.put(Kind::Secret, item));
  response.arn = item.arn;
  response.name = item.name;
  return response;
}

Answer<wire::PutSecretValueResponse> put_secret_value(Context& context,
                                                      const wire::PutSecretValueRequest& request) {
  Item item = TRY(require_secret(context, request.secret_id));
  const auto value = TRY(value_of(request));
  if (!value) return invalid_parameter("You must provide either SecretString or SecretBinary.");
  wire::PutSecretValueResponse response;
  response.version_id =
      TRY(add_value(context, item, *value, request.client_request_token,
                    {request.version_stages.begin(), request.version_stages.end()}));
  TRY_VOID(context.vault.put(Kind::Secret, item));
  response.arn = item.arn;
  response.name = item.name;
  const auto made = std::ranges::find(item.versions, *response.version_id, &Version::id);
  for (const std::string& stage : made->stages) response.version_stages.push_back(stage);
  return response;
}

Answer<wire::UpdateSecretResponse> update_secret(Context& context,
                                                 const wire::UpdateSecretRequest& request) {
  Item item = TRY(require_secret(context, request.secret_id));
  const auto value = TRY(value_of(request));
  if (request.description) item.description = *request.description;
  if (request.kms_key_id) item.key_id = *request.kms_key_id;
  wire::UpdateSecretResponse response;
  if (value) {
    response.version_id = TRY(add_value(context, item, *value, request.client_request_token, {}));
  }
  item.changed_at = context.now;
  TRY_VOID(context.vault.put(Kind::Secret, item));
  response.arn = item.arn;
  response.name = item.name;
  return response;
}

Answer<wire::GetSecretValueResponse> get_secret_value(Context& context,
                                                      const wire::GetSecretValueRequest& request) {
  auto found = TRY(find_secret(context, request.secret_id.value_or("")));
  if (context.reach && (!found || !TRY(may_read_secret(context, *found)))) {
    return base::fail("AccessDeniedException",
                      base::format("The task's role may not read the secret {}: its task's "
                                   "definition names no such secret.",
                                   request.secret_id.value_or("")));
  }
  const Item item = TRY(require_secret(context, request.secret_id));
  const std::string stage =
      request.version_stage.value_or(request.version_id ? "" : std::string(current_stage));
  const auto version = std::ranges::find_if(item.versions, [&](const Version& one) {
    const bool has_stage =
        stage.empty() || std::ranges::find(one.stages, stage) != one.stages.end();
    return has_stage && (!request.version_id || one.id == *request.version_id);
  });
  if (version == item.versions.end()) {
    return base::fail("ResourceNotFoundException",
                      base::format("Secrets Manager can't find the specified secret value for {}.",
                                   request.version_id ? "VersionId: " + *request.version_id
                                                      : "staging label: " + stage));
  }
  std::string value = TRY(context.vault.open_value(Kind::Secret, item, *version));
  wire::GetSecretValueResponse response;
  response.arn = item.arn;
  response.name = item.name;
  response.version_id = version->id;
  response.created_date = version->created_at;
  for (const std::string& one : version->stages) response.version_stages.push_back(one);
  if (version->binary) {
    response.secret_binary = api::Blob{std::move(value)};
  } else {
    response.secret_string = std::move(value);
  }
  return response;
}

Answer<wire::DescribeSecretResponse> describe_secret(Context& context,
                                                     const wire::DescribeSecretRequest& request) {
  const auto item = TRY(find_secret(context, request.secret_id.value_or("")));
  if (!item) return secret_not_found();
  wire::DescribeSecretResponse response;
  response.arn = item->arn;
  response.name = item->name;
  if (!item->description.empty()) response.description = item->description;
  if (!item->key_id.empty()) response.kms_key_id = item->key_id;
  response.created_date = item->created_at;
  response.last_changed_date = item->changed_at;
  response.deleted_date = item->deleted_at;
  for (const auto& [key, value] : item->tags) {
    wire::Tag& tag = response.tags.emplace_back();
    tag.key = key;
    tag.value = value;
  }
  for (const Version& version : item->versions) {
    if (version.stages.empty()) continue;
    auto& stages = response.version_ids_to_stages[version.id];
    for (const std::string& stage : version.stages) stages.push_back(stage);
  }
  return response;
}

Answer<wire::ListSecretsResponse> list_secrets(Context& context,
                                               const wire::ListSecretsRequest& request) {
  std::vector<std::string> prefixes;
  for (const auto& filter : request.filters) {
    if (filter.key != wire::FilterNameStringType::Name) {
      return invalid_parameter("The filter key is not offered by this version of Berth: use name.");
    }
    prefixes.insert(prefixes.end(), filter.values.begin(), filter.values.end());
  }
  const auto wanted = [&](const Item& item) {
    if (item.deleted_at && !request.include_planned_deletion.value_or(false)) return false;
    return prefixes.empty() || std::ranges::any_of(prefixes, [&](const std::string& prefix) {
             return item.name.starts_with(prefix);
           });
  };
  const auto most = static_cast<size_t>(request.max_results.value_or(100));
  wire::ListSecretsResponse response;
  response.secret_list.set_present();
  std::string after = request.next_token.value_or("");
  while (true) {
    const auto items = TRY(context.vault.list(Kind::Secret, {}, after, 100));
    for (const Item& item : items) {
      if (!wanted(item)) continue;
      if (response.secret_list.size() == most) {
        response.next_token = after;
        return response;
      }
      wire::SecretListEntry& entry = response.secret_list.emplace_back();
      entry.arn = item.arn;
      entry.name = item.name;
      if (!item.description.empty()) entry.description = item.description;
      entry.created_date = item.created_at;
      entry.last_changed_date = item.changed_at;
      entry.deleted_date = item.deleted_at;
      after = item.name;
    }
    if (items.size() < 100) return response;
    after = items.back().name;
  }
}

Answer<wire::DeleteSecretResponse> delete_secret(Context& context,
                                                 const wire::DeleteSecretRequest& request) {
  const bool at_once = request.force_delete_without_recovery.value_or(false);
  const int64_t days = request.recovery_window_in_days.value_or(30);
  if (at_once && request.recovery_window_in_days) {
    return invalid_parameter(
        "You can't use ForceDeleteWithoutRecovery in conjunction with "
        "RecoveryWindowInDays.");
  }
  if (days < 7 || days > 30) {
    return invalid_parameter(
        "The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).");
  }
  auto item = TRY(find_secret(context, request.secret_id.value_or("")));
  if (!item) return secret_not_found();
  const base::Time when = at_once ? context.now : context.now + std::chrono::hours(24 * days);
  if (at_once) {
    TRY_VOID(context.vault.remove(Kind::Secret, item->name));
  } else {
    item->deleted_at = when;
    TRY_VOID(context.vault.put(Kind::Secret, *item));
  }
  wire::DeleteSecretResponse response;
  response.arn = item->arn;
  response.name = item->name;
  response.deletion_date = when;
  return response;
}

Answer<wire::RestoreSecretResponse> restore_secret(Context& context,
                                                   const wire::RestoreSecretRequest& request) {
  auto item = TRY(find_secret(context, request.secret_id.value_or("")));
  if (!item) return secret_not_found();
  item->deleted_at.reset();
  TRY_VOID(context.vault.put(Kind::Secret, *item));
  wire::RestoreSecretResponse response;
  response.arn = item->arn;
  response.name = item->name;
  return response;
}

}  // namespace secrets
