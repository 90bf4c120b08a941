#include "cli/audit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace cli {
namespace {

const char* const revoked =
    R"({"eventTime":"2026-01-31T12:00:00.000Z","eventType":"AwsApiCall","requestID":"r",)"
    R"("userIdentity":{"type":"Root","arn":"arn:aws:iam::1:root","accessKeyId":"BERTHROOT"},)"
    R"("sourceIPAddress":"10.0.0.7","eventSource":"berth.amazonaws.com",)"
    R"("eventName":"DeleteAgentKey","requestParameters":{"id":"BERTHAGENT"}})";
const char* const denied =
    R"({"eventTime":"2026-01-31T13:00:00.000Z","eventType":"AwsApiCall","userIdentity":)"
    R"({"type":"BerthAgent","accessKeyId":"BERTHAGENT","containerInstanceArn":)"
    R"("arn:aws:ecs:us-east-1:1:container-instance/default/abc"},"sourceIPAddress":"10.0.0.8",)"
    R"("eventName":"RunTask","errorCode":"AccessDeniedException"})";

bool shown(const char* line, const AuditFilter& filter) {
  return passes(*json::parse(line), filter);
}

TEST(Audit, lines_are_chosen_by_time_principal_and_action) {
  const auto noon = base::parse_rfc3339("2026-01-31T12:30:00Z");
  EXPECT_FALSE(shown(revoked, {.since = noon}));
  EXPECT_TRUE(shown(denied, {.since = noon}));
  EXPECT_TRUE(shown(revoked, {.principal = "BERTHROOT"}));
  EXPECT_TRUE(shown(revoked, {.principal = "10.0.0.7"}));
  EXPECT_FALSE(shown(revoked, {.principal = "BERTHAGENT"}));
  EXPECT_TRUE(shown(denied, {.principal = "default/abc"}));
  EXPECT_TRUE(shown(denied, {.action = "runtask"}));
  EXPECT_FALSE(shown(revoked, {.action = "RunTask"}));
  EXPECT_TRUE(shown(denied, {.refused = true}));
  EXPECT_FALSE(shown(revoked, {.refused = true}));
}

TEST(Audit, rows_say_who_what_and_the_outcome) {
  EXPECT_EQ((std::vector<std::string>{"2026-01-31T12:00:00.000Z", "key BERTHROOT", "10.0.0.7",
                                      "DeleteAgentKey", "id=BERTHAGENT", "ok"}),
            audit_row(*json::parse(revoked)));
  EXPECT_EQ((std::vector<std::string>{"2026-01-31T13:00:00.000Z", "agent BERTHAGENT of abc",
                                      "10.0.0.8", "RunTask", "-", "AccessDeniedException"}),
            audit_row(*json::parse(denied)));
  EXPECT_EQ("refused=7",
            audit_row(*json::parse(R"({"eventTime":"t","leftOut":{"refused":7}})"))[4]);
}

TEST(Audit, files_are_read_from_the_oldest_on_and_losses_are_summed_up) {
  std::string made = (std::filesystem::temp_directory_path() / "berth-audit-XXXXXX").string();
  ASSERT_NE(nullptr, ::mkdtemp(made.data()));
  const std::filesystem::path dir = made;
  EXPECT_EQ("NotFound", read_audit_log(dir, [](const std::string&) {}).error().code);
  EXPECT_FALSE(audit_state(dir).there);
  std::ofstream(dir / "audit.log.1") << "one\n";
  std::ofstream(dir / "audit.log")
      << R"({"eventTime":"t","eventType":"BerthNotWritten","notWritten":3})" << "\n";
  std::vector<std::string> lines;
  ASSERT_TRUE(read_audit_log(dir, [&](const std::string& line) { lines.push_back(line); }));
  EXPECT_EQ(2U, lines.size());
  EXPECT_EQ("one", lines.front());
  EXPECT_EQ(3U, audit_state(dir).not_written);
  EXPECT_EQ("t", audit_state(dir).last_loss);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace cli
