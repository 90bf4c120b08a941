// Calls of clients whose answers are still due, each with what it is about. Belongs to a checker.
#pragma once

#include <map>
#include <string>

#include "control/core.h"

namespace sim {

class OpenCalls {
 public:
  // Nothing where it is about nothing that matters.
  void called(control::RequestId id, const std::string& subject) {
    if (!subject.empty()) subjects_[id] = subject;
  }
  // Those before it are done, or have died with their server.
  void answered(control::RequestId id) {
    subjects_.erase(subjects_.begin(), subjects_.upper_bound(id));
  }
  // Of a call whose answer is still due either outcome may be there.
  template <class Promises>
  void release(Promises& promises) const {
    for (const auto& [id, subject] : subjects_) promises.erase(subject);
  }

 private:
  std::map<control::RequestId, std::string> subjects_;
};

}  // namespace sim
