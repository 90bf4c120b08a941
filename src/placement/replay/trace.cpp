#include "placement/replay/trace.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "model/resources.h"

namespace placement::replay {
namespace {

constexpr int64_t most_amount = int64_t{1} << 40;
constexpr int64_t most_gpus = 1024;

std::unexpected<base::Error> invalid(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The rows of a file, by column name.
class Table {
 public:
  // A file need not have the `optional` columns, which come after the others: name() is empty
  // there.
  static base::Result<Table> create(std::string_view csv, std::string_view what,
                                    const std::vector<std::string_view>& columns,
                                    const std::vector<std::string_view>& optional = {}) {
    Table table;
    table.what_ = what;
    table.columns_ = columns;
    table.columns_.insert(table.columns_.end(), optional.begin(), optional.end());
    table.rest_ = csv;
    if (!table.next_line()) {
      return invalid(base::format("The {} file is empty; its first line names the columns.", what));
    }
    const std::vector<std::string_view> header = split(table.line_, ',');
    for (const std::string_view column : columns) {
      const auto found = std::ranges::find(header, column);
      if (found == header.end()) {
        return invalid(
            base::format("The first line of the {} file names no column '{}'; it needs {}.", what,
                         column, base::join(columns, ", ")));
      }
      table.positions_.push_back(static_cast<size_t>(found - header.begin()));
    }
    for (const std::string_view column : optional) {
      const auto found = std::ranges::find(header, column);
      table.positions_.push_back(
          found == header.end() ? absent : static_cast<size_t>(found - header.begin()));
    }
    return table;
  }

  // False at the end. Blank lines are skipped.
  bool next_row() {
    while (next_line()) {
      if (line_.empty()) continue;
      fields_ = split(line_, ',');
      return true;
    }
    return false;
  }

  base::Result<std::string_view> text(size_t column) const {
    if (positions_[column] < fields_.size()) return fields_[positions_[column]];
    return error(column, base::format("is missing: the line has {} fields", fields_.size()));
  }

  // A name that can stand between quotes of an expression.
  base::Result<std::string_view> name(size_t column) const {
    if (positions_[column] == absent) return std::string_view();
    const std::string_view field = TRY(text(column));
    for (const char c : field) {
      if (c == '\'' || c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
        return error(column, "a name has no quotes, backslashes and control characters");
      }
    }
    return field;
  }

  // An empty field is 0.
  base::Result<int64_t> number(size_t column, int64_t most) const {
    const std::string_view field = TRY(text(column));
    if (field.empty()) return 0;
    const int64_t value = base::parse_number<int64_t>(field).value_or(-1);
    if (value < 0 || value > most) {
      return error(column, base::format("expected a whole number from 0 to {}, found '{}'", most,
                                        field.substr(0, 40)));
    }
    return value;
  }

  std::unexpected<base::Error> error(size_t column, std::string_view sentence) const {
    return invalid(base::format("Line {} of the {} file, column {}: {}.", line_number_, what_,
                                columns_[column], sentence));
  }

 private:
  bool next_line() {
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_number_;
    return true;
  }

  static constexpr size_t absent = std::string_view::npos;

  std::string_view what_;
  std::vector<std::string_view> columns_;
  std::vector<size_t> positions_;
  std::string_view rest_;
  std::string_view line_;
  std::vector<std::string_view> fields_;
  size_t line_number_ = 0;
};

base::Result<TracePod> pod_of(const Table& table) {
  enum Column : size_t { Name, Cpu, Memory, Gpus, GpuMilli, GpuSpec };
  TracePod pod;
  pod.name = TRY(table.text(Name));
  pod.cpu_milli = TRY(table.number(Cpu, most_amount));
  pod.memory_mib = TRY(table.number(Memory, most_amount));
  pod.gpus = static_cast<int32_t>(TRY(table.number(Gpus, most_gpus)));
  pod.gpu_milli = static_cast<int32_t>(TRY(table.number(GpuMilli, model::whole_gpu_milli)));
  if (pod.gpus == 0) {
    pod.gpu_milli = 0;
  } else if (pod.gpu_milli == 0) {
    return table.error(GpuMilli, "a task with GPUs asks for 1 to 1000 thousandths of each");
  } else if (pod.gpus > 1 && pod.gpu_milli < model::whole_gpu_milli) {
    return table.error(GpuMilli, "a task with several GPUs asks for 1000 thousandths of each");
  }
  for (const std::string_view model : split(TRY(table.name(GpuSpec)), '|')) {
    if (!model.empty()) pod.models.emplace_back(model);
  }
  return pod;
}

}  // namespace

base::Result<std::vector<TraceNode>> parse_nodes(std::string_view csv) {
  Table table = TRY(Table::create(csv, "nodes", {"sn", "cpu_milli", "memory_mib", "gpu", "model"}));
  std::vector<TraceNode> nodes;
  while (table.next_row()) {
    TraceNode& node = nodes.emplace_back();
    node.name = TRY(table.text(0));
    node.cpu_milli = TRY(table.number(1, most_amount));
    node.memory_mib = TRY(table.number(2, most_amount));
    node.gpus = static_cast<int32_t>(TRY(table.number(3, most_gpus)));
    node.model = TRY(table.name(4));
  }
  return nodes;
}

base::Result<std::vector<TracePod>> parse_pods(std::string_view csv) {
  Table table = TRY(Table::create(
      csv, "pods", {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, {"gpu_spec"}));
  std::vector<TracePod> pods;
  while (table.next_row()) pods.push_back(TRY(pod_of(table)));
  return pods;
}

base::Result<std::vector<TraceTime>> parse_times(std::string_view csv) {
  enum Column : size_t { Created, Deleted, Scheduled };
  Table table =
      TRY(Table::create(csv, "pods", {"creation_time", "deletion_time", "scheduled_time"}));
  std::vector<TraceTime> times;
  while (table.next_row()) {
    TraceTime& time = times.emplace_back();
    time.arrived_s = TRY(table.number(Created, most_amount));
    const int64_t scheduled = TRY(table.number(Scheduled, most_amount));
    const int64_t ended = TRY(table.number(Deleted, most_amount));
    const int64_t began = scheduled > time.arrived_s ? scheduled : time.arrived_s;
    if (ended < began) return table.error(Deleted, "a task ends after it began");
    time.ran_s = ended - began;
  }
  return times;
}

std::string print_nodes(const std::vector<TraceNode>& nodes) {
  std::string csv = "sn,cpu_milli,memory_mib,gpu,model\n";
  for (const TraceNode& node : nodes) {
    csv += base::format("{},{},{},{},{}\n", node.name, node.cpu_milli, node.memory_mib, node.gpus,
                        node.model);
  }
  return csv;
}

std::string print_pods(const std::vector<TracePod>& pods) {
  std::string csv = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (const TracePod& pod : pods) {
    csv += base::format("{},{},{},{},{},{}\n", pod.name, pod.cpu_milli, pod.memory_mib, pod.gpus,
                        pod.gpu_milli, base::join(pod.models, "|"));
  }
  return csv;
}

}  // namespace placement::replay
