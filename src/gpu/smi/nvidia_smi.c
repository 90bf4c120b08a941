// The nvidia-smi of an emulated container: lists the GPUs that the container was given, and says
// that they are emulated. A static program, since it runs in whatever image the user brings.
//
// It reads /run/berth/gpus, written by the agent (src/gpu/emulated/emulated_devices.cpp):
//   berth-gpus <TAB> 1
//   driver <TAB> 570.133.20 <TAB> 12.8
//   gpu <TAB> <N of /dev/nvidiaN> <TAB> UUID <TAB> name <TAB> memory MiB <TAB> PCI bus id
// A GPU whose device node is not in the container is not listed: the node is what a container has.
// Exit codes are those of NVIDIA's program: 2 wrong usage, 6 no such device, 9 no driver.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// Where "/" is; a test builds this program with a directory of its own.
#ifndef BERTH_ROOT
#define BERTH_ROOT ""
#endif

enum { max_gpus = 64, max_fields = 64, exit_usage = 2, exit_no_device = 6, exit_no_driver = 9 };

struct gpu {
  char minor[16];
  char uuid[64];
  char name[64];
  char memory_mib[16];
  char bus_id[32];
};

static struct gpu gpus[max_gpus];
static int gpu_count;
static char driver[32], cuda[16];

// Copies the next tab-separated word of *line and moves on; an absent word is empty.
static void take(char** line, char* word, size_t size) {
  size_t length = strcspn(*line, "\t\n");
  snprintf(word, size, "%.*s", (int)length, *line);
  *line += length;
  if (**line == '\t') ++*line;
}

static int has_node(const struct gpu* gpu) {
  char path[64];
  struct stat node;
  snprintf(path, sizeof path, BERTH_ROOT "/dev/nvidia%s", gpu->minor);
  return stat(path, &node) == 0 && S_ISCHR(node.st_mode);
}

static int read_gpus(const char* path) {
  char text[512], kind[16];
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(text, sizeof text, file) != NULL) {
    char* line = text;
    take(&line, kind, sizeof kind);
    if (strcmp(kind, "driver") == 0) {
      take(&line, driver, sizeof driver);
      take(&line, cuda, sizeof cuda);
    } else if (strcmp(kind, "gpu") == 0 && gpu_count < max_gpus) {
      struct gpu* gpu = &gpus[gpu_count];
      take(&line, gpu->minor, sizeof gpu->minor);
      take(&line, gpu->uuid, sizeof gpu->uuid);
      take(&line, gpu->name, sizeof gpu->name);
      take(&line, gpu->memory_mib, sizeof gpu->memory_mib);
      take(&line, gpu->bus_id, sizeof gpu->bus_id);
      gpu_count += has_node(gpu);
    }
  }
  fclose(file);
  return 1;
}

// `wanted` is a list as -i takes it: indexes, UUIDs or bus ids; NULL is all.
static int is_wanted(const char* wanted, int index) {
  if (wanted == NULL) return 1;
  char number[16];
  snprintf(number, sizeof number, "%d", index);
  while (*wanted != '\0') {
    size_t length = strcspn(wanted, ",");
    const char* names[] = {number, gpus[index].uuid, gpus[index].bus_id};
    for (int i = 0; i < 3; ++i) {
      if (strlen(names[i]) == length && strncmp(wanted, names[i], length) == 0) return 1;
    }
    wanted += length + (wanted[length] == ',');
  }
  return 0;
}

