// From an HTTP request's bytes to a typed, verified call, and from an answer to bytes. No state
// but a counter; any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/any.h"
#include "api/service.h"
#include "auth/key_ring.h"
#include "auth/verifier.h"
#include "base/result.h"
#include "base/time.h"
#include "control/step/action.h"
#include "net/http.h"
#include "server/audit_entry.h"
#include "server/service_table.h"

namespace server {

// How the caller wants its answer: AWS JSON 1.1, or the XML of its service's query protocol.
enum class Wire : uint8_t { Json, Query };

struct Call {
  const api::Service* service = nullptr;
  const api::Operation* operation = nullptr;
  Destination destination = Destination::Core;
  const control::Action* action = nullptr;  // Where the core answers.
  api::Any input;
  auth::Caller caller;
  std::string remote_address;  // "10.0.0.7:41234".
  // For the audit log, noted before the input goes on its way (audit_entry.h).
  base::Time received;
  bool audited = false;
  std::string parameters;
};

// The protocol that a request speaks, known before anything else of it is.
Wire wire_of(const net::HttpRequest& request);

// What a request says of itself that was refused: nothing of it is proved.
AuditedCall claimed_call(const net::HttpRequest& request, std::string request_id, base::Time now);
// A call whose caller is known.
AuditedCall audited_call(const Call& call, std::string request_id);

// The service that a request says it is for, its signature not looked at: its errors have that
// service's shape. nullptr where it names none of ours.
const api::Service* addressed_service(const net::HttpRequest& request);

// Source: AWS IAM User Guide, "Signature Version 4"; Smithy 2.0, "AWS JSON 1.1", "AWS Query",
// "AWS EC2 query".
// JoinCluster of Berth's own service is the one call that needs no signature.
// Errors: SigV4's own, UnknownOperationException, SerializationException and what validation says.
base::Result<Call> read_call(const net::HttpRequest& request, auth::Verifier& verifier,
                             const auth::KeyRing& keys, base::Time now);

// The opening of a websocket by a verified caller, and the signature that it was opened with.
struct SignedUpgrade {
  auth::Caller caller;
  std::string signature;
  base::Time signed_at;
  base::Time good_until;  // The signature.
};
// Signed in its head, not in its URL: what such a one opens is not for whoever has a link.
// Errors: SigV4's own.
base::Result<SignedUpgrade> read_upgrade(const net::HttpRequest& request, auth::Verifier& verifier,
                                         const auth::KeyRing& keys, base::Time now);

// Whose the request says it is, before its body is there: the access key's id. Nothing is proved by
// it. Errors: those of the signature that a head alone shows.
base::Result<std::string> read_claimed_key(const net::HttpRequest& head,
                                           const auth::Verifier& verifier,
                                           const auth::KeyRing& keys, base::Time now);

net::HttpResponse write_answer(const Call& call, Wire wire, const api::Any& answer,
                               std::string_view request_id);
// HTTP 400, or 500 and 503 where the fault is ours.
net::HttpResponse write_error(const api::Service* service, Wire wire, const base::Error& error,
                              std::string_view request_id);

// The bytes that the request's body may have, by its service.
size_t body_limit(const net::HttpRequest& head);

// A text that is a member of the structure; empty when there is none.
std::string text_member(const api::Any& value, std::string_view name);

}  // namespace server
