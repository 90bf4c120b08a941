// The one thread that writes the audit log. An audited call is answered once its line is with the
// kernel.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/queue.h"
#include "base/time.h"
#include "server/audit_entry.h"
#include "server/audit_log.h"
#include "server/audit_pace.h"

namespace server {

struct AuditWork {
  AuditedCall call;
  AuditedResult result;
  // Called once with the result, on the audit thread: hand it on, do not work there. May be empty.
  std::move_only_function<void(AuditedResult)> answered;
};

class AuditThread {
 public:
  // `clock` outlives it. No more than `capacity` calls wait for an answer at a time.
  AuditThread(AuditLog log, size_t capacity, base::Clock& clock);
  ~AuditThread();  // Does stop().
  AuditThread(const AuditThread&) = delete;
  AuditThread& operator=(const AuditThread&) = delete;

  // Calls `answered` in any case: at once where the call has no line since there were too many like
  // it, and where it is written no more. Any thread; never blocks.
  void record(AuditWork work);
  // Writes what was pushed before and joins the thread.
  void stop();

 private:
  void run();
  void write(const std::string& lines, uint64_t count);
  void tell_of_left_out();

  AuditLog log_;
  base::Clock& clock_;
  AuditPace pace_;
  base::Queue<AuditWork> queue_;
  base::Milliseconds left_out_due_;  // These two are the thread's own.
  base::Milliseconds failure_told_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace server
