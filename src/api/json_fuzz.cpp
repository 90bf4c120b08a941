// Any text as any structure of any service, requests and answers: what can be read must print and
// read back as the same value. The first two bytes choose the structure.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/any.h"
#include "api/json.h"
#include "api/service.h"
#include "base/result.h"

namespace {

const std::vector<const api::Shape*>& all_shapes() {
  static const std::vector<const api::Shape*> shapes = [] {
    std::vector<const api::Shape*> made;
    for (const api::Service* const service :
         {&api::ecs_service(), &api::logs_service(), &api::sts_service(), &api::ssm_service(),
          &api::secretsmanager_service(), &api::berth_service()}) {
      for (const api::Operation& operation : service->operations) {
        made.push_back(operation.input);
        made.push_back(operation.output);
      }
    }
    return made;
  }();
  return shapes;
}

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
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto& shapes = all_shapes();
  const api::Shape& shape = *shapes[(data[0] * 256U + data[1]) % shapes.size()];
  read_and_print(shape, text);
  return 0;
}
