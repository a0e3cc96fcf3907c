/* Opens the CUDA driver, and says what it reports. */
#include "mlc_cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "mlc_internal.h"

static mlc_cuda_driver driver;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Atomic long opened_by; /* the process; 0: none */

static int missing(const char *symbol) {
  return mlc_fail("the CUDA driver is too old: it lacks %s. Install a driver for CUDA 11.4 or later", symbol);
}

static int find_functions(void *library) {
#define MLC_CUDA_FIND(name, symbol, ...) \
  if (!(*(void **)&driver.name = dlsym(library, #symbol))) return missing(#symbol);
  MLC_CUDA_FUNCTIONS(MLC_CUDA_FIND)
#undef MLC_CUDA_FIND
#define MLC_CUDA_FIND(name, symbol, ...) *(void **)&driver.name = dlsym(library, #symbol);
  MLC_CUDA_LATER_FUNCTIONS(MLC_CUDA_FIND)
#undef MLC_CUDA_FIND
  return 0;
}

static int check_version(void) {
  int version = 0;
  if (mlc_cuda_check(driver.version(&version), "cannot read the version of the CUDA driver", "")) return 1;
  if (version >= MLC_CUDA_OLDEST) return 0;
  return mlc_fail("the CUDA driver is too old: it supports CUDA %d.%d, and models need 11.4 or later. "
                    "Install a newer driver of NVIDIA", version / 1000,
                  version % 1000 / 10);
}

static int start(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return mlc_fail("there is no CUDA driver (%s). Install NVIDIA's driver, or compile for a CPU", dlerror());
  if (find_functions(library)) return dlclose(library), 1;
  int result = driver.init(0);
  dlclose(library); /* RTLD_NODELETE: it stays */
  if (result == MLC_CUDA_NO_DEVICE) return mlc_fail("there is no CUDA device that this process may use. "
                                                      "Check CUDA_VISIBLE_DEVICES and nvidia-smi");
  return mlc_cuda_check(result, "cannot start the CUDA driver", "") || check_version();
}

const mlc_cuda_driver *mlc_cuda_open(void) {
  long process = (long)getpid(), opened = opened_by;
  if (opened && opened != process) {
    mlc_fail("this process was forked from one that uses CUDA, which does not work in the child. Start processes by spawning");
    return NULL;
  }
  pthread_mutex_lock(&opening);
  if (!opened_by && !start()) opened_by = process;
  opened = opened_by;
  pthread_mutex_unlock(&opening);
  return opened ? &driver : NULL;
}

static int is_lost(int result) {
  return result == MLC_CUDA_ILLEGAL_ADDRESS || result == MLC_CUDA_LAUNCH_TIMEOUT || result == MLC_CUDA_ASSERT ||
         (result >= MLC_CUDA_STACK_ERROR && result <= MLC_CUDA_LAUNCH_FAILED);
}

/* What a user can do about an error. */
static const char *advice(int result) {
  if (result == MLC_CUDA_OUT_OF_MEMORY) return "Free memory of the device, or use smaller dimensions";
  if (result == MLC_CUDA_NOT_INITIALIZED) return "Where this process was forked from one that uses CUDA, start it by spawning";
  if (result == MLC_CUDA_INVALID_CONTEXT || result == MLC_CUDA_DESTROYED_CONTEXT)
    return "The CUDA context in which the model was loaded is gone: load it again";
  if (result >= MLC_CUDA_CAPTURE_UNSUPPORTED && result <= MLC_CUDA_CAPTURE_LAST)
    return "A stream is being captured, which does not allow it: run the model before, or in the captured stream";
  if (is_lost(result)) return "Start the process again: the device does no more work for it";
  return "See what nvidia-smi says of the device";
}

int mlc_cuda_check(int result, const char *what, const char *name) {
  if (!result) return 0;
  const char *short_name = NULL, *text = NULL;
  driver.error_name(result, &short_name);
  driver.error_string(result, &text);
  return mlc_fail("%s%s: %s (%s, error %d). %s", what, name, text ? text : "unknown to this driver",
                  short_name ? short_name : "CUDA", result, advice(result));
}
