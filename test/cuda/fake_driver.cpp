/* A CUDA driver without a GPU: libcuda.so.1 for tests of the host program.
 *
 * The device's memory is memory of the process that can be touched only within a call of the driver, so that a host
 * that reads it by mistake ends in a segmentation fault. Each context has memory of its own, which kernels of others
 * cannot access. Work is queued, and done when something waits for it: in each stream in order, and otherwise what was
 * enqueued last comes first, so that what no event orders is done in the wrong order. A module
 * is a shared object with `launch_SYMBOL(void **args, int64_t blocks, int threads)` and `parameters_SYMBOL` for each
 * kernel, as fake_nvcc.py makes it; `maps_SYMBOL` of the last parameters are tensor maps. Everything is counted.
 *
 * In the environment: FAKE_CUDA_VERSION, FAKE_CUDA_DEVICES, FAKE_CUDA_ARCHITECTURE, FAKE_CUDA_MEMORY (bytes).
 * `fake_cuda_fail(n)`: the n-th call from then on fails, as without memory; 0: none. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "mlc_cuda_driver.h"
}
#include "emulation/tensor_map.h"
#include "fake_contexts.h"

namespace {

using Launcher = void (*)(void **, int64_t, int);
struct Module { void *library; std::string path; Context *context; };
struct Function { Launcher launch; int parameters, maps; void *library; int shared, allowed; Context *context; };
struct Node { std::function<int()> work; Function *function; bool is_copy; std::vector<const Node *> after; };
struct Graph { std::vector<Node *> nodes; std::set<const Node *> known; size_t edges = 0; };
struct Exec { std::vector<const Node *> nodes; std::vector<Node> copies; };
struct Event { bool recorded = false; uint64_t at = 0; long item = -1; Graph *capture = nullptr; };
struct Stream { Context *context; bool blocking; Graph *capture = nullptr; };

std::map<std::string, long> live, calls;
std::map<const void *, std::string> handles; /* live objects and their kinds */
std::map<const void *, Context *> owners;
struct Allocation { size_t bytes; Context *context; int kind; };
std::map<uintptr_t, Allocation> memory;
int sticky = OK;
long fail_at = 0, total = 0;
size_t used = 0;
uint64_t now = 0; /* the time of events in ns: a launch takes 1 us and 10 ns a block, a copy 1 ns a KiB */
char *region = nullptr, *next_free = nullptr;
const size_t REGION = (size_t)1 << 36, PAGE = 4096;

long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

[[noreturn]] void die(const char *what) {
  fprintf(stderr, "fake CUDA driver: %s\n", what);
  abort();
}

template <class T> T *made(T *object, const char *kind) {
  handles[object] = kind;
  owners[object] = current();
  live[kind]++;
  return object;
}

void gone(const void *object, const char *kind) {
  auto found = handles.find(object);
  if (found == handles.end() || found->second != kind) die((std::string("this is no live ") + kind).c_str());
  handles.erase(found);
  live[kind]--;
}

void check(const void *object, const char *kind) {
  auto found = handles.find(object);
  if (found == handles.end() || found->second != kind) die((std::string("this is no live ") + kind).c_str());
}

/* Counts a call; whether it is the one that fails. */
bool fails(const char *name) {
  calls[name]++;
  total++;
  return fail_at && total == fail_at;
}

/* The device's memory can be touched while one of these lives. */
struct Access {
  Access() { protect(PROT_READ | PROT_WRITE); }
  ~Access() { protect(PROT_NONE); }
  static void protect(int how) {
    for (auto &each : memory) mprotect((void *)each.first, (each.second.bytes + PAGE - 1) / PAGE * PAGE, how);
  }
};

/* The allocation that has an address, or NULL. */
const Allocation *allocation_of(uintptr_t address) {
  auto found = memory.upper_bound(address);
  if (found == memory.begin()) return nullptr;
  --found;
  return address < found->first + found->second.bytes ? &found->second : nullptr;
}

