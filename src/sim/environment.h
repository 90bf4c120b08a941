// What every part of a simulated world stands on: its time, its randomness, its trace, and the
// first thing that a checker found wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "sim/events.h"
#include "sim/rates.h"
#include "sim/trace.h"

namespace sim {

inline constexpr std::string_view client_name = "client";  // Of all of them, in a trace.

struct Failure {
  std::string checker;   // "double_booking"
  std::string sentence;  // What is wrong, with names and figures.
  base::Milliseconds at{};
};

struct Environment {
  Environment(uint64_t seed, Trace::OnLine on_line)
      : random(seed), trace(events.now(), std::move(on_line)) {}

  template <class... Args>
  void tell(std::string_view who, fmt::format_string<Args...> text, Args&&... args) {
    trace.tell(events.now(), who, text, std::forward<Args>(args)...);
  }
  // The first one counts.
  void fail(std::string_view checker, std::string sentence) {
    if (failure) return;
    tell(checker, "FAILED: {}", sentence);
    failure = Failure{std::string(checker), std::move(sentence), trace.since_start(events.now())};
  }
  // Whether a fault of that chance, in thousandths, strikes; never after the faults have stopped.
  bool inject(uint32_t chance) {
    if (!faults_on || chance == 0) return false;
    return random.below(1000) < chance;
  }
  base::Milliseconds between(base::Milliseconds least, base::Milliseconds most) {
    if (most <= least) return least;
    const auto span = static_cast<uint64_t>((most - least).count());
    return least + base::Milliseconds{random.below(span + 1)};
  }

  // As one machine's may be.
  DriftingClock draw_clock() {
    const base::Milliseconds offset =
        between(-rates.longest_clock_offset, rates.longest_clock_offset);
    const base::Milliseconds ppm{rates.drift_ppm};
    return {events.now(), offset, between(-ppm, ppm).count()};
  }

  Events events;
  base::Random random;
  Trace trace;
  Rates rates;
  bool faults_on = true;
  std::optional<Failure> failure;
  // Hears every text that somebody keeps or passes on: the records of the server, the journals,
  // notes and reports of agents, payloads. Empty where nobody wants to know.
  std::function<void(std::string_view where, std::string_view text)> on_written;
};

}  // namespace sim
