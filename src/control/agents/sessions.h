// Which agents are connected, and what each of them has to be told. All of it is made anew after a
// restart: agents come back, and what they have to be told follows from the state.
#pragma once

#include <map>
#include <set>
#include <string>

#include "acs/server_session.h"
#include "base/due_table.h"
#include "base/time.h"
#include "control/agents/role_credentials.h"
#include "control/step/input.h"
#include "control/step/observer.h"
#include "control/step/step.h"

namespace control {

class Sessions : public Observer {
 public:
  // A session that ends is told at once: the instance is silent then, and counts as connected for
  // Settings::disconnect_grace. After a restart those that were connected get
  // Settings::connect_grace to come back.
  Sessions(const model::ClusterState& state, const Settings& settings, base::Time now);

  // What agents send: sessions that open and close, their messages, telemetry.
  void take(Step& step, const Input& input) override;
  // Tells agents what the change means for them.
  void observe(Step& step, const model::Change& change) override;
  // Heartbeats, redeliveries, keys of roles that expire, dead connections, agents whose grace is
  // over.
  void tick(Step& step) override;
  base::Time next_tick() const override;

 private:
  struct Session {
    model::InstanceArn instance;
    acs::ServerSession acs;
    std::string access_key_id;
    std::string place;        // Of SessionOpened.
    std::string remote_host;  // Of SessionOpened.
  };

  void open(Step& step, const SessionOpened& opened);
  void receive(Step& step, const SessionMessage& message);
  void send(Step& step, SessionId id, acs::ServerMessage message);
  void reschedule(SessionId id, const Session& session);
  void deliver(Step& step, const model::TaskArn& arn);
  // Null, or that of another place, which has not ended. It is asked whether it still lives.
  const Session* session_elsewhere(const SessionOpened& opened, base::Time now);
  // The newest session of the instance; 0: none.
  SessionId newest_of(const model::InstanceArn& arn) const;
  void send_role_keys(Step& step, const model::ContainerInstance& instance,
                      const SessionOpened& opened);
  void send_role_key(Step& step, const RoleSchedule::Key& key);
  void note_role_keys(const Step& step, const acs::Task& payload);
  void close_silent(Step& step);
  void tell_missing(Step& step);
  void settle(const model::ClusterState& state, const model::TaskArn& arn);
  void drop(SessionId id, Step& step, std::string reason);
  void expect_by(const model::InstanceArn& arn, base::Time deadline, std::string reason);
  void forget_expected(const model::InstanceArn& arn);
  void close_all(const model::InstanceArn& arn, Step& step);
  void close_those_of_key(const std::string& access_key_id, Step& step);
  void reserve_sequence_numbers(Step& step);

  acs::ServerSettings acs_settings_;
  acs::Timeline timeline_;
  RoleSchedule roles_;
  std::map<SessionId, Session> sessions_;
  // An agent opens a new session before the old one has closed: the newest gets the payloads.
  std::map<model::InstanceArn, std::set<SessionId>> of_instance_;
  base::DueTable<SessionId> due_;
  // Instances without a session that still count as connected, until they are due, and why they
  // are not connected from then on.
  base::DueTable<model::InstanceArn> expected_by_;
  std::map<model::InstanceArn, std::string> expected_;
};

}  // namespace control
