#include "server/audit_entry.h"

#include <algorithm>
#include <array>
#include <span>

#include "json/text.h"

namespace server {
namespace {

constexpr size_t longest_text = 512;
constexpr size_t longest_list = 10;

// Sorted. The names are AWS's own; whatever holds a value, a command, an environment or a token is
// not among them.
constexpr std::array<std::string_view, 80> shown_members = {
    "AutoScalingGroupName",
    "DefaultVersion",
    "DesiredCapacity",
    "ForceDelete",
    "ForceDeleteWithoutRecovery",
    "ImageId",
    "InstanceId",
    "InstanceIds",
    "InstanceType",
    "KeyId",
    "LaunchConfigurationName",
    "LaunchTemplateId",
    "LaunchTemplateName",
    "MaxSize",
    "MinSize",
    "Name",
    "Names",
    "Overwrite",
    "ProtectedFromScaleIn",
    "RecoveryWindowInDays",
    "Resources",
    "SecretId",
    "SessionId",
    "ShouldDecrementDesiredCapacity",
    "SourceVersion",
    "Versions",
    "WithDecryption",
    "action",
    "berthClearGpuIds",
    "capacityProvider",
    "capacityProviders",
    "cluster",
    "clusterName",
    "container",
    "containerInstance",
    "containerInstanceArn",
    "containerInstances",
    "count",
    "deletionProtectionEnabled",
    "desiredCount",
    "enableExecuteCommand",
    "executionRoleArn",
    "expiresInMinutes",
    "family",
    "force",
    "forceNewDeployment",
    "group",
    "hookId",
    "id",
    "interactive",
    "ipcMode",
    "launchType",
    "logGroupIdentifier",
    "logGroupName",
    "logStreamName",
    "name",
    "networkMode",
    "pidMode",
    "primaryTaskSet",
    "principalArn",
    "protectionEnabled",
    "reason",
    "resourceArn",
    "retentionInDays",
    "schedulingStrategy",
    "service",
    "serviceDeploymentArn",
    "serviceName",
    "startedBy",
    "status",
    "stopType",
    "tagKeys",
    "task",
    "taskDefinition",
    "taskDefinitions",
    "taskRoleArn",
    "taskSet",
    "tasks",
    "ttlSeconds",
    "uses",
};
static_assert(std::ranges::is_sorted(shown_members));

// What only reads begins so.
constexpr std::array<std::string_view, 6> reading_prefixes = {
    "Describe", "Discover", "Filter", "Get", "List", "Decode",
};
// What agents do by themselves, all the time.
constexpr std::array<std::string_view, 4> routine = {
    "PutLogEvents",
    "SubmitAttachmentStateChanges",
    "SubmitContainerStateChange",
    "SubmitTaskStateChange",
};
constexpr std::array<std::string_view, 2> routine_of_agents = {"CreateLogGroup", "CreateLogStream"};

constexpr std::array<std::string_view, 7> refusal_codes = {
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
};

bool is_flagged(const api::Any& value, std::string_view name) {
  const api::Member* const member = api::find_member(value.shape(), name);
  if (member == nullptr || member->shape->kind != api::Kind::Boolean) return false;
  const void* const found = api::member_value(*member, value.data());
  return found != nullptr && *static_cast<const bool*>(found);
}

void append_cut(std::string& out, std::string_view text) {
  // A join token in place of its id, which stands before its secret (auth/key_derivation.h).
  if (text.starts_with("berth-join.")) text = text.substr(0, text.rfind('.'));
  if (text.size() > longest_text) {
    size_t end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  json::append_string(out, text);
}

// An object that grows by its members, "{}" at first.
class JsonObject {
 public:
  std::string& member(std::string_view name) {
    if (text_.size() > 1) text_ += ',';
    json::append_string(text_, name);
    text_ += ':';
    return text_;
  }
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) append_cut(member(name), value);
  }
  void number(std::string_view name, uint64_t value) {
    if (value > 0) json::append_integer(member(name), value);
  }
  void raw(std::string_view name, std::string_view value) {
    if (value.size() > 2) member(name) += value;  // More than "{}".
  }
  std::string end() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

std::string_view text_at(const api::Shape& shape, const void* value) {
  return shape.kind == api::Kind::String ? shape.string->get(value) : std::string_view();
}

const void* element_at(const api::Shape& list, const void* value, size_t index) {
  return static_cast<const char*>(list.list->data(value)) + index * list.element->size;
}

// Nothing of a kind that is no text, number, choice or list of texts.
void append_member(JsonObject& out, const api::Member& member, const void* value) {
  const api::Shape& shape = *member.shape;
  switch (shape.kind) {
    case api::Kind::String:
      return out.text(member.name, shape.string->get(value));
    case api::Kind::Boolean:
      out.member(member.name) += *static_cast<const bool*>(value) ? "true" : "false";
      return;
    case api::Kind::Integer:
    case api::Kind::Long:
      return json::append_integer(out.member(member.name), api::load_integer(shape, value));
    case api::Kind::Enum:
      return out.text(member.name, api::enum_name(shape, api::load_integer(shape, value)));
    case api::Kind::List: {
      if (shape.element->kind != api::Kind::String || shape.list->size(value) == 0) return;
      const size_t size = shape.list->size(value);
      std::string& text = out.member(member.name);
      text += '[';
      for (size_t index = 0; index < std::min(size, longest_list); ++index) {
        if (index > 0) text += ',';
        append_cut(text, text_at(*shape.element, element_at(shape, value, index)));
      }
      text += ']';
      if (size > longest_list) out.number(std::string(member.name) + "Count", size);
      return;
    }
    default:
      return;
  }
}

// The text member of that name; empty: none.
std::string_view text_of(const api::Shape& structure, const void* value, std::string_view name) {
  const api::Member* const member = api::find_member(structure, name);
  if (member == nullptr) return {};
  const void* const found = api::member_value(*member, value);
  return found == nullptr ? std::string_view() : text_at(*member->shape, found);
}

// Of "tasks": how many, and the first ones' taskArn.
void append_made(JsonObject& out, const api::Member& member, const void* list) {
  const api::Shape& shape = *member.shape;
  const size_t size = shape.list->size(list);
  if (size == 0) return;
  const std::string arn = std::string(member.name.substr(0, member.name.size() - 1)) + "Arn";
  JsonObject told;
  told.number("count", size);
  std::string arns;
  for (size_t index = 0; index < std::min(size, longest_list); ++index) {
    const std::string_view text = text_of(*shape.element, element_at(shape, list, index), arn);
    if (text.empty()) continue;
    arns += arns.empty() ? "" : ",";
    append_cut(arns, text);
  }
  if (!arns.empty()) told.member("arns") += "[" + arns + "]";
  out.raw(member.name, std::move(told).end());
}

std::string response_elements(const api::Any& answer) {
  static constexpr std::array<std::string_view, 6> shown = {
      "ARN", "LaunchTemplateId", "VersionId", "accessKeyId", "containerInstanceArn", "tokenId"};
  JsonObject out;
  if (answer.empty()) return std::move(out).end();
  for (const api::Member& member : answer.shape().members) {
    const void* const value = api::member_value(member, answer.data());
    if (value == nullptr) continue;
    const api::Shape& shape = *member.shape;
    if (shape.kind == api::Kind::String && std::ranges::find(shown, member.name) != shown.end()) {
      out.text(member.name, shape.string->get(value));
    } else if (shape.kind == api::Kind::Structure) {
      const std::string arn = std::string(member.name) + "Arn";
      out.text(arn, text_of(shape, value, arn));
    } else if (shape.kind == api::Kind::List && shape.element->kind == api::Kind::Structure) {
      append_made(out, member, value);
    }
  }
  return std::move(out).end();
}

std::string user_identity(const AuditedCall& call) {
  JsonObject out;
  if (!call.caller || std::holds_alternative<auth::NoAccess>(call.caller->access)) {
    out.text("type", "Unknown");
    out.text("claimedAccessKeyId", call.claimed_key);
    return std::move(out).end();
  }
  const auth::Caller& caller = *call.caller;
  const auto* const agent = std::get_if<auth::AgentAccess>(&caller.access);
  const auto* const task = std::get_if<auth::TaskAccess>(&caller.access);
  out.text("type", agent != nullptr ? "BerthAgent" : task != nullptr ? "AssumedRole" : "Root");
  out.text("arn", caller.arn);
  out.text("accessKeyId", caller.access_key_id);
  if (agent != nullptr) {
    out.text("cluster", agent->cluster);
    out.text("containerInstanceArn", agent->container_instance);
  }
  if (task != nullptr) out.text("taskArn", task->task);
  return std::move(out).end();
}

std::string notice_line(base::Time time, std::string_view type, std::string_view name,
                        std::string_view value) {
  JsonObject out;
  out.text("eventTime", base::format_rfc3339(time));
  out.text("eventType", type);
  out.member(name) += value;
  return std::move(out).end() + "\n";
}

}  // namespace

bool is_audited(const api::Service& service, const api::Operation& operation, const api::Any& input,
                bool by_agent) {
  const std::string_view name = operation.name;
  if (service.name == "sts") return false;
  if (name == "GetSecretValue") return true;
  if (service.name == "ssm" && name.starts_with("GetParameter")) {
    return is_flagged(input, "WithDecryption");
  }
  const auto has = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  const bool reads = std::ranges::any_of(
      reading_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (reads || has(routine) || (by_agent && has(routine_of_agents))) return false;
  return !is_flagged(input, "berthExplain");
}

bool is_refusal(const base::Error& error) {
  return std::ranges::find(refusal_codes, error.code) != refusal_codes.end();
}

std::string claimed_key_id(std::string_view text) {
  constexpr size_t longest_id = 32;  // Secrets are longer, and of small letters too.
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
  return plain && text.size() <= longest_id ? std::string(text) : std::string();
}

std::string named_members(const api::Any& input) {
  JsonObject out;
  for (const api::Member& member : input.shape().members) {
    if (!std::ranges::binary_search(shown_members, member.name)) continue;
    const void* const value = api::member_value(member, input.data());
    if (value != nullptr) append_member(out, member, value);
  }
  return std::move(out).end();
}

std::string audit_line(const AuditedCall& call, const AuditedResult& result) {
  JsonObject out;
  out.text("eventTime", base::format_rfc3339(call.time));
  out.text("eventType", "AwsApiCall");
  out.text("requestID", call.request_id);
  out.raw("userIdentity", user_identity(call));
  out.text("sourceIPAddress", host_of(call.remote_address));
  if (!call.service.empty()) out.text("eventSource", call.service + ".amazonaws.com");
  out.text("eventName", call.operation);
  out.raw("requestParameters", call.parameters);
  if (result) {
    out.raw("responseElements", response_elements(*result));
  } else {
    out.text("errorCode", result.error().code);
    // That of another error may repeat what was in the input, and that of a signature which was not
    // found good may repeat what stood in place of a key's id.
    if (is_refusal(result.error()) && call.caller) out.text("errorMessage", result.error().message);
  }
  return std::move(out).end() + "\n";
}

std::string left_out_line(base::Time time, const LeftOut& left_out) {
  JsonObject counts;
  counts.number("unknown", left_out.unknown);
  counts.number("refused", left_out.refused);
  counts.number("others", left_out.others);
  return notice_line(time, "BerthLeftOut", "leftOut", std::move(counts).end());
}

std::string not_written_line(base::Time time, uint64_t lines) {
  std::string count;
  json::append_integer(count, lines);
  return notice_line(time, "BerthNotWritten", "notWritten", count);
}

std::string_view host_of(std::string_view remote_address) {
  const size_t colon = remote_address.rfind(':');
  if (colon == std::string_view::npos) return remote_address;
  std::string_view host = remote_address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace server