/* Whether these bytes are in one allocation. */
bool inside(uintptr_t address, size_t bytes) {
  const Allocation *found = allocation_of(address);
  return found && (!bytes || allocation_of(address + bytes - 1) == found);
}

int drain() {
  Access open;
  return run_all(&sticky);
}

Graph *capture_of(mlc_stream stream) { return (uintptr_t)stream > 2 ? ((Stream *)stream)->capture : nullptr; }

Node *add_node(Graph *graph, const mlc_node *after, size_t count, std::function<int()> work, Function *f, bool copy);

/* The key of a stream: a handle, or that of the context's legacy stream (0, 1) or its thread's (2). */
int enqueue(std::function<int()> work, mlc_stream stream) {
  Context *context = current();
  if (!context) return INVALID_CONTEXT;
  if ((uintptr_t)stream > 2) {
    check(stream, "stream");
    Stream *own = (Stream *)stream;
    if (own->context != context) return INVALID_HANDLE;
    if (Graph *graph = own->capture) {
      mlc_node last = graph->nodes.empty() ? nullptr : (mlc_node)graph->nodes.back();
      add_node(graph, &last, last != nullptr, std::move(work), nullptr, false);
      return OK;
    }
    add_item(std::move(work), own, own->blocking, context);
    return OK;
  }
  bool legacy = (uintptr_t)stream < 2;
  add_item(std::move(work), legacy ? (void *)context : (void *)&context->id, true, context);
  return OK;
}

/* A call that a capture in this thread does not allow. */
bool is_captured() { return captures > 0; }

std::function<int()> copying(void *to, const void *from, size_t bytes) {
  return [=] { return memmove(to, from, bytes), OK; };
}

/* A launch with the parameters' values of now. */
std::function<int()> launching(Function *f, unsigned blocks, unsigned threads, void **params) {
  struct Value { alignas(64) char bytes[128]; };
  std::vector<Value> values((size_t)f->parameters);
  for (int i = 0; i < f->parameters; i++) memcpy(values[(size_t)i].bytes, params[i], i < f->parameters - f->maps ? 8 : 128);
  return [=]() mutable {
    std::vector<void *> pointers;
    for (auto &value : values) pointers.push_back(value.bytes);
    auto add = (void (*)(void *, int64_t, int))dlsym(f->library, "mlc_emulated_register");
    auto check_accesses = (void (*)())dlsym(f->library, "mlc_emulated_check");
    auto end = (const char *(*)())dlsym(f->library, "mlc_emulated_end");
    for (auto &each : memory)
      if (add && (each.second.context == f->context || each.second.kind != IN_CONTEXT))
        add((void *)each.first, (int64_t)each.second.bytes, 0);
    if (check_accesses) check_accesses();
    f->launch(pointers.data(), blocks, (int)threads);
    const char *error = end ? end() : "";
    if (!*error) return (int)OK;
    fprintf(stderr, "fake CUDA driver: %s\n", error);
    return (int)ILLEGAL_ADDRESS;
  };
}

bool is_launch(Function *f, unsigned blocks, unsigned threads, unsigned shared) {
  check(f, "function");
  if ((int)shared != f->shared || (int)shared > f->allowed) return false;
  return blocks >= 1 && threads >= 1 && threads <= 1024;
}

Node *add_node(Graph *graph, const mlc_node *after, size_t count, std::function<int()> work, Function *f, bool copy) {
  check(graph, "graph");
  for (size_t i = 0; i < count; i++)
    if (!graph->known.count((Node *)after[i])) die("a node depends on one of another graph");
  Node *node = new Node{std::move(work), f, copy, {}};
  for (size_t i = 0; i < count; i++) node->after.push_back((Node *)after[i]);
  graph->nodes.push_back(node);
  graph->known.insert(node);
  return node;
}