static void print_table(const char* wanted) {
  const char* wide =
      "+-----------------------------------------------------------------------------------------+";
  const char* split =
      "+-----------------------------------------+------------------------+----------------------+";
  char now[64];
  time_t seconds = time(NULL);
  strftime(now, sizeof now, "%a %b %e %H:%M:%S %Y", gmtime(&seconds));
  printf("%s\n%s\n", now, wide);
  printf("| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s |\n", driver, driver, cuda);
  printf("| %-87s |\n",
         "EMULATED by Berth: no silicon behind these GPUs, CUDA does not run on them.");
  printf("|%.89s|\n", split + 1);
  printf(
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|\n"
      "|                                         |                        |               MIG M. "
      "|\n"
      "|=========================================+========================+======================|"
      "\n");
  for (int i = 0; i < gpu_count; ++i) {
    if (!is_wanted(wanted, i)) continue;
    printf("| %3d  %-27.27s    On  | %18s Off |                    0 |\n", i, gpus[i].name,
           gpus[i].bus_id);
    printf("| N/A   N/A    P0             N/A /  N/A  | %7dMiB / %6sMiB | %6d%%      Default |\n",
           0, gpus[i].memory_mib, 0);
    printf(
        "|                                         |                        |                  N/A "
        "|\n");
    printf("%s\n", split);
  }
  printf("\n%s\n", wide);
  printf("| %-87s |\n", "Processes:");
  printf("| %-87s |\n",
         " GPU   GI   CI              PID   Type   Process name                        GPU Memory");
  printf("| %-87s |\n",
         "       ID   ID                                                               Usage");
  printf(
      "|=========================================================================================|"
      "\n");
  printf("| %-87s |\n%s\n", " No running processes found", wide);
}

static void print_list(const char* wanted) {
  for (int i = 0; i < gpu_count; ++i) {
    if (is_wanted(wanted, i)) {
      printf("GPU %d: %s (UUID: %s) [EMULATED]\n", i, gpus[i].name, gpus[i].uuid);
    }
  }
}

struct field {
  const char* name;
  const char* unit;   // Empty: none.
  const char* value;  // NULL: of the GPU, see field_value.
};

static const struct field fields[] = {
    {"index", "", NULL},
    {"name", "", NULL},
    {"gpu_name", "", NULL},
    {"uuid", "", NULL},
    {"gpu_uuid", "", NULL},
    {"pci.bus_id", "", NULL},
    {"gpu_bus_id", "", NULL},
    {"count", "", NULL},
    {"driver_version", "", NULL},
    {"memory.total", "MiB", NULL},
    {"memory.free", "MiB", NULL},
    {"memory.used", "MiB", "0"},
    {"memory.reserved", "MiB", "0"},
    {"utilization.gpu", "%", "0"},
    {"utilization.memory", "%", "0"},
    {"pstate", "", "P0"},
    {"compute_mode", "", "Default"},
    {"persistence_mode", "", "Enabled"},
    {"display_active", "", "Disabled"},
    {"mig.mode.current", "", "[N/A]"},
    {"temperature.gpu", "", "[N/A]"},
    {"fan.speed", "", "[N/A]"},
    {"power.draw", "", "[N/A]"},
    {"power.limit", "", "[N/A]"},
};
enum { field_count = sizeof fields / sizeof fields[0] };

static const char* field_value(const struct field* field, int index) {
  static char number[16];
  if (field->value != NULL) return field->value;
  if (strcmp(field->name, "index") == 0) {
    snprintf(number, sizeof number, "%d", index);
    return number;
  }
  if (strcmp(field->name, "count") == 0) {
    snprintf(number, sizeof number, "%d", gpu_count);
    return number;
  }
  if (strcmp(field->name, "driver_version") == 0) return driver;
  if (strstr(field->name, "uuid") != NULL) return gpus[index].uuid;
  if (strstr(field->name, "bus_id") != NULL) return gpus[index].bus_id;
  if (strstr(field->name, "name") != NULL) return gpus[index].name;
  return gpus[index].memory_mib;
}

static const struct field* find_field(const char* name, size_t length) {
  for (int i = 0; i < field_count; ++i) {
    if (strlen(fields[i].name) == length && strncmp(fields[i].name, name, length) == 0) {
      return &fields[i];
    }
  }
  return NULL;
}

