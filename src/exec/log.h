// Brings the events of one session of ExecuteCommand into its log stream: which call of CloudWatch
// Logs is to be made now, one at a time, and what follows from the answer. Pure.
//
// The stream has the session's name and is made at the begin; its group has to be there, or the
// session is not logged, as with AWS (amazon-ssm-agent, cloudwatchlogsservice.go, StreamData).
// Events are numbered (logs/service.h), so that a call whose outcome is unknown is made again and
// nothing comes twice. What the log store does not take waits, as long as there is room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/any.h"
#include "api/service.h"
#include "base/result.h"
#include "base/time.h"
#include "exec/transcript.h"

namespace exec {

struct LogCall {
  const api::Operation* operation = nullptr;
  api::Any input;
};

class Log {
 public:
  // What waits is written after so long at the latest, or once it is so much.
  static constexpr base::Milliseconds longest_wait{1'000};
  static constexpr size_t batch_bytes = size_t{256} << 10;
  static constexpr size_t batch_events = 10'000;
  // Of a session's output in memory.
  static constexpr size_t most_kept_bytes = size_t{8} << 20;
  // After a call that failed, and for how long after the session's end.
  static constexpr base::Milliseconds retry_after{1'000};
  static constexpr base::Milliseconds patience{60'000};

  Log(std::string group, Beginning beginning, bool terminal, base::Time now);

  // See Transcript. `room`: what all sessions together may still keep.
  void output(acs::ExecKind kind, std::string_view bytes, size_t room, base::Time now);
  void end_with_exit_code(std::string_view code, base::Time now);
  void end_without(std::string_view why, base::Time now);

  // The call to make now, if any; answered() has to follow.
  std::optional<LogCall> next(base::Time now);
  void answered(const base::Result<void>& answer, base::Time now);
  // Every call that is left, to be made in this order without waiting for answers; the last of all.
  std::vector<LogCall> rest();
  // When next() is to be asked again though nothing has happened; base::Time::max(): never.
  base::Time next_due() const;

  // A sentence for the server's own log, once: what is not logged, and why.
  std::optional<std::string> take_complaint();

  // Nothing is to be done any more.
  bool settled() const;
  // Whether the end of the session may be told: all is written, or the log is in trouble.
  bool may_end() const { return trouble_ || settled(); }
  size_t kept_bytes() const { return transcript_.kept_bytes() + batch_kept_bytes_; }

 private:
  enum class Stage : uint8_t { Unmade, Writing, GivenUp };

  void give_up(std::string_view why);
  void fail_for_now(const base::Error& error, base::Time now);
  bool is_due(base::Time now) const;
  void take_batch();
  LogCall make_stream() const;
  LogCall put_batch() const;

  const std::string group_;
  const std::string session_;
  Transcript transcript_;
  Stage stage_ = Stage::Unmade;
  bool under_way_ = false;  // A call is.
  bool trouble_ = false;    // The latest call has failed, or none will be made.
  bool complained_ = false;
  std::vector<api::logs::InputLogEvent> batch_;  // Not known to be written.
  size_t batch_kept_bytes_ = 0;
  int64_t position_ = 0;  // Of the first event of batch_.
  base::Time retry_at_{};
  std::optional<base::Time> ended_at_;
  std::optional<std::string> complaint_;
};

}  // namespace exec
