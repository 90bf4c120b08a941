// Files for SQLite that fail, tear and lose what was not synced: for the tests of everything that
// stands on sqlite/. Source of the method: sqlite.org/testing.html, "Anomaly Testing".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sqlite {

enum class Fault : uint8_t {
  IoError,   // One operation fails; the next ones succeed.
  DiskFull,  // From there on every write fails, syncs succeed.
  Crash,     // From there on nothing reaches the disk; the operation itself is done by half.
};

// Registered with SQLite under `name` for as long as the object lives; Options::vfs chooses it.
// Counts writes, truncations, syncs and deletions. One thread; databases are closed before it goes.
class FaultyVfs {
 public:
  explicit FaultyVfs(std::string name);
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs();

  const std::string& name() const;
  // The nth operation from now on (1 is the next) meets `fault`.
  void fail_at(uint64_t nth, Fault fault);
  // No more faults.
  void heal();
  // True once the last fault set was met, also after heal().
  bool failed() const;
  // The power is gone: every file goes back to what it was at its last sync. The databases have
  // been closed by then. Heals.
  void cut_power();

  struct State;  // SQLite's callbacks see it.

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sqlite