static int print_query(const char* query, const char* format, const char* wanted) {
  const struct field* chosen[max_fields];
  int count = 0, header = 1, units = 1, csv = 0;
  for (const char* at = query; *at != '\0' && count < max_fields;) {
    at += strspn(at, " ");
    size_t length = strcspn(at, ",");
    size_t word = length;
    while (word > 0 && at[word - 1] == ' ') --word;
    chosen[count] = find_field(at, word);
    if (chosen[count++] == NULL) {
      printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)word, at);
      fprintf(stderr, "The emulated nvidia-smi knows:");
      for (int i = 0; i < field_count; ++i) fprintf(stderr, " %s", fields[i].name);
      fprintf(stderr, "\n");
      return exit_usage;
    }
    at += length + (at[length] == ',');
  }
  for (const char* at = format; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ",");
    if (length == 3 && strncmp(at, "csv", 3) == 0) {
      csv = 1;
    } else if (length == 8 && strncmp(at, "noheader", 8) == 0) {
      header = 0;
    } else if (length == 7 && strncmp(at, "nounits", 7) == 0) {
      units = 0;
    } else {
      fprintf(stderr, "\"--format=\" has unknown part \"%.*s\".\n", (int)length, at);
      return exit_usage;
    }
    at += length + (at[length] == ',');
  }
  if (!csv || count == 0) {
    fprintf(stderr, "%s\n",
            count == 0 ? "\"--query-gpu=\" needs at least one field."
                       : "\"--format=\" must contain \"csv\".");
    return exit_usage;
  }
  for (int i = 0; header && i < count; ++i) {
    printf("%s%s", i > 0 ? ", " : "", chosen[i]->name);
    if (units && chosen[i]->unit[0] != '\0') printf(" [%s]", chosen[i]->unit);
  }
  if (header) printf("\n");
  for (int gpu = 0; gpu < gpu_count; ++gpu) {
    if (!is_wanted(wanted, gpu)) continue;
    for (int i = 0; i < count; ++i) {
      printf("%s%s", i > 0 ? ", " : "", field_value(chosen[i], gpu));
      if (units && chosen[i]->unit[0] != '\0') printf(" %s", chosen[i]->unit);
    }
    printf("\n");
  }
  return 0;
}

static void print_help(void) {
  printf(
      "NVIDIA System Management Interface, EMULATED by Berth: it lists the emulated GPUs of this\n"
      "container. No silicon stands behind them and CUDA does not run on them.\n\n"
      "    nvidia-smi                     A table of the GPUs.\n"
      "    nvidia-smi -L                  A line for each GPU.\n"
      "    nvidia-smi --query-gpu=FIELD,...  --format=csv[,noheader][,nounits]\n"
      "    -i, --id=ID,...                Only these: index, UUID or PCI bus id.\n"
      "    -h, --help                     This text.\n\n"
      "Fields:");
  for (int i = 0; i < field_count; ++i) printf(" %s", fields[i].name);
  printf("\n");
}

struct options {
  const char *query, *format, *wanted;
  int list, help;
};

// The value of --name=value when `argument` is that, or NULL.
static const char* value_of(const char* argument, const char* name) {
  size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                         : NULL;
}

static int parse(int count, char** arguments, struct options* options) {
  for (int i = 1; i < count; ++i) {
    const char *argument = arguments[i], *value;
    if (strcmp(argument, "-L") == 0 || strcmp(argument, "--list-gpus") == 0) {
      options->list = 1;
    } else if (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0) {
      options->help = 1;
    } else if ((value = value_of(argument, "--query-gpu")) != NULL) {
      options->query = value;
    } else if ((value = value_of(argument, "--format")) != NULL) {
      options->format = value;
    } else if ((value = value_of(argument, "--id")) != NULL) {
      options->wanted = value;
    } else if (strcmp(argument, "-i") == 0 && i + 1 < count) {
      options->wanted = arguments[++i];
    } else {
      printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
      fprintf(stderr, "The emulated nvidia-smi does not know: %s\n", argument);
      return 0;
    }
  }
  return 1;
}

int main(int count, char** arguments) {
  struct options options = {NULL, NULL, NULL, 0, 0};
  if (!parse(count, arguments, &options)) return exit_usage;
  if (options.help) {
    print_help();
    return 0;
  }
  const char* path = BERTH_ROOT "/run/berth/gpus";
  if (!read_gpus(path)) {
    printf("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n\n");
    fprintf(stderr,
            "This nvidia-smi is emulated, and %s, which Berth puts into a container with "
            "GPUs, cannot be read.\n",
            path);
    return exit_no_driver;
  }
  int shown = 0;
  for (int i = 0; i < gpu_count; ++i) shown += is_wanted(options.wanted, i);
  if (shown == 0) {
    printf("No devices were found\n");
    return exit_no_device;
  }
  int result = 0;
  if (options.query != NULL) {
    result = print_query(options.query, options.format, options.wanted);
  } else if (options.list) {
    print_list(options.wanted);
  } else {
    print_table(options.wanted);
  }
  return fflush(stdout) == 0 ? result : 1;
}