/* The nodes in an order that keeps every edge, and otherwise begins with those added last. */
std::vector<const Node *> ordered(const Graph *graph) {
  std::vector<const Node *> order;
  std::set<const Node *> done;
  while (order.size() < graph->nodes.size())
    for (size_t i = graph->nodes.size(); i--;) {
      const Node *node = graph->nodes[i];
      bool ready = !done.count(node);
      for (const Node *before : node->after) ready = ready && done.count(before);
      if (!ready) continue;
      order.push_back(node);
      done.insert(node);
      break;
    }
  return order;
}

int find_node(Exec *exec, mlc_node node) {
  check(exec, "exec");
  for (size_t i = 0; i < exec->nodes.size(); i++)
    if (exec->nodes[i] == (const Node *)node) return (int)i;
  die("this node is none of the graph");
}

} // namespace

#define ENTER(name)                                   \
  std::lock_guard<std::recursive_mutex> guard(lock);  \
  if (started != getpid()) return NOT_INITIALIZED;    \
  if (fails(#name)) return OUT_OF_MEMORY;
#define NEEDS_CONTEXT if (!current()) return INVALID_CONTEXT;
#define NOT_CAPTURED if (is_captured()) return CAPTURE_UNSUPPORTED;
#define EXPORT extern "C" __attribute__((visibility("default")))

/* -- what tests ask ------------------------------------------------------------------------------------------------- */

EXPORT const char *fake_cuda_counts() {
  static std::string text;
  text = "{";
  for (auto *counts : {&live, &calls})
    for (auto &each : *counts) text += (text == "{" ? "\"" : ", \"") + each.first + "\": " + std::to_string(each.second);
  text += "}";
  return text.c_str();
}

EXPORT void fake_cuda_fail(long n) { total = 0, fail_at = n; }

/* The kind of memory that is allocated next: 0 of its context, 1 of its device (a pool), 2 managed, 3 the host's. */
EXPORT void fake_cuda_next_kind(int kind) { next_kind = kind; }

/* The primary context of a device, which is not counted as retained. */
EXPORT mlc_context fake_cuda_primary(int device) { return (mlc_context)primary(device); }

/* -- contexts ------------------------------------------------------------------------------------------------------- */

EXPORT int cuDevicePrimaryCtxRetain(mlc_context *context, int device) {
  ENTER(cuDevicePrimaryCtxRetain)
  live["context"]++;
  primary(device)->retained++;
  *context = (mlc_context)primary(device);
  return OK;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  drain();
  live["context"]--;
  if (--primary(device)->retained < 0) die("the context was released too often");
  return OK;
}
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  *flags = 0, *active = primary(device)->retained > 0;
  return OK;
}
/* As version 4 of the function, which pycuda calls. */
EXPORT int cuCtxCreate_v4(mlc_context *context, void *, unsigned, int device) {
  ENTER(cuCtxCreate_v4)
  Context *own = new_context(device);
  own->retained = 1;
  stack.push_back(own), live["current"]++;
  *context = (mlc_context)own;
  return OK;
}
EXPORT int cuCtxCreate_v2(mlc_context *context, unsigned flags, int device) { return cuCtxCreate_v4(context, nullptr, flags, device); }
/* Frees what is in the context. */
EXPORT int cuCtxDestroy_v2(mlc_context context) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  drain();
  Context *own = (Context *)context;
  if (!is_context(own)) return INVALID_CONTEXT;
  own->retained = 0;
  for (auto each = memory.begin(); each != memory.end();) {
    if (each->second.context != own) { ++each; continue; }
    used -= each->second.bytes;
    live["memory"]--;
    each = memory.erase(each);
  }
  for (auto &each : owners)
    if (each.second == own && handles.count(each.first)) live[handles[each.first]]--, handles.erase(each.first);
  if (current() == own) stack.pop_back(), live["current"]--;
  return OK;
}
EXPORT int cuCtxPushCurrent_v2(mlc_context context) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (started != getpid()) return NOT_INITIALIZED;
  if (!is_context((Context *)context)) return INVALID_CONTEXT;
  live["current"]++;
  stack.push_back((Context *)context);
  return OK;
}
EXPORT int cuCtxPopCurrent_v2(mlc_context *context) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (stack.empty()) die("no context is current");
  live["current"]--;
  if (context) *context = (mlc_context)stack.back();
  stack.pop_back();
  return OK;
}
EXPORT int cuCtxGetCurrent(mlc_context *context) {
  ENTER(cuCtxGetCurrent)
  *context = (mlc_context)current();
  return OK;
}
EXPORT int cuCtxGetDevice(int *device) {
  ENTER(cuCtxGetDevice)
  NEEDS_CONTEXT
  *device = current()->device;
  return OK;
}
EXPORT int cuCtxGetId(mlc_context context, unsigned long long *id) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (!is_context((Context *)context)) return INVALID_CONTEXT;
  *id = ((Context *)context)->id;
  return OK;
}
EXPORT int cuPointerGetAttributes(unsigned count, int *attributes, void **values, mlc_address address) {
  ENTER(cuPointerGetAttributes)
  NEEDS_CONTEXT
  const Allocation *found = allocation_of((uintptr_t)address);
  for (unsigned i = 0; i < count; i++)
    if (attributes[i] == MLC_CUDA_CONTEXT_OF) *(void **)values[i] = found && found->kind != IN_POOL ? found->context : nullptr;
    else if (attributes[i] == MLC_CUDA_MEMORY_OF) *(unsigned *)values[i] = !found ? 0 : found->kind == OF_HOST ? 1 : 2;
    else if (attributes[i] == MLC_CUDA_IS_MANAGED) *(unsigned *)values[i] = found && found->kind == MANAGED;
    else if (attributes[i] == MLC_CUDA_DEVICE_OF) *(int *)values[i] = found ? found->context->device : -2;
    else return INVALID;
  return OK;
}

