#include "sim/trace.h"

namespace sim {

std::string print(const TraceLine& line) {
  return base::format("{:9.3f} s  {:<12}  {}", static_cast<double>(line.at.count()) / 1000.0,
                      line.who, line.what);
}

void Trace::mix(std::string_view text) {
  hash_ = base::fnv1a(text, hash_);
}

void Trace::mix(uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    hash_ = base::fnv1a(static_cast<uint8_t>(value >> shift), hash_);
  }
}

void Trace::add(TraceLine line) {
  mix(static_cast<uint64_t>(line.at.count()));
  mix(line.who);
  mix(line.what);
  if (on_line_) on_line_(line);
  latest_.push_back(std::move(line));
  if (latest_.size() > kept) latest_.pop_front();
}

std::string short_name(std::string_view arn) {
  const size_t slash = arn.rfind('/');
  return std::string(arn.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, 8));
}

}  // namespace sim
