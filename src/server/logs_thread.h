// The one thread that owns the log store.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <thread>

#include "api/any.h"
#include "api/service.h"
#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "logs/service.h"

namespace server {

struct LogsWork {
  const api::Operation* operation = nullptr;
  api::Any input;
  // Called once, on the logs thread.
  std::move_only_function<void(base::Result<api::Any>)> answered;
};

class LogsThread {
 public:
  // `clock` outlives it.
  LogsThread(std::unique_ptr<logs::Service> service, base::Clock& clock);
  ~LogsThread();  // Does stop().
  LogsThread(const LogsThread&) = delete;
  LogsThread& operator=(const LogsThread&) = delete;

  // False when too much is waiting already; `work` is untouched then. Any thread.
  bool try_push(LogsWork&& work) { return queue_.try_push(std::move(work)); }
  // Finishes what was pushed before and joins the thread.
  void stop();

 private:
  void run();
  void sweep_when_due();

  static constexpr size_t capacity = 2'000;  // A request may have 6 MiB.
  static constexpr size_t most_per_batch = 200;

  std::unique_ptr<logs::Service> service_;
  base::Clock& clock_;
  base::Queue<LogsWork> queue_{capacity};
  base::Time next_sweep_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace server
