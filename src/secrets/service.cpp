#include "secrets/service.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "secrets/operations.h"

namespace secrets {
namespace {

using Run = base::Result<api::Any> (*)(Context&, const api::Any&);

// Adapts an operation's typed function to the queue's untyped values.
template <class Response, class Request>
struct Adapter {
  template <Answer<Response> (*function)(Context&, const Request&)>
  static base::Result<api::Any> call(Context& context, const api::Any& input) {
    auto response = function(context, input.as<Request>());
    if (!response) return base::fail(std::move(response).error());
    return api::Any::make(std::move(*response));
  }
};

template <class Response, class Request>
Adapter<Response, Request> adapter_of(Answer<Response> (*)(Context&, const Request&));

template <auto function>
constexpr auto adapted = &decltype(adapter_of(function))::template call<function>;

struct Entry {
  std::string_view name;
  Run run;
};

// Sorted by name.
constexpr std::array entries{
    Entry{"CreateSecret", adapted<create_secret>},
    Entry{"DeleteParameter", adapted<delete_parameter>},
    Entry{"DeleteParameters", adapted<delete_parameters>},
    Entry{"DeleteSecret", adapted<delete_secret>},
    Entry{"DescribeParameters", adapted<describe_parameters>},
    Entry{"DescribeSecret", adapted<describe_secret>},
    Entry{"GetParameter", adapted<get_parameter>},
    Entry{"GetParameters", adapted<get_parameters>},
    Entry{"GetParametersByPath", adapted<get_parameters_by_path>},
    Entry{"GetSecretValue", adapted<get_secret_value>},
    Entry{"ListSecrets", adapted<list_secrets>},
    Entry{"PutParameter", adapted<put_parameter>},
    Entry{"PutSecretValue", adapted<put_secret_value>},
    Entry{"RestoreSecret", adapted<restore_secret>},
    Entry{"UpdateSecret", adapted<update_secret>},
};
static_assert(std::ranges::is_sorted(entries, {}, &Entry::name));

const Entry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(entries, name, {}, &Entry::name);
  return found != entries.end() && found->name == name ? found : nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Service>> Service::open(const std::string& path, std::string key,
                                                     Owner owner) {
  Vault vault = TRY(Vault::open(path, std::move(key)));
  return std::unique_ptr<Service>(new Service(std::move(vault), std::move(owner)));
}

bool Service::is_built(const api::Operation& operation) {
  return find_entry(operation.name) != nullptr;
}

base::Result<api::Any> Service::handle(const Call& call, base::Time now) {
  const Entry* const entry = find_entry(call.operation->name);
  CHECK(entry != nullptr);  // The front lets no other through.
  Context context{.vault = vault_, .owner = owner_, .reach = call.reach, .now = now};
  auto answer = entry->run(context, *call.request);
  if (!answer && sqlite::is_storage_error(answer.error())) {
    return base::fail(
        call.service->name == "ssm" ? "InternalServerError" : "InternalServiceError",
        base::format("The secret store's file cannot be used: {}", answer.error().message));
  }
  return answer;
}

base::Result<void> Service::sweep(base::Time now) {
  constexpr size_t most = 1000;
  std::string after;
  while (true) {
    const auto items = TRY(vault_.list(Kind::Secret, {}, after, most));
    for (const Item& item : items) {
      if (item.deleted_at && *item.deleted_at <= now) {
        TRY_VOID(vault_.remove(Kind::Secret, item.name));
      }
    }
    if (items.size() < most) return {};
    after = items.back().name;
  }
}

}  // namespace secrets
