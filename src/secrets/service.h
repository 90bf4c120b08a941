// The secret store: the part of AWS Systems Manager's Parameter Store and of AWS Secrets Manager
// that task definitions, and the people who write them, use. Values are encrypted at rest and stand
// in no message and no description.
// Source: AWS Systems Manager API reference; AWS Secrets Manager API reference.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/any.h"
#include "api/service.h"
#include "base/result.h"
#include "base/time.h"
#include "secrets/vault.h"

namespace secrets {

struct Owner {
  std::string region;
  std::string account;
};

struct Call {
  const api::Service* service = nullptr;
  const api::Operation* operation = nullptr;
  const api::Any* request = nullptr;
  // What a restricted caller may read, by name or ARN; nullopt: everything.
  std::optional<std::vector<std::string>> reach;
};

// One thread.
class Service {
 public:
  // `path`: a file, or ":memory:". `key`: 32 bytes, kept apart from the file. Errors: those of
  // Vault::open.
  static base::Result<std::unique_ptr<Service>> open(const std::string& path, std::string key,
                                                     Owner owner);
  static bool is_built(const api::Operation& operation);

  // Done and durable when it returns. Errors: the operation's; InternalServerError or
  // InternalServiceError when the file cannot be used; AccessDeniedException.
  base::Result<api::Any> handle(const Call& call, base::Time now);
  // Deletes the secrets whose time has come.
  base::Result<void> sweep(base::Time now);

 private:
  Service(Vault vault, Owner owner) : vault_(std::move(vault)), owner_(std::move(owner)) {}

  Vault vault_;
  Owner owner_;
};

}  // namespace secrets
