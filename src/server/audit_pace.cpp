#include "server/audit_pace.h"

namespace server {

bool AuditPace::pass(const AuditedCall& call, bool refused, base::Milliseconds now) {
  const bool known = call.caller && !std::holds_alternative<auth::NoAccess>(call.caller->access);
  if (known && std::holds_alternative<auth::FullAccess>(call.caller->access)) return true;
  if (!known && refused) {
    if (refused_.pass(unknown_due_, now)) return true;
    ++left_out_unknown_;
    return false;
  }
  // Neighbours of an even and an odd number. A machine that joins has no key: its slot is that of
  // no id.
  const std::string_view id = known ? std::string_view(call.caller->access_key_id) : "";
  const size_t slot = key_slot(id, slots / 2) * 2 + (refused ? 1 : 0);
  if ((refused ? refused_ : others_).pass(due_[slot], now)) return true;
  ++(refused ? left_out_refused_ : left_out_others_);
  return false;
}

LeftOut AuditPace::take_left_out() {
  return {.unknown = left_out_unknown_.exchange(0),
          .refused = left_out_refused_.exchange(0),
          .others = left_out_others_.exchange(0)};
}

}  // namespace server