/* -- what pycuda calls besides --------------------------------------------------------------------------------------- */

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuMemcpyHtoDAsync_v2(mlc_address to, const void *from, size_t bytes, mlc_stream stream);
EXPORT int cuMemcpyDtoHAsync_v2(void *to, mlc_address from, size_t bytes, mlc_stream stream);
EXPORT int cuCtxDetach(mlc_context context) { return cuCtxDestroy_v2(context); }
EXPORT int cuDeviceComputeCapability(int *major, int *minor, int device) {
  cuDeviceGetAttribute(major, MLC_CUDA_MAJOR, device);
  return cuDeviceGetAttribute(minor, MLC_CUDA_MINOR, device);
}
EXPORT int cuCtxSynchronize() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return drain();
}
EXPORT int cuMemcpyHtoD_v2(mlc_address to, const void *from, size_t bytes) {
  int result = cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
  return result ? result : cuCtxSynchronize();
}
EXPORT int cuMemcpyDtoH_v2(void *to, mlc_address from, size_t bytes) {
  int result = cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
  return result ? result : cuCtxSynchronize();
}

/* -- the driver API ------------------------------------------------------------------------------------------------- */

EXPORT int cuInit(unsigned) {
  if (!started) started = getpid();
  ENTER(cuInit)
  return setting("FAKE_CUDA_DEVICES", 1) ? OK : NO_DEVICE;
}
// NVRTC asks a driver that is loaded for this table, and takes an error for an answer, but not a missing function.
EXPORT int cuGetExportTable(const void **, const void *) { return NO_DEVICE; }
EXPORT int cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion)
  *version = (int)setting("FAKE_CUDA_VERSION", 13000);
  return OK;
}
EXPORT int cuGetErrorName(int error, const char **text) {
  *text = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
  return OK;
}
EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == OUT_OF_MEMORY ? "out of memory" : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "an error";
  return OK;
}
EXPORT int cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount)
  *count = (int)setting("FAKE_CUDA_DEVICES", 1);
  return OK;
}
EXPORT int cuDeviceGet(int *device, int n) {
  ENTER(cuDeviceGet)
  *device = n;
  return OK;
}
EXPORT int cuDeviceGetName(char *name, int bytes, int) {
  ENTER(cuDeviceGetName)
  snprintf(name, (size_t)bytes, "Fake GPU");
  return OK;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER(cuDeviceGetAttribute)
  long architecture = setting("FAKE_CUDA_ARCHITECTURE", 90);
  const std::map<int, long> known = {{1 /* threads of a block */, 1024}, {8 /* shared memory */, 48 << 10}, {10 /* threads of a warp */, 32},
                                     {12 /* registers */, 65536}, {16 /* multiprocessors */, 2}, {39 /* their threads */, 2048},
                                     {MLC_CUDA_MAJOR, architecture / 10}, {MLC_CUDA_MINOR, architecture % 10}};
  *value = known.count(attribute) ? (int)known.at(attribute) : 0;
  return OK;
}
EXPORT int cuModuleLoadData(mlc_module *module, const void *image) {
  ENTER(cuModuleLoadData)
  NEEDS_CONTEXT
  NOT_CAPTURED
  bool text = !memcmp(image, "// PTX\n", 7); /* as fake_nvcc.py writes it: the driver compiles it */
  if (text) calls["compiled"]++, image = (const char *)image + 7;
  const unsigned char *header = (const unsigned char *)image;
  if (memcmp(header, "\x7f" "ELF", 4)) return BAD_IMAGE;
  size_t bytes = *(const uint64_t *)(header + 0x28) + (size_t)*(const uint16_t *)(header + 0x3a) * *(const uint16_t *)(header + 0x3c);
  char path[] = "/tmp/fake-cubin-XXXXXX";
  int file = mkstemp(path);
  if (file < 0 || write(file, image, bytes) != (ssize_t)bytes) die("cannot write a module");
  close(file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (!library) return fprintf(stderr, "fake CUDA driver: %s\n", dlerror()), BAD_IMAGE;
  *module = (mlc_module)made(new Module{library, path, current()}, "module");
  return OK;
}

/* Whether the current context can access an address. */
static bool is_here(mlc_address address) {
  const Allocation *found = allocation_of((uintptr_t)address);
  return found && (found->context == current() || found->kind != IN_CONTEXT);
}

EXPORT int cuModuleUnload(mlc_module module) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  drain();
  gone(module, "module");
  dlclose(((Module *)module)->library);
  delete (Module *)module;
  return OK;
}
EXPORT int cuModuleGetFunction(mlc_function *function, mlc_module module, const char *name) {
  ENTER(cuModuleGetFunction)
  check(module, "module");
  void *library = ((Module *)module)->library;
  auto launch = (Launcher)dlsym(library, (std::string("launch_") + name).c_str());
  auto parameters = (const int *)dlsym(library, (std::string("parameters_") + name).c_str());
  if (!launch || !parameters) return NOT_FOUND;
  auto shared = (const int *)dlsym(library, (std::string("dynamic_") + name).c_str());
  auto maps = (const int *)dlsym(library, (std::string("maps_") + name).c_str());
  Function *f = new Function{launch, *parameters, maps ? *maps : 0, library, shared ? *shared : 0, 48 << 10,
                             ((Module *)module)->context};
  handles[f] = "function";
  *function = (mlc_function)f;
  return OK;
}
EXPORT int cuFuncSetAttribute(mlc_function function, int attribute, int value) {
  ENTER(cuFuncSetAttribute)
  check(function, "function");
  if (attribute != MLC_CUDA_DYNAMIC_BYTES || value < 0 || value > 227 << 10) return INVALID;
  ((Function *)function)->allowed = value;
  return OK;
}
EXPORT int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *start, const uint64_t *extents,
                                 const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                 int swizzle, int promotion, int fill) {
  ENTER(cuTensorMapEncodeTiled)
  if (!inside((uintptr_t)start, 1)) return INVALID;
  memset(map, 0, 128);
  return mlc_emulated_encode((mlc_tensor_map *)map, type, rank, start, extents, strides, box, steps, interleave, swizzle,
                             promotion, fill);
}
EXPORT int cuMemAlloc_v2(mlc_address *address, size_t bytes) {
  ENTER(cuMemAlloc_v2)
  NEEDS_CONTEXT
  NOT_CAPTURED
  if (!bytes) return INVALID;
  if (!region) {
    region = next_free = (char *)mmap(nullptr, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) die("no address space");
  }
  size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
  if (used + bytes > (size_t)setting("FAKE_CUDA_MEMORY", 1L << 32) || next_free + pages + PAGE > region + REGION) return OUT_OF_MEMORY;
  char *found = next_free;
  next_free += pages + PAGE;
  memory[(uintptr_t)found] = {bytes, current(), next_kind};
  used += bytes;
  live["memory"]++;
  Access open;
  memset(found, 0xcd, pages);
  *address = (mlc_address)(uintptr_t)found;
  return OK;
}
EXPORT int cuMemFree_v2(mlc_address address) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  drain();
  auto found = memory.find((uintptr_t)address);
  if (found == memory.end()) die("this is no allocation");
  madvise((void *)found->first, found->second.bytes, MADV_DONTNEED);
  used -= found->second.bytes;
  memory.erase(found);
  live["memory"]--;
  return OK;
}
EXPORT int cuMemcpyHtoDAsync_v2(mlc_address to, const void *from, size_t bytes, mlc_stream stream) {
  ENTER(cuMemcpyHtoDAsync_v2)
  return inside((uintptr_t)to, bytes) ? enqueue(copying((void *)(uintptr_t)to, from, bytes), stream) : INVALID;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, mlc_address from, size_t bytes, mlc_stream stream) {
  ENTER(cuMemcpyDtoHAsync_v2)
  return inside((uintptr_t)from, bytes) ? enqueue(copying(to, (void *)(uintptr_t)from, bytes), stream) : INVALID;
}
EXPORT int cuMemcpyDtoDAsync_v2(mlc_address to, mlc_address from, size_t bytes, mlc_stream stream) {
  ENTER(cuMemcpyDtoDAsync_v2)
  if (!inside((uintptr_t)to, bytes) || !inside((uintptr_t)from, bytes)) return INVALID;
  now += bytes >> 10;
  if (!is_here(to) || !is_here(from)) return INVALID;
  return enqueue(copying((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes), stream);
}
EXPORT int cuMemcpyPeerAsync(mlc_address to, mlc_context there, mlc_address from, mlc_context here, size_t bytes, mlc_stream stream) {
  ENTER(cuMemcpyPeerAsync)
  if (!inside((uintptr_t)to, bytes) || !inside((uintptr_t)from, bytes)) return INVALID;
  if (allocation_of((uintptr_t)to)->context != (Context *)there || allocation_of((uintptr_t)from)->context != (Context *)here) return INVALID;
  return enqueue(copying((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes), stream);
}
EXPORT int cuMemsetD32Async(mlc_address to, unsigned value, size_t count, mlc_stream stream) {
  ENTER(cuMemsetD32Async)
  if (!inside((uintptr_t)to, 4 * count)) return INVALID;
  return enqueue([=] {
    for (size_t i = 0; i < count; i++) ((unsigned *)(uintptr_t)to)[i] = value;
    return OK;
  }, stream);
}
EXPORT int cuStreamCreate(mlc_stream *stream, unsigned flags) {
  ENTER(cuStreamCreate)
  NEEDS_CONTEXT
  *stream = (mlc_stream)made(new Stream{current(), flags != MLC_CUDA_NON_BLOCKING}, "stream");
  return OK;
}
EXPORT int cuStreamDestroy_v2(mlc_stream stream) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  drain();
  gone(stream, "stream");
  delete (Stream *)stream;
  return OK;
}
EXPORT int cuStreamSynchronize(mlc_stream stream) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (capture_of(stream)) return CAPTURE_UNSUPPORTED;
  int result = drain(); /* what fails is the work */
  return fails("cuStreamSynchronize") ? OUT_OF_MEMORY : result;
}
EXPORT int cuStreamGetCtx(mlc_stream stream, mlc_context *context) {
  ENTER(cuStreamGetCtx)
  check(stream, "stream");
  *context = (mlc_context)((Stream *)stream)->context;
  return OK;
}
EXPORT int cuStreamIsCapturing(mlc_stream stream, int *status) {
  ENTER(cuStreamIsCapturing)
  if ((uintptr_t)stream < 2 && captures) return CAPTURE_IMPLICIT;
  *status = capture_of(stream) != nullptr;
  return OK;
}
EXPORT int cuStreamBeginCapture_v2(mlc_stream stream, int) {
  ENTER(cuStreamBeginCapture_v2)
  check(stream, "stream");
  ((Stream *)stream)->capture = made(new Graph, "graph");
  captures++;
  return OK;
}
EXPORT int cuStreamEndCapture(mlc_stream stream, mlc_graph *graph) {
  ENTER(cuStreamEndCapture)
  *graph = (mlc_graph)((Stream *)stream)->capture;
  ((Stream *)stream)->capture = nullptr;
  captures--;
  return OK;
}
EXPORT int cuStreamWaitEvent(mlc_stream stream, mlc_event event, unsigned) {
  ENTER(cuStreamWaitEvent)
  check(event, "event");
  const Event *own = (Event *)event;
  if (own->capture || capture_of(stream)) return own->capture == capture_of(stream) ? OK : CAPTURE_ISOLATION;
  int result = enqueue([] { return OK; }, stream);
  if (!result && own->recorded) items.back().after.push_back(own->item);
  return result;
}
EXPORT int cuEventCreate(mlc_event *event, unsigned) {
  ENTER(cuEventCreate)
  NEEDS_CONTEXT
  *event = (mlc_event)made(new Event, "event");
  return OK;
}
EXPORT int cuEventDestroy_v2(mlc_event event) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  gone(event, "event");
  delete (Event *)event;
  return OK;
}
EXPORT int cuEventRecord(mlc_event event, mlc_stream stream) {
  ENTER(cuEventRecord)
  check(event, "event");
  Event *own = (Event *)event;
  int result = enqueue([] { return OK; }, stream);
  if (result) return result;
  own->recorded = true, own->at = now, own->item = last_item(), own->capture = capture_of(stream);
  return OK;
}
EXPORT int cuEventSynchronize(mlc_event event) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  check(event, "event");
  if (((Event *)event)->capture || captures) return CAPTURE_UNSUPPORTED;
  int result = drain();
  return fails("cuEventSynchronize") ? OUT_OF_MEMORY : result;
}
EXPORT int cuEventElapsedTime(float *ms, mlc_event first, mlc_event last) {
  ENTER(cuEventElapsedTime)
  if (!((Event *)first)->recorded || !((Event *)last)->recorded) return INVALID;
  *ms = (float)(((Event *)last)->at - ((Event *)first)->at) * 1e-6f;
  return OK;
}
EXPORT int cuLaunchKernel(mlc_function function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,
                          unsigned tz, unsigned shared, mlc_stream stream, void **params, void **) {
  ENTER(cuLaunchKernel)
  if (!is_launch((Function *)function, x, threads, shared) || y != 1 || z != 1 || ty != 1 || tz != 1) return INVALID;
  now += 1000 + 10 * x;
  return enqueue(launching((Function *)function, x, threads, params), stream);
}
EXPORT int cuGraphCreate(mlc_graph *graph, unsigned) {
  ENTER(cuGraphCreate)
  *graph = (mlc_graph)made(new Graph, "graph");
  return OK;
}
EXPORT int cuGraphDestroy(mlc_graph graph) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  gone(graph, "graph");
  for (Node *node : ((Graph *)graph)->nodes) delete node;
  delete (Graph *)graph;
  return OK;
}
EXPORT int cuGraphAddKernelNode(mlc_node *node, mlc_graph graph, const mlc_node *after, size_t count, const mlc_kernel_node *p) {
  ENTER(cuGraphAddKernelNode)
  Function *f = (Function *)p->function;
  if (!is_launch(f, p->grid[0], p->block[0], p->shared_bytes)) return INVALID;
  calls["edges"] += (long)count;
  *node = (mlc_node)add_node((Graph *)graph, after, count, launching(f, p->grid[0], p->block[0], p->params), f, false);
  return OK;
}
EXPORT int cuGraphAddMemcpyNode(mlc_node *node, mlc_graph graph, const mlc_node *after, size_t count, const mlc_copy_node *p,
                                mlc_context context) {
  ENTER(cuGraphAddMemcpyNode)
  if (!context || !inside(p->source.device, p->width_bytes) || !inside(p->target.device, p->width_bytes)) return INVALID;
  calls["edges"] += (long)count;
  auto work = copying((void *)(uintptr_t)p->target.device, (void *)(uintptr_t)p->source.device, p->width_bytes);
  *node = (mlc_node)add_node((Graph *)graph, after, count, work, nullptr, true);
  return OK;
}
EXPORT int cuGraphAddEmptyNode(mlc_node *node, mlc_graph graph, const mlc_node *after, size_t count) {
  ENTER(cuGraphAddEmptyNode)
  *node = (mlc_node)add_node((Graph *)graph, after, count, [] { return OK; }, nullptr, false);
  return OK;
}
EXPORT int cuGraphInstantiateWithFlags(mlc_graph_exec *exec, mlc_graph graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags)
  check(graph, "graph");
  Exec *made_exec = made(new Exec, "exec");
  made_exec->nodes = ordered((Graph *)graph);
  for (const Node *node : made_exec->nodes) made_exec->copies.push_back(*node);
  *exec = (mlc_graph_exec)made_exec;
  return OK;
}
EXPORT int cuGraphExecKernelNodeSetParams(mlc_graph_exec exec, mlc_node node, const mlc_kernel_node *p) {
  ENTER(cuGraphExecKernelNodeSetParams)
  Node &own = ((Exec *)exec)->copies[(size_t)find_node((Exec *)exec, node)];
  Function *f = (Function *)p->function;
  if (own.function != f || !is_launch(f, p->grid[0], p->block[0], p->shared_bytes)) return INVALID;
  own.work = launching(f, p->grid[0], p->block[0], p->params);
  return OK;
}
EXPORT int cuGraphExecMemcpyNodeSetParams(mlc_graph_exec exec, mlc_node node, const mlc_copy_node *p, mlc_context) {
  ENTER(cuGraphExecMemcpyNodeSetParams)
  Node &own = ((Exec *)exec)->copies[(size_t)find_node((Exec *)exec, node)];
  if (!own.is_copy || !inside(p->source.device, p->width_bytes) || !inside(p->target.device, p->width_bytes)) return INVALID;
  own.work = copying((void *)(uintptr_t)p->target.device, (void *)(uintptr_t)p->source.device, p->width_bytes);
  return OK;
}
EXPORT int cuGraphLaunch(mlc_graph_exec exec, mlc_stream stream) {
  ENTER(cuGraphLaunch)
  check(exec, "exec");
  int result = OK;
  for (Node &node : ((Exec *)exec)->copies)
    if (!result) result = enqueue(node.work, stream);
  return result;
}
EXPORT int cuGraphExecDestroy(mlc_graph_exec exec) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  gone(exec, "exec");
  delete (Exec *)exec;
  return OK;
}
