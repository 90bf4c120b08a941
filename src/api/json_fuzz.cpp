// Reads any bytes into the input of every ECS operation; what can be read must print and read back
// as the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/any.h"
#include "api/json.h"
#include "api/query.h"
#include "api/service.h"
#include "base/result.h"

namespace {

void read_and_print(const api::Shape& shape, std::string_view text) {
  api::Any value = api::Any::create(shape);
  if (!api::parse_into(text, shape, value.data())) return;
  std::string printed;
  api::print_to(printed, shape, value.data());
  api::Any again = api::Any::create(shape);
  CHECK(api::parse_into(printed, shape, again.data()));
  std::string printed_again;
  api::print_to(printed_again, shape, again.data());
  CHECK(printed == printed_again);  // Not equal(): a NaN is unlike itself.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const api::Operation& operation : api::ecs_service().operations) {
    read_and_print(*operation.input, text);
  }
  if (const auto request = api::parse_query(text)) {
    for (const api::Operation& operation : api::sts_service().operations) {
      api::Any value = api::Any::create(*operation.input);
      const auto ignored = api::parse_into(*request, *operation.input, value.data());
      static_cast<void>(ignored);  // Any answer is right, as long as there is one.
    }
  }
  return 0;
}
