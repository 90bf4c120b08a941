// Images and networks, against recorded answers of a daemon.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "docker/client.h"
#include "docker/pause_image.h"
#include "docker/testing_transport.h"
#include "docker/wire.h"

namespace docker {
namespace {

struct Session {
  explicit Session(std::vector<Exchange> transcript) {
    transcript.insert(transcript.begin(),
                      {.request = "GET /version",
                       .status = 200,
                       .body = R"({"ApiVersion":"1.41","MinAPIVersion":"1.12"})",
                       .error = std::nullopt});
    client = std::make_unique<DockerClient>(
        std::make_unique<ReplayTransport>(std::move(transcript), calls), Timeouts{});
  }
  std::vector<Call> calls;
  std::unique_ptr<DockerClient> client;
};

Exchange answer(std::string request, int status, std::string body) {
  return {.request = std::move(request),
          .status = status,
          .body = std::move(body),
          .error = std::nullopt};
}

TEST(ClientResources, an_image_is_imported_as_a_tar_with_its_entry_point) {
  Session session({answer("POST /v1.41/images/create?fromSrc=-&repo=berth%2Fpause&tag=1&changes=" +
                              url_encode(R"(ENTRYPOINT ["/pause"])"),
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

TEST(ClientResources, a_network_is_made_once_whoever_makes_it) {
  Session session(
      {answer("GET /v1.41/networks/n", 200, R"({"Name":"n"})"),
       answer("GET /v1.41/networks/n", 404, R"({"message":"network n not found"})"),
       answer("POST /v1.41/networks/create", 201, R"({"Id":"1"})"),
       answer("GET /v1.41/networks/n", 404, R"({"message":"network n not found"})"),
       answer("POST /v1.41/networks/create", 409,
              R"({"message":"network with name n already exists"})"),
       answer("GET /v1.41/networks/n", 404, R"({"message":"network n not found"})"),
       answer("POST /v1.41/networks/create", 500,
              R"({"message":"could not find an available, non-overlapping IPv4 address pool"})")});
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
  EXPECT_TRUE(session.client->create_network({.name = "n", .labels = {{"a", "b"}}}));
  EXPECT_TRUE(session.client->create_network({.name = "n"}));
  const auto made = session.client->create_network({.name = "n"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "CannotCreateNetworkError");
  EXPECT_NE(session.calls[3].body.find(R"("Labels":{"a":"b"})"), std::string::npos);
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
