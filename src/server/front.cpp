#include "server/front.h"

#include <algorithm>

#include "api/json.h"
#include "api/query.h"
#include "auth/claim.h"
#include "base/format.h"
#include "control/operations.h"
#include "json/text.h"

namespace server {
namespace {

constexpr size_t other_body_limit = size_t{1} << 20;  // Of the query protocols.
constexpr size_t unsigned_body_limit = size_t{4} << 10;

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

base::Result<const api::Operation*> operation_named(const api::Service& service,
                                                    std::string_view name) {
  const api::Operation* const operation = api::find(service, name);
  if (operation == nullptr) {
    return base::fail(
        service.protocol == api::Protocol::Json11 ? "UnknownOperationException" : "InvalidAction",
        base::format("The service {} has no operation {} here.", service.name, name));
  }
  return operation;
}

// Before the body is looked at: who calls what is not there wants to know just that.
base::Result<Call> call_of(const api::Service& service, std::string_view name) {
  Call call;
  call.service = &service;
  call.operation = TRY(operation_named(service, name));
  const ServiceRow* const row = find_service(service.name);
  call.action = control::find_action(service.name, call.operation->name);
  const auto destination =
      row == nullptr ? std::nullopt : row->destination(*call.operation, call.action);
  if (!destination) return base::fail(control::not_offered(service.name, call.operation->name));
  call.destination = *destination;
  call.input = api::Any::create(*call.operation->input);
  return call;
}

base::Result<Call> read_json(const net::HttpRequest& request, const api::Service& service) {
  const std::string* const target = net::find_header(request.headers, "X-Amz-Target");
  if (target == nullptr) {
    return base::fail("MissingActionException",
                      base::format("The header X-Amz-Target is missing; for {} it is \"{}.\" and "
                                   "the operation's name.",
                                   service.name, service.target_prefix));
  }
  const size_t dot = target->rfind('.');
  if (dot == std::string::npos ||
      std::string_view(*target).substr(0, dot) != service.target_prefix) {
    return base::fail(
        "UnknownOperationException",
        base::format("X-Amz-Target is \"{}\"; for {} it is \"{}.\" and the operation's name.",
                     *target, service.name, service.target_prefix));
  }
  Call call = TRY(call_of(service, std::string_view(*target).substr(dot + 1)));
  const std::string_view body = request.body.empty() ? std::string_view("{}") : request.body;
  TRY_VOID(api::parse_into(body, call.input.shape(), call.input.data()));
  return call;
}

base::Result<Call> read_query(const net::HttpRequest& request, const api::Service& service) {
  const bool in_body = !request.body.empty();
  const api::QueryRequest query = TRY(
      api::parse_query(in_body ? std::string_view(request.body) : api::query_of(request.target)));
  if (query.action.empty()) {
    return base::fail("MissingAction", "The request names no Action.");
  }
  Call call = TRY(call_of(service, query.action));
  const bool ec2 = service.protocol == api::Protocol::Ec2Query;
  const api::ParseOptions options{
      .serialization_code = ec2 ? "InvalidParameterValue" : "MalformedInput",
      .validation_code = ec2 ? "InvalidParameterValue" : "ValidationError"};
  TRY_VOID(
      api::parse_into(query, call.input.shape(), call.input.data(), options, service.protocol));
  return call;
}

// As SigV4 sees it. It refers to the request.
auth::Request signed_part_of(const net::HttpRequest& request) {
  auth::Request signed_part{.method = request.method,
                            .path = path_of(request.target),
                            .query = api::query_of(request.target),
                            .headers = {},
                            .body = request.body};
  signed_part.headers.reserve(request.headers.size());
  for (const net::Header& header : request.headers) {
    signed_part.headers.emplace_back(header.name, header.value);
  }
  return signed_part;
}

// The one operation whose callers have no key yet: a token of its own is their proof.
bool joins(const net::HttpRequest& request) {
  return net::header_or_empty(request.headers, "X-Amz-Target") ==
         base::format("{}.JoinCluster", api::berth_service().target_prefix);
}

void note_for_audit(Call& call, const net::HttpRequest& request, base::Time now) {
  call.remote_address = request.remote_address;
  call.received = now;
  const bool by_agent = std::holds_alternative<auth::AgentAccess>(call.caller.access);
  call.audited = is_audited(*call.service, *call.operation, call.input, by_agent);
  // What is not audited and is not refused is never told of: no full key is refused.
  if (call.audited || !std::holds_alternative<auth::FullAccess>(call.caller.access)) {
    call.parameters = named_members(call.input);
  }
}

bool is_server_fault(const api::Service* service, std::string_view code) {
  if (code == "ServiceUnavailableException" || code == "InternalFailure") return true;
  const api::ErrorType* const type = service == nullptr ? nullptr : api::find_error(*service, code);
  return type != nullptr && type->server_fault;
}

int status_of(const api::Service* service, Wire wire, std::string_view code) {
  if (is_server_fault(service, code)) return code == "ServiceUnavailableException" ? 503 : 500;
  // Source: AWS General Reference, "Common errors": the query protocol answers 403 to a request
  // that is not properly signed.
  static constexpr std::array<std::string_view, 6> unsigned_codes{
      "MissingAuthenticationTokenException", "IncompleteSignatureException",
      "UnrecognizedClientException",         "ExpiredTokenException",
      "InvalidSignatureException",           "AccessDeniedException"};
  const bool is_unsigned = std::ranges::find(unsigned_codes, code) != unsigned_codes.end();
  return wire == Wire::Query && is_unsigned ? 403 : 400;
}

}  // namespace

Wire wire_of(const net::HttpRequest& request) {
  if (net::find_header(request.headers, "X-Amz-Target") != nullptr) return Wire::Json;
  const std::string_view type = net::header_or_empty(request.headers, "Content-Type");
  if (type.starts_with("application/x-www-form-urlencoded")) return Wire::Query;
  return api::query_of(request.target).contains("Action=") ? Wire::Query : Wire::Json;
}

const api::Service* addressed_service(const net::HttpRequest& request) {
  // Credential=<key>/<date>/<region>/<service>/aws4_request, in the header or in the target.
  std::string_view scope = net::header_or_empty(request.headers, "Authorization");
  const size_t credential = scope.find("Credential=");
  const std::string presigned = api::query_parameter(request.target, "X-Amz-Credential");
  scope =
      credential == std::string_view::npos ? std::string_view(presigned) : scope.substr(credential);
  for (int part = 0; part < 3; ++part) {
    const size_t slash = scope.find('/');
    if (slash == std::string_view::npos) return nullptr;
    scope.remove_prefix(slash + 1);
  }
  const ServiceRow* const row = find_service(scope.substr(0, scope.find('/')));
  return row == nullptr ? nullptr : &row->service();
}

AuditedCall claimed_call(const net::HttpRequest& request, std::string request_id, base::Time now) {
  const api::Service* const service = addressed_service(request);
  const std::string_view target = net::header_or_empty(request.headers, "X-Amz-Target");
  const auto claim = auth::parse_claim(signed_part_of(request));
  return {.time = now,
          .request_id = std::move(request_id),
          .caller = {},
          .claimed_key = claim ? claimed_key_id(claim->access_key_id()) : std::string(),
          .remote_address = request.remote_address,
          .service = service == nullptr ? std::string() : std::string(service->name),
          .operation = auth::shown(target.substr(target.rfind('.') + 1)),
          .parameters = {}};
}

AuditedCall audited_call(const Call& call, std::string request_id) {
  return {.time = call.received,
          .request_id = std::move(request_id),
          .caller = call.caller,
          .claimed_key = {},
          .remote_address = call.remote_address,
          .service = std::string(call.service->name),
          .operation = std::string(call.operation->name),
          .parameters = call.parameters};
}

base::Result<std::string> read_claimed_key(const net::HttpRequest& head,
                                           const auth::Verifier& verifier,
                                           const auth::KeyRing& keys, base::Time now) {
  return verifier.check_head(signed_part_of(head), keys, now);
}

base::Result<SignedUpgrade> read_upgrade(const net::HttpRequest& request, auth::Verifier& verifier,
                                         const auth::KeyRing& keys, base::Time now) {
  const auth::Request signed_part = signed_part_of(request);
  auth::Claim claim = TRY(auth::parse_claim(signed_part));
  if (claim.form != auth::SignatureForm::Header) {
    return base::fail("InvalidSignatureException",
                      "A websocket is opened with an Authorization header, not with a signed URL.");
  }
  return SignedUpgrade{.caller = TRY(verifier.verify(signed_part, keys, now)),
                       .signature = std::move(claim.signature),
                       .signed_at = claim.time,
                       .good_until = claim.time + auth::tolerance};
}

base::Result<Call> read_call(const net::HttpRequest& request, auth::Verifier& verifier,
                             const auth::KeyRing& keys, base::Time now) {
  if (joins(request)) {
    Call call = TRY(read_json(request, api::berth_service()));
    call.caller = {.access_key_id = {},
                   .arn = "anonymous",
                   .account = {},
                   .user_id = {},
                   .service = std::string(api::berth_service().name),
                   .access = auth::NoAccess{}};
    note_for_audit(call, request, now);
    return call;
  }
  auth::Caller caller = TRY(verifier.verify(signed_part_of(request), keys, now));
  const ServiceRow* const row = find_service(caller.service);
  CHECK(row != nullptr);  // The verifier takes no other scope.
  const api::Service& service = row->service();
  Call call = service.protocol == api::Protocol::Json11 ? TRY(read_json(request, service))
                                                        : TRY(read_query(request, service));
  call.caller = std::move(caller);
  note_for_audit(call, request, now);
  return call;
}

net::HttpResponse write_answer(const Call& call, Wire wire, const api::Any& answer,
                               std::string_view request_id) {
  net::HttpResponse response;
  response.headers.push_back({"x-amzn-RequestId", std::string(request_id)});
  if (wire == Wire::Query) {
    response.headers.push_back({"Content-Type", "text/xml"});
    response.body = api::print_query_response(*call.service, call.operation->name, answer.shape(),
                                              answer.data(), request_id);
    return response;
  }
  response.headers.push_back({"Content-Type", "application/x-amz-json-1.1"});
  api::print_to(response.body, answer.shape(), answer.data());
  return response;
}

net::HttpResponse write_error(const api::Service* service, Wire wire, const base::Error& error,
                              std::string_view request_id) {
  net::HttpResponse response;
  response.status = status_of(service, wire, error.code);
  response.headers.push_back({"x-amzn-RequestId", std::string(request_id)});
  if (wire == Wire::Query) {
    response.headers.push_back({"Content-Type", "text/xml"});
    const base::Error translated{std::string(auth::query_protocol_code(error.code)), error.message};
    response.body = api::print_query_error(service == nullptr ? api::sts_service() : *service,
                                           translated, request_id);
    return response;
  }
  response.headers.push_back({"Content-Type", "application/x-amz-json-1.1"});
  response.headers.push_back({"x-amzn-errortype", error.code});
  response.body = "{\"__type\":";
  json::append_string(response.body, error.code);
  response.body += ",\"message\":";
  json::append_string(response.body, error.message);
  response.body += "}";
  return response;
}

size_t body_limit(const net::HttpRequest& head) {
  if (joins(head)) return unsigned_body_limit;
  const ServiceRow* const row =
      find_service_of_target(net::header_or_empty(head.headers, "X-Amz-Target"));
  return row == nullptr ? other_body_limit : row->body_limit;
}

std::string text_member(const api::Any& value, std::string_view name) {
  const api::Member* const member = api::find_member(value.shape(), name);
  if (member == nullptr || member->shape->kind != api::Kind::String) return {};
  const void* const found = api::member_value(*member, value.data());
  return found == nullptr ? std::string() : std::string(member->shape->string->get(found));
}

}  // namespace server
