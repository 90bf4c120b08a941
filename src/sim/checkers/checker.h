// One promise of the whole system, checked while a world runs. Each is a file; all of them in
// checkers.h. A checker sees what is durable, what was said to whom, and what is physically true.
#pragma once

#include <string>
#include <string_view>

#include "model/state.h"

namespace sim {

class World;
struct SeenCall;
struct Turn;
class Machine;
struct SimContainer;

class Checker {
 public:
  // The world outlives it.
  explicit Checker(World& world) : world_(world) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  virtual std::string_view name() const = 0;
  // A call has arrived at the server; nothing has come of it yet.
  virtual void called(const SeenCall&) {}
  // The server has finished a turn; nothing of it has left yet.
  virtual void turned(const Turn&) {}
  // A process of the server has loaded its state.
  virtual void loaded(const model::ClusterState&) {}
  // The server has lost its disk: what it promised before is gone with it.
  virtual void server_disk_lost() {}
  // Somebody keeps that text or passes it on: Environment::on_written.
  virtual void written(std::string_view, std::string_view) {}
  virtual void container_started(const Machine&, const SimContainer&) {}
  // The faults have stopped, and services still run: what has not become as it must within a bound;
  // empty: nothing.
  virtual std::string awaits() { return {}; }
  // The services are deleted, too: who has not started as it must within a bound; empty: nobody.
  virtual std::string awaits_end() { return {}; }
  // Faults have stopped long ago, every task was stopped, and the system is at rest.
  virtual void at_rest() {}

 protected:
  void fail(std::string sentence);
  World& world() { return world_; }

 private:
  World& world_;
};

}  // namespace sim
