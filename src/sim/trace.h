// What happened in a run, for people: time, who, what. And its hash: two runs of one seed that
// differ in anything told differ in it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/hash.h"
#include "base/time.h"

namespace sim {

struct TraceLine {
  base::Milliseconds at{};  // Since the start of the run.
  std::string who;          // "server", "agent m1", "machine m1", "client"...
  std::string what;
};

// "  12.345 s  agent m1     registered".
std::string print(const TraceLine& line);

class Trace {
 public:
  // Called with every line as it is told; may be empty.
  using OnLine = std::function<void(const TraceLine&)>;

  Trace(base::Time start, OnLine on_line) : start_(start), on_line_(std::move(on_line)) {}

  template <class... Args>
  void tell(base::Time now, std::string_view who, fmt::format_string<Args...> text,
            Args&&... args) {
    add({now - start_, std::string(who), fmt::format(text, std::forward<Args>(args)...)});
  }
  // Into the hash only: what is too much to read.
  void mix(uint64_t value);
  void mix(std::string_view text);

  uint64_t hash() const { return hash_; }
  base::Milliseconds since_start(base::Time now) const { return now - start_; }
  // The latest lines, oldest first.
  const std::deque<TraceLine>& latest() const { return latest_; }

 private:
  void add(TraceLine line);

  static constexpr size_t kept = 60;

  base::Time start_;
  OnLine on_line_;
  uint64_t hash_ = base::fnv_start;
  std::deque<TraceLine> latest_;
};

// "0a1b2c3d" of a task's or an instance's ARN: enough to follow it through a trace.
std::string short_name(std::string_view arn);

}  // namespace sim
