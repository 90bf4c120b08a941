// A libnvidia-ml.so.1 for tests: the real loading path without NVIDIA hardware. Put its directory
// on LD_LIBRARY_PATH, or load it by path. The environment says what machine it plays:
//   BERTH_FAKE_NVML_GPUS=2        number of GPUs (default 1, at most 16), V100s joined by NVLink in
//                                 pairs, UUIDs GPU-fa4e0000-0000-4000-8000-00000000000<hex index>
//   BERTH_FAKE_NVML_INIT=9        what nvmlInit_v2 returns (nvmlReturn_t), default 0
//   BERTH_FAKE_NVML_LOST=1        index of a GPU that has fallen off the bus
//   BERTH_FAKE_NVML_BUSY_FILE=/f  while this file exists, a process (pid 4242, 1024 MiB) is on
//   every
//                                 GPU
// Layouts: src/gpu/nvml/nvml_api.h.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { success = 0, invalid_argument = 2, not_supported = 3, insufficient_size = 7, lost = 15 };

struct device {
  unsigned index;
};
static struct device devices[16];

static long number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static unsigned count(void) {
  long gpus = number("BERTH_FAKE_NVML_GPUS", 1);
  return gpus < 0 ? 0 : gpus > 16 ? 16 : (unsigned)gpus;
}

static int is_lost(const struct device* device) {
  return number("BERTH_FAKE_NVML_LOST", -1) == (long)device->index;
}

static int is_busy(void) {
  const char* file = getenv("BERTH_FAKE_NVML_BUSY_FILE");
  return file != NULL && access(file, F_OK) == 0;
}

int nvmlInit_v2(void) {
  for (unsigned i = 0; i < 16; ++i) devices[i].index = i;
  return (int)number("BERTH_FAKE_NVML_INIT", success);
}
int nvmlShutdown(void) {
  return success;
}
const char* nvmlErrorString(int code) {
  switch (code) {
    case success:
      return "Success";
    case 9:
      return "Driver Not Loaded";
    case lost:
      return "GPU is lost";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  snprintf(text, size, "570.133.20");
  return success;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12080;
  return success;
}
int nvmlDeviceGetCount_v2(unsigned* gpus) {
  *gpus = count();
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device** device) {
  if (index >= count()) return invalid_argument;
  *device = &devices[index];
  return is_lost(*device) ? lost : success;
}
int nvmlDeviceGetName(struct device* device, char* text, unsigned size) {
  (void)device;
  snprintf(text, size, "Tesla V100-SXM2-16GB");
  return success;
}
int nvmlDeviceGetUUID(struct device* device, char* text, unsigned size) {
  snprintf(text, size, "GPU-fa4e0000-0000-4000-8000-%012x", device->index);
  return success;
}

struct pci {
  char legacy[16];
  uint32_t domain, bus, device, id, subsystem;
  char bus_id[32];
};

static void fill_pci(unsigned index, struct pci* pci) {
  memset(pci, 0, sizeof *pci);
  pci->bus = 0x40 + index;
  snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", pci->bus);
}
int nvmlDeviceGetPciInfo_v3(struct device* device, struct pci* pci) {
  fill_pci(device->index, pci);
  return success;
}

struct memory {
  uint64_t total, free, used;
};
int nvmlDeviceGetMemoryInfo(struct device* device, struct memory* memory) {
  if (is_lost(device)) return lost;
  memory->total = 16384ULL << 20;
  memory->used = (is_busy() ? 1024ULL : 0) << 20;
  memory->free = memory->total - memory->used;
  return success;
}
int nvmlDeviceGetCudaComputeCapability(struct device* device, int* major, int* minor) {
  (void)device;
  *major = 7;
  *minor = 0;
  return success;
}

struct process {
  uint32_t pid;
  uint64_t used;
  uint32_t gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(struct device* device, unsigned* size,
                                            struct process* list) {
  (void)device;
  unsigned present = is_busy() ? 1 : 0;
  if (*size < present) {
    *size = present;
    return insufficient_size;
  }
  *size = present;
  if (present == 1) list[0] = (struct process){4242, 1024ULL << 20, UINT32_MAX, UINT32_MAX};
  return success;
}

// Two links between GPUs 0 and 1, 2 and 3, and so on.
int nvmlDeviceGetNvLinkState(struct device* device, unsigned link, unsigned* active) {
  if (link >= 6) return not_supported;
  *active = link < 2 && (device->index ^ 1U) < count();
  return success;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct device* device, unsigned link, struct pci* pci) {
  if (link >= 2) return not_supported;
  fill_pci(device->index ^ 1U, pci);
  return success;
}
