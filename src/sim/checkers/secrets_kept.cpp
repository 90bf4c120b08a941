// No value of a secret, and no key of a task's role, stands in a record of the server, in a
// journal, in a note or report of an agent, or in a payload's containers.

#include "sim/checkers/checkers.h"
#include "sim/secret_clients.h"
#include "sim/world.h"

namespace sim {
namespace {

// With which every session token of a role begins: auth::KeyDerivation prints its claims in
// hexadecimal.
constexpr std::string_view start_of_claims = R"({"account":")";

class SecretsKept final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "secrets_kept"; }

  void written(std::string_view where, std::string_view text) override {
    if (text.find(secret_mark) != std::string_view::npos) {
      fail(base::format("the value of a secret stands in {}", where));
    } else if (text.find(start_of_token_) != std::string_view::npos) {
      fail(base::format("the key of a role stands in {}", where));
    }
  }

 private:
  static std::string in_hexadecimal(std::string_view text) {
    std::string digits;
    for (const char c : text) digits += base::format("{:02x}", c);
    return digits;
  }

  const std::string start_of_token_ = in_hexadecimal(start_of_claims);
};

}  // namespace

std::unique_ptr<Checker> make_secrets_kept(World& world) {
  return std::make_unique<SecretsKept>(world);
}

}  // namespace sim
