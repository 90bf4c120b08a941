#include <gtest/gtest.h>

#include "api/any.h"
#include "api/json.h"
#include "api/query.h"
#include "api/service.h"
#include "api/testing/random_value.h"
#include "json/value.h"

namespace api {
namespace {

constexpr int depth = 7;
constexpr uint64_t rounds = 25;

void expect_round_trip(const Shape& shape, uint64_t seed) {
  base::Random random(seed);
  Any value = Any::create(shape);
  testing::fill_random(shape, Range(), value.data(), random, depth);
  std::string text;
  print_to(text, shape, value.data());

  Any read = Any::create(shape);
  const auto result = parse_into(text, shape, read.data());
  ASSERT_TRUE(result) << shape.name << ": " << result.error().message << "\n" << text;
  EXPECT_TRUE(equal(shape, value.data(), read.data())) << shape.name << "\n" << text;
  std::string again;
  print_to(again, shape, read.data());
  EXPECT_EQ(text, again) << shape.name;

  const auto document = json::parse(text, {.max_depth = 64});
  ASSERT_TRUE(document) << shape.name << ": " << document.error().message;
  Any read_from_value = Any::create(shape);
  ASSERT_TRUE(parse_into(*document, shape, read_from_value.data()));
  EXPECT_TRUE(equal(shape, value.data(), read_from_value.data())) << shape.name << "\n" << text;
}

void expect_all_round_trip(const Service& service) {
  for (const Operation& operation : service.operations) {
    for (uint64_t seed = 0; seed < rounds; ++seed) {
      expect_round_trip(*operation.input, seed);
      expect_round_trip(*operation.output, seed);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(api_round_trip, every_ecs_shape_comes_back_from_its_json) {
  EXPECT_GE(ecs_service().operations.size(), 77U);
  expect_all_round_trip(ecs_service());
}

TEST(api_round_trip, every_logs_shape_comes_back_from_its_json) {
  EXPECT_GE(logs_service().operations.size(), 15U);
  expect_all_round_trip(logs_service());
}

TEST(api_round_trip, every_sts_shape_comes_back_from_its_json) {
  EXPECT_EQ(sts_service().operations.size(), 11U);
  expect_all_round_trip(sts_service());
}

TEST(api_round_trip, a_single_changed_member_is_unequal) {
  const Shape& shape = *find(ecs_service(), "DescribeTasks")->output;
  base::Random random(3);
  Any left = Any::create(shape);
  testing::fill_random(shape, Range(), left.data(), random, depth);
  const auto copy = [&] {
    Any right = Any::create(shape);
    std::string text;
    print_to(text, shape, left.data());
    EXPECT_TRUE(parse_into(text, shape, right.data()));
    return right;
  };
  Any right = copy();
  ASSERT_TRUE(equal(shape, left.data(), right.data()));
  const Member* tasks = find_member(shape, "tasks");
  ASSERT_NE(tasks, nullptr);
  void* list = make_member_value(*tasks, right.data());
  tasks->shape->list->append(list);
  EXPECT_FALSE(equal(shape, left.data(), right.data()));
}

std::string form_path(const std::string& path, const Member& member, Protocol protocol) {
  const bool other = protocol == Protocol::Ec2Query && !member.form_name.empty();
  return (path.empty() ? "" : path + ".") + std::string(other ? member.form_name : member.name);
}

// Writes a value as a client writes a form body.
void append_form(std::string& out, const std::string& path, const Shape& shape, const void* value,
                 Protocol protocol) {
  const auto encoded = [](std::string_view text) {
    std::string hex;
    for (const char byte : text) {
      constexpr std::string_view digits = "0123456789ABCDEF";
      hex += '%';
      hex += digits[static_cast<unsigned char>(byte) >> 4U];
      hex += digits[static_cast<unsigned char>(byte) & 0xFU];
    }
    return hex;
  };
  if (shape.kind == Kind::Structure) {
    const size_t before = out.size();
    for (const Member& member : shape.members) {
      if (!has_value(member, value)) continue;
      append_form(out, form_path(path, member, protocol), *member.shape,
                  member_value(member, value), protocol);
    }
    if (out.size() == before && !path.empty()) out += path + "=&";
  } else if (shape.kind == Kind::List) {
    const auto* item = static_cast<const std::byte*>(shape.list->data(value));
    const size_t size = shape.list->size(value);
    if (size == 0) out += path + "=&";
    for (size_t index = size; index > 0; --index) {  // Backwards: the number decides.
      append_form(out,
                  path + (protocol == Protocol::Query ? ".member." : ".") + std::to_string(index),
                  *shape.element, item + (index - 1) * shape.element->size, protocol);
    }
  } else if (shape.kind == Kind::Enum) {
    out += path + "=" + encoded(enum_name(shape, load_integer(shape, value))) + "&";
  } else if (shape.kind == Kind::String) {
    out += path + "=" + encoded(shape.string->get(value)) + "&";
  } else {
    std::string json;
    print_to(json, shape, value);
    out += path + "=" + encoded(json) + "&";
  }
}

void expect_forms_round_trip(const Service& service) {
  for (const Operation& operation : service.operations) {
    for (uint64_t seed = 0; seed < rounds; ++seed) {
      base::Random random(seed);
      Any value = Any::create(*operation.input);
      testing::fill_random(*operation.input, Range(), value.data(), random, depth);
      std::string form = "Action=" + std::string(operation.name) +
                         "&Version=" + std::string(service.api_version) + "&";
      append_form(form, "", *operation.input, value.data(), service.protocol);

      const auto request = parse_query(form);
      ASSERT_TRUE(request) << request.error().message;
      EXPECT_EQ(request->action, operation.name);
      EXPECT_EQ(request->version, service.api_version);
      Any read = Any::create(*operation.input);
      const auto result = parse_into(*request, *operation.input, read.data(), {}, service.protocol);
      ASSERT_TRUE(result) << operation.name << ": " << result.error().message << "\n" << form;
      EXPECT_TRUE(equal(*operation.input, value.data(), read.data())) << operation.name << "\n"
                                                                      << form;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(api_round_trip, every_sts_request_comes_back_from_its_form) {
  expect_forms_round_trip(sts_service());
}

TEST(api_round_trip, every_auto_scaling_request_comes_back_from_its_form) {
  EXPECT_GE(autoscaling_service().operations.size(), 20U);
  expect_forms_round_trip(autoscaling_service());
}

TEST(api_round_trip, every_ec2_request_comes_back_from_its_form) {
  EXPECT_GE(ec2_service().operations.size(), 11U);
  expect_forms_round_trip(ec2_service());
}

TEST(api_round_trip, every_auto_scaling_and_ec2_shape_comes_back_from_its_json) {
  expect_all_round_trip(autoscaling_service());
  expect_all_round_trip(ec2_service());
}

}  // namespace
}  // namespace api
