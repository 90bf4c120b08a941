#include "placement/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"
#include "placement/replay/generator.h"
#include "placement/replay/report.h"

namespace placement::replay {
namespace {

using ::testing::HasSubstr;

const std::string nodes_header = "sn,cpu_milli,memory_mib,gpu,model\n";
const std::string pods_header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

TEST(Trace, columns_are_found_by_name_and_others_ignored) {
  const auto nodes =
      parse_nodes("model,more,gpu,sn,memory_mib,cpu_milli\r\nT4,x,2,a,1024,8000\r\n");
  ASSERT_TRUE(nodes.has_value());
  EXPECT_EQ(nodes->at(0), (TraceNode{"a", 8000, 1024, 2, "T4"}));
  const auto pods = parse_pods(pods_header + "p,500,64,1,250,T4|P100\n\nq,500,64,0,0,\n");
  ASSERT_TRUE(pods.has_value());
  EXPECT_EQ(pods->at(0), (TracePod{"p", 500, 64, 1, 250, {"T4", "P100"}}));
  EXPECT_EQ(pods->at(1), (TracePod{"q", 500, 64, 0, 0, {}}));
}

TEST(Trace, pods_without_a_column_of_models_take_any) {
  const auto pods = parse_pods(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos\np,500,64,1,250,LS\nq,500,64,2,1000,BE\n");
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  EXPECT_EQ(pods->at(0), (TracePod{"p", 500, 64, 1, 250, {}}));
  EXPECT_EQ(pods->at(1), (TracePod{"q", 500, 64, 2, 1000, {}}));
}

TEST(Trace, errors_name_the_file_the_line_and_the_column) {
  const std::pair<std::string, std::string> nodes[] = {
      {"", "The nodes file is empty"},
      {"sn,cpu_milli\n", "names no column 'memory_mib'"},
      {nodes_header + "a,1,2,x,T4\n",
       "Line 2 of the nodes file, column gpu: expected a whole "
       "number from 0 to 1024, found 'x'."},
      {nodes_header + "a,1,2,3,T4\n\nb,-1,2,3,T4\n",
       "Line 4 of the nodes file, column cpu_milli: expected a whole number"},
      {nodes_header + "a,1.5,2,3,T4\n", "column cpu_milli"},
      {nodes_header + "a,1,99999999999999999999,3,T4\n", "column memory_mib"},
      {nodes_header + "a,1,2,1025,T4\n", "column gpu"},
      {nodes_header + "a,1,2\n", "column gpu: is missing: the line has 3 fields."},
      {nodes_header + "a,1,2,3,T'4\n", "Line 2 of the nodes file, column model: a name has no"},
  };
  for (const auto& [csv, part] : nodes) {
    const auto parsed = parse_nodes(csv);
    ASSERT_FALSE(parsed.has_value()) << csv;
    EXPECT_EQ(parsed.error().code, "InvalidParameterException");
    EXPECT_THAT(parsed.error().message, HasSubstr(part)) << csv;
  }
  const std::pair<std::string, std::string> pods[] = {
      {"name\n",
       "The first line of the pods file names no column 'cpu_milli'; it needs name, "
       "cpu_milli, memory_mib, num_gpu, gpu_milli."},
      {pods_header + "p,1,1,1,0,\n", "Line 2 of the pods file, column gpu_milli: a task with GPUs"},
      {pods_header + "p,1,1,2,500,\n", "column gpu_milli: a task with several GPUs"},
      {pods_header + "p,1,1,1,1001,\n", "column gpu_milli: expected a whole number from 0 to 1000"},
      {pods_header + "p,1,1,1,1000\n", "column gpu_spec: is missing"},
      {pods_header + "p,1,1,1,1000,a|b\"\n", "column gpu_spec: a name has no"},
  };
  for (const auto& [csv, part] : pods) {
    const auto parsed = parse_pods(csv);
    ASSERT_FALSE(parsed.has_value()) << csv;
    EXPECT_THAT(parsed.error().message, HasSubstr(part)) << csv;
  }
}

TEST(Trace, times_are_of_the_pods_and_begin_when_a_task_was_scheduled) {
  const std::string header = "name,creation_time,deletion_time,scheduled_time\n";
  const auto times = parse_times(header + "a,10,50,20\nb,10,50,\nc,10,10,10\n");
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(*times, (std::vector<TraceTime>{{10, 30}, {10, 40}, {10, 0}}));
  const auto backwards = parse_times(header + "a,10,50,20\nb,10,15,20\n");
  ASSERT_FALSE(backwards.has_value());
  EXPECT_THAT(
      backwards.error().message,
      HasSubstr("Line 3 of the pods file, column deletion_time: a task ends after it began"));
  EXPECT_FALSE(parse_times(pods_header).has_value());
}

TEST(Trace, made_up_times_go_forward_and_a_few_tasks_run_far_longer_than_most) {
  const auto times = generate_times(2000, 7);
  EXPECT_EQ(times, generate_times(2000, 7));
  EXPECT_TRUE(std::ranges::is_sorted(times, {}, &TraceTime::arrived_s));
  EXPECT_TRUE(std::ranges::all_of(times, [](const TraceTime& one) { return one.ran_s > 0; }));
  const auto brief =
      std::ranges::count_if(times, [](const TraceTime& one) { return one.ran_s < 600; });
  EXPECT_GT(brief, 700);
  EXPECT_LT(brief, 1000);
}

RC_GTEST_PROP(Trace, what_is_printed_reads_back_as_the_same, (uint16_t seed)) {
  Shape shape;
  shape.instances = 20;
  shape.tasks = 100;
  shape.constrained_percent = 30;
  shape.several_gpus_percent = 20;
  shape.seed = seed;
  const Trace trace = generate(shape);
  RC_ASSERT(parse_nodes(print_nodes(trace.nodes)).value() == trace.nodes);
  RC_ASSERT(parse_pods(print_pods(trace.pods)).value() == trace.pods);
}

// Two instances with 2 GPUs each; what happens is followed by hand.
const std::vector<TraceNode> two_nodes = {{"a", 8000, 32768, 2, "T4"},
                                          {"b", 4000, 32768, 2, "P100"}};

Options given(Policy policy = Policy::Berth) {
  Options options;
  options.policy = policy;
  options.order = Order::Given;
  return options;
}

TEST(Replay, a_small_trace_followed_by_hand) {
  const std::vector<TracePod> pods = {
      {"whole pair, on the T4s", 1000, 1024, 2, 1000, {"T4"}},       // 50 % arrived and held.
      {"no T4 is left", 1000, 1024, 1, 1000, {"T4"}},                // 75 %, 50 %.
      {"half of a P100", 1000, 1024, 1, 500, {}},                    // 87.5 %, 62.5 %.
      {"no GPU, and too much CPU", 8000, 1024, 0, 0, {}},            // As before.
      {"the same P100 is filled up", 1000, 1024, 1, 500, {"P100"}},  // 100 %, 75 %.
      {"too much memory", 1000, 65536, 1, 1000, {}},                 // 125 %, 75 %.
      {"the last card", 1000, 1024, 1, 1000, {}},                    // 150 %, 100 %.
  };
  for (const Policy policy : {Policy::Berth, Policy::Fgd, Policy::BestFit}) {
    const auto result = run(two_nodes, pods, given(policy));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->instances, 2);
    EXPECT_EQ(result->gpus, 4);
    EXPECT_EQ(result->tasks, 7);
    EXPECT_EQ(result->placed, 4) << to_string(policy);
    EXPECT_EQ(result->unplaced.at("RESOURCE:CPU"), 1);
    EXPECT_EQ(result->unplaced.at("RESOURCE:MEMORY"), 1);
    std::vector<std::pair<int32_t, double>> points;
    for (const Point& point : result->points) {
      points.emplace_back(point.arrived_percent, point.allocation_percent);
    }
    EXPECT_EQ(points, (std::vector<std::pair<int32_t, double>>{
                          {50, 50}, {75, 50}, {88, 62.5}, {100, 75}, {125, 75}, {150, 100}}));
    EXPECT_EQ(point_at(*result, 100)->allocation_percent, 75);
    EXPECT_EQ(point_at(*result, 130)->allocation_percent, 75);  // As after the arrival before.
    EXPECT_EQ(point_at(*result, 151), nullptr);
    EXPECT_EQ(point_at(*result, 49), nullptr);
  }
}

TEST(Replay, what_cannot_be_replayed_is_an_error) {
  const std::vector<TracePod> one = {{"p", 1, 1, 1, 1000, {}}};
  EXPECT_FALSE(run({{"a", 1, 1, 0, ""}}, one, {}).has_value());
  EXPECT_FALSE(run({}, one, {}).has_value());
  EXPECT_FALSE(run(two_nodes, {}, {}).has_value());
  std::vector<TraceNode> many(100'000, TraceNode{"a", 8000, 32768, 8, "T4"});
  const auto refused = run(many, {{"p", 1, 1, 1, 1, {}}}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("order 'given'"));
}

TEST(Replay, a_seed_comes_to_130_percent_also_where_one_task_is_a_quarter_of_the_cluster) {
  const auto result = run(two_nodes, {{"p", 1, 1, 1, 1000, {}}}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->points.back().arrived_percent, 125);
  ASSERT_NE(point_at(*result, 130), nullptr);
  EXPECT_EQ(point_at(*result, 130)->allocation_percent, 100);
}

TEST(Replay, tasks_without_gpus_alone_have_a_result_too) {
  const auto result = run(two_nodes, {{"p", 4000, 1, 0, 0, {}}, {"q", 9000, 1, 0, 0, {}}}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->placed, 1);
  EXPECT_EQ(point_at(*result, 100), nullptr);
}

Trace small_trace(uint64_t seed) {
  Shape shape;
  shape.instances = 40;
  shape.tasks = 300;
  shape.constrained_percent = 20;
  shape.several_gpus_percent = 10;
  shape.seed = seed;
  return generate(shape);
}

RC_GTEST_PROP(Replay, the_same_seed_gives_the_same_result_and_never_more_than_there_is,
              (uint8_t seed)) {
  const Trace trace = small_trace(seed);
  for (const Policy policy : {Policy::Berth, Policy::Fgd, Policy::BestFit, Policy::Random}) {
    Options options;
    options.policy = policy;
    options.seed = seed;
    const auto first = run(trace.nodes, trace.pods, options);
    const auto again = run(trace.nodes, trace.pods, options);
    RC_ASSERT(first.has_value() && again.has_value());
    RC_ASSERT(print_json(*first) == print_json(*again));
    int64_t unplaced = 0;
    for (const auto& [reason, count] : first->unplaced) unplaced += count;
    RC_ASSERT(first->placed + unplaced == first->tasks);
    for (const Point& point : first->points) {
      RC_ASSERT(point.allocation_percent <= 100.0001);
      RC_ASSERT(point.allocation_percent + point.fragmentation_percent <= 100.0001);
    }
  }
}

TEST(Replay, another_seed_is_another_run_and_only_that) {
  const Trace trace = small_trace(1);
  Options options;
  const auto first = run(trace.nodes, trace.pods, options);
  options.seed = 43;
  const auto second = run(trace.nodes, trace.pods, options);
  EXPECT_NE(print_csv({*first}), print_csv({*second}));
  EXPECT_EQ(first->gpus, second->gpus);
}

TEST(Arrivals, given_takes_the_rows_and_seed_comes_to_130_percent) {
  const Trace trace = small_trace(3);
  base::Random random(1);
  const auto rows = arrivals(trace.nodes, trace.pods, Order::Given, random);
  ASSERT_EQ(rows.size(), trace.pods.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i);

  int64_t capacity = 0;
  for (const TraceNode& node : trace.nodes) capacity += 1000 * int64_t{node.gpus};
  int64_t arrived = 0;
  int64_t largest = 0;
  for (const size_t pod : arrivals(trace.nodes, trace.pods, Order::Seed, random)) {
    const int64_t milli = int64_t{trace.pods[pod].gpus} * trace.pods[pod].gpu_milli;
    arrived += milli;
    largest = std::max(largest, milli);
  }
  EXPECT_LE(arrived, capacity * 13 / 10 + largest);
  EXPECT_GT(arrived, capacity * 13 / 10 - largest);
}

TEST(Replay, tells_how_far_it_is) {
  const Trace trace = small_trace(1);
  std::vector<size_t> told;
  Options options = given();
  options.on_progress = [&](size_t done, size_t all) {
    EXPECT_EQ(all, trace.pods.size());
    told.push_back(done);
  };
  ASSERT_TRUE(run(trace.nodes, trace.pods, options).has_value());
  EXPECT_GE(told.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(told));
}

Result made_up() {
  Result result;
  result.policy = Policy::Fgd;
  result.order = Order::Seed;
  result.seed = 7;
  result.instances = 2;
  result.gpus = 4;
  result.tasks = 5;
  result.placed = 4;
  result.unplaced = {{"RESOURCE:GPU", 1}};
  result.points = {{0, 0, 12.5}, {10, 10, 10}, {100, 93.75, 6.25}};
  return result;
}

TEST(Report, as_a_table) {
  EXPECT_EQ("\n" + print_table(made_up()), R"text(
trace         from files
policy        fgd
order         seed 7
instances     2 with 4 GPUs
tasks         4 placed of 5
  unplaced    1 RESOURCE:GPU
allocation    93.75 % at 100 % arrived, - at 130 %

arrived %   allocated %   fragments %
        0          0.00         12.50
       10         10.00         10.00
      100         93.75          6.25
)text");
  Result ends_early = made_up();
  ends_early.points.pop_back();
  EXPECT_THAT(print_table(ends_early),
              HasSubstr("- at 100 % arrived, - at 130 %; 10.00 % at the end, 10 % arrived\n"));
  Result generated = made_up();
  generated.generated = true;
  EXPECT_THAT(print_table(generated), HasSubstr("GENERATED"));
}

TEST(Report, as_json_and_csv) {
  EXPECT_EQ(
      print_json(made_up()),
      R"({"generated":false,"policy":"fgd","order":"seed","seed":7,"instances":2,"gpus":4,)"
      R"("tasks":5,"placed":4,"unplaced":{"RESOURCE:GPU":1},"allocation_at_100":93.7500,)"
      R"("allocation_at_130":null,"decisions_per_second":0,"p50_us":0.00,"p99_us":0.00,)"
      R"("points":[{"arrived_percent":0,"allocation_percent":0.0000,)"
      R"("fragmentation_percent":12.5000},{"arrived_percent":10,"allocation_percent":10.0000,)"
      R"("fragmentation_percent":10.0000},{"arrived_percent":100,"allocation_percent":93.7500,)"
      R"("fragmentation_percent":6.2500}]})");
  EXPECT_EQ(print_csv({made_up()}),
            "policy,arrived_percent,allocation_percent,fragmentation_percent\n"
            "fgd,0,0.0000,12.5000\nfgd,10,10.0000,10.0000\nfgd,100,93.7500,6.2500\n");
}

TEST(Report, as_a_plot_with_two_lines_a_policy) {
  const std::string svg = print_svg({made_up(), made_up()});
  size_t lines = 0;
  for (size_t at = svg.find("<polyline"); at != std::string::npos;
       at = svg.find("<polyline", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 4U);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("fgd: 93.75 % at 100 %"));
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("generated")));
}

TEST(Generator, has_the_shape_that_it_was_asked_for) {
  Shape shape;
  shape.tasks = 10'000;
  shape.constrained_percent = 33;
  const Trace trace = generate(shape);
  double cpu_only = 0;
  double sharing = 0;
  double several = 0;
  double constrained = 0;
  for (const TracePod& pod : trace.pods) {
    cpu_only += pod.gpus == 0;
    sharing += pod.gpus == 1 && pod.gpu_milli < 1000;
    several += pod.gpus > 1;
    constrained += !pod.models.empty();
  }
  EXPECT_NEAR(cpu_only / 100, shape.cpu_only_percent, 1.5);
  EXPECT_NEAR(sharing / 100, shape.sharing_percent, 1.5);
  EXPECT_NEAR(several / 100, shape.several_gpus_percent, 0.5);
  EXPECT_NEAR(100 * constrained / (10'000 - cpu_only), shape.constrained_percent, 1.5);
  EXPECT_EQ(generate(shape).pods, trace.pods);
}

}  // namespace
}  // namespace placement::replay
