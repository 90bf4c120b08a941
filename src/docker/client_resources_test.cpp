// Images and networks, against recorded answers of a daemon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "docker/client.h"
#include "docker/pause_image.h"
#include "docker/testing_client.h"
#include "docker/wire.h"

namespace docker {
namespace {

TEST(ClientResources, an_image_is_imported_as_a_tar_with_its_entry_point) {
  Session session({answer("POST /v1.41/images/create?fromSrc=-&repo=berth%2Fpause&tag=1&changes=" +
                              base::percent_encoded(R"(ENTRYPOINT ["/pause"])"),
                          200, "{\"status\":\"sha256:1\"}\r\n")});
  const ImageImport image = pause_image("berth/pause:1");
  const auto imported = session.client->import_image(image);
  EXPECT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(session.calls.back().body, image.archive);
  ASSERT_EQ(session.calls.back().headers.size(), 1U);
  EXPECT_EQ(session.calls.back().headers[0].value, "application/x-tar");
}

TEST(ClientResources, an_import_that_fails_behind_its_status_200_is_an_error) {
  Session session({answer("POST /v1.41/images/create", 200,
                          R"({"error":"write /pause: no space left on device"})")});
  const auto imported = session.client->import_image(pause_image("a:1"));
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, "CannotImportImageError");
  EXPECT_EQ(imported.error().cause, Cause::NoSpace);
}

TEST(ClientResources, images_are_listed_with_all_their_names) {
  Session session({answer("GET /v1.41/images/json?digests=1", 200,
                          R"([{"Id":"sha256:1","RepoTags":["b:1","a:1"],"RepoDigests":null,)"
                          R"("Created":1750000000,"Size":7},)"
                          R"({"Id":"sha256:2","RepoTags":["<none>:<none>"],)"
                          R"("RepoDigests":["<none>@<none>"]},)"
                          R"({"Id":"sha256:3","RepoTags":null,"RepoDigests":["c@sha256:4"]}])")});
  const auto images = session.client->list_images();
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 2U) << "what has no name is nobody's";
  EXPECT_EQ((*images)[0].names, (std::vector<std::string>{"a:1", "b:1"}));
  EXPECT_EQ((*images)[0].size_bytes, 7U);
  EXPECT_EQ((*images)[0].created_at, base::Time(std::chrono::seconds(1'750'000'000)));
  EXPECT_EQ((*images)[1].names, std::vector<std::string>{"c@sha256:4"});
}

TEST(ClientResources, a_list_that_is_none_is_an_error) {
  Session session({answer("GET /v1.41/images/json", 200, "{}"),
                   answer("GET /v1.41/images/json", 200, R"([{"RepoTags":["a:1"]}])")});
  EXPECT_FALSE(session.client->list_images());
  EXPECT_FALSE(session.client->list_images());
}

TEST(ClientResources, an_image_that_is_gone_is_removed_and_one_in_use_is_not) {
  Session session({answer("DELETE /v1.41/images/r.io/a:1", 404, R"({"message":"No such image"})"),
                   answer("DELETE /v1.41/images/a:2", 409,
                          R"({"message":"conflict: unable to remove repository reference"})")});
  EXPECT_TRUE(session.client->remove_image("r.io/a:1"));
  const auto removed = session.client->remove_image("a:2");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().cause, Cause::Conflict);
  EXPECT_EQ(removed.error().code, "CannotRemoveImageError");
}

const std::string list_n =
    "GET /v1.41/networks?filters=" + base::percent_encoded(R"({"name":["n"]})");
const std::string one_n = R"([{"Name":"n","Id":"1","Created":"2026-01-01T00:00:00.1Z"},
                              {"Name":"other-n","Id":"2","Created":"2025-01-01T00:00:00Z"}])";
const std::string two_n = R"([{"Name":"n","Id":"1","Created":"2026-01-01"},
                              {"Name":"n","Id":"2","Created":"2026-01-02"}])";
const std::string in_use = R"({"message":"network n has active endpoints"})";

TEST(ClientResources, a_network_that_is_there_is_not_made_again) {
  Session session({answer(list_n, 200, one_n)});
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
}

TEST(ClientResources, a_network_is_made_with_its_labels) {
  Session session({answer(list_n, 200, R"([{"Name":"other-n","Id":"2"}])"),
                   answer("POST /v1.41/networks/create", 201, R"({"Id":"1"})"),
                   answer(list_n, 200, one_n)});
  EXPECT_TRUE(session.client->create_network({.name = "n", .labels = {{"a", "b"}}}));
  EXPECT_NE(session.calls[2].body.find(R"("Labels":{"a":"b"})"), std::string::npos);
}

TEST(ClientResources, a_network_that_somebody_made_meanwhile_will_do) {
  Session session({answer(list_n, 200, "[]"),
                   answer("POST /v1.41/networks/create", 409,
                          R"({"message":"network with name n already exists"})"),
                   answer(list_n, 200, one_n)});
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
}

TEST(ClientResources, of_several_networks_of_one_name_the_oldest_stays) {
  Session session(
      {answer(list_n, 200, R"([{"Name":"n","Id":"b","Created":"2026-01-02"},
                                           {"Name":"n","Id":"c","Created":"2026-01-01"},
                                           {"Name":"n","Id":"a","Created":"2026-01-02"}])"),
       answer("DELETE /v1.41/networks/b", 204, ""),
       answer("DELETE /v1.41/networks/a", 404, R"({"message":"network a not found"})")});
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
  EXPECT_EQ(session.calls.size(), 4U);
}

TEST(ClientResources, of_several_networks_of_one_name_that_in_use_stays) {
  Session session({answer(list_n, 200, two_n), answer("DELETE /v1.41/networks/2", 403, in_use),
                   answer("DELETE /v1.41/networks/1", 204, "")});
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
  EXPECT_EQ(session.calls.size(), 4U);
}

TEST(ClientResources, a_network_that_cannot_be_made_or_told_apart_is_an_error) {
  Session session({answer(list_n, 200, "[]"),
                   answer("POST /v1.41/networks/create", 500,
                          R"({"message":"could not find an available address pool"})"),
                   answer(list_n, 200, two_n), answer("DELETE /v1.41/networks/2", 403, in_use),
                   answer("DELETE /v1.41/networks/1", 403, in_use)});
  for (const std::string_view reason : {"address pool", "active endpoints"}) {
    const auto made = session.client->create_network({.name = "n"});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, "CannotCreateNetworkError");
    EXPECT_NE(made.error().message.find(reason), std::string::npos) << made.error().message;
  }
}

TEST(PauseImage, its_program_is_an_elf_in_a_tar) {
  const ImageImport image = pause_image("berth/pause:1");
  EXPECT_EQ(image.name, "berth/pause:1");
  EXPECT_EQ(image.entry_point, std::vector<std::string>{"/pause"});
  ASSERT_GT(image.archive.size(), 1024U);
  EXPECT_EQ(image.archive.size() % 512, 0U);
  EXPECT_EQ(image.archive.substr(0, 6), std::string("pause\0", 6));
  EXPECT_EQ(image.archive.substr(257, 5), "ustar");
  EXPECT_EQ(image.archive.substr(512, 4),
            "\x7f"
            "ELF");
}

}  // namespace
}  // namespace docker
