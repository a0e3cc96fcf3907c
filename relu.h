/* dims: none
 * inputs[0]: x float32[4, 3]
 * outputs[0]: y float32[4, 3] */
/* The C interface of the compiled model 'relu'. Link with its library, or load a shared one by dlopen().
 *
 * Every function may be called from several threads at once, on one model too, but for relu_destroy().
 * Tensors are dense, row-major, of any alignment; inputs and outputs must not overlap, but for an output with "alias" in
 * the signature: it may be given the pointer of that input, which is then updated in place. The names, dtypes and shapes of
 * inputs, outputs and symbolic dimensions, in the order used below, are in the JSON of relu_signature(). */
#ifndef MLC_MODEL_relu_5cef961433520465_H
#define MLC_MODEL_relu_5cef961433520465_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct relu_model relu_model;

/* How many there are; for each tensor the rank and, where it does not depend on the dimensions, the shape (to initialize
 * an array with), elements and bytes. */
enum { relu_INPUT_COUNT = 1, relu_OUTPUT_COUNT = 1, relu_DIM_COUNT = 0 };
#define relu_INPUT_0_RANK 2
#define relu_INPUT_0_SHAPE {4, 3}
#define relu_INPUT_0_ELEMENTS INT64_C(12)
#define relu_INPUT_0_BYTES INT64_C(48)
#define relu_OUTPUT_0_RANK 2
#define relu_OUTPUT_0_SHAPE {4, 3}
#define relu_OUTPUT_0_ELEMENTS INT64_C(12)
#define relu_OUTPUT_0_BYTES INT64_C(48)

/* The version of this interface: 2. */
int relu_abi_version(void);

/* A constant JSON string: inputs, outputs, dimensions, kernels. */
const char *relu_signature(void);

/* Maps the weights and starts the threads. `weights_path` NULL: the file beside the shared library (beside the program,
 * where the model is linked statically), under the name of that or the name it had when compiled. `threads` 0: one per
 * CPU this process may use. The calling thread of a run is one of them.
 * Returns NULL on failure (see relu_error): weights missing or not this model's, a CPU without the instructions
 * the model was compiled for, no memory. The environment variable MLC_VERIFY_WEIGHTS=1 also checks the weights' contents.
 * In the linker's view the name carries a digest of dimensions, inputs and outputs, so a program with the header of one
 * model and the library of another does not link. dlsym() finds it as "relu_create" too. */
relu_model *relu_create(const char *weights_path, int threads) __asm__("relu_create_interface_5cef961433520465");

/* Stops the threads and frees the memory. No run may be in progress. NULL is allowed. */
void relu_destroy(relu_model *model);

/* Bytes of workspace one run needs for these values of the symbolic dimensions (NULL where there are none);
 * negative on failure, dimensions that the model does not accept ("guards" of the signature) included. */
int64_t relu_workspace_size(const int64_t *dims);

/* Writes the shape of output number `output` into `shape` and returns its rank; negative on failure. A size that depends
 * on data ("sizes" of the signature) is given as its upper bound; after a run an output of its own has its value. An
 * "optional" axis whose size is 1, written "n?" above, is left out. */
int relu_output_shape(int output, const int64_t *dims, int64_t *shape);

/* Runs the model: one pointer per input and output, in signature order; only a tensor without elements may have NULL.
 * `workspace`: memory of relu_workspace_size() bytes at a multiple of 64 that no other run uses at the same time, or
 * NULL: the model allocates it. The calling thread needs 1 MiB of stack.
 * Returns 0, or on failure 1 or 2 + n. 2 + n: a capacity ("room...") in `dims` is too small, that of entry n (from 0) of
 * the signature's "sizes"; the output that this entry names has the size that is needed. If another run uses the model's
 * threads, this one uses its calling thread alone; results do not depend on the number of threads. */
int relu_run(relu_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                 void *workspace);

/* As relu_run, and writes the nanoseconds spent in each kernel launch, in the order of the signature's
 * "kernels". */
int relu_profile(relu_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                     void *workspace, uint64_t *ns_per_launch);

/* As relu_run, and writes what each thread did: its number (0: the caller), the number of the launch in the
 * signature's "kernels", begin and end in nanoseconds after the run began, for up to `capacity` events. A launch has an
 * event for each of its parts. Returns the number of events of the run, which may be more, or on failure minus what
 * relu_run returns. A model on a device has no such trace. One run is traced at a time. */
int64_t relu_trace(relu_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                       void *workspace, int64_t (*events)[4], int64_t capacity);

/* Sets the run counter, which is 0 for the first run and grows by one with each. The results of random operators depend
 * on it, and on nothing else that changes. */
void relu_seed(relu_model *model, int64_t number);

/* Copies the state `name` ("states" of the signature) to or from `value`: dense, row-major. State lives in the model and
 * changes from run to run; it begins with the values in the weights file. A run of a model with state, a get and a set
 * fail while another thread does one of them. Return 0, or 1 on failure. */
int relu_get_state(relu_model *model, const char *name, void *value);
int relu_set_state(relu_model *model, const char *name, const void *value);

/* What went wrong in the last call on this thread that failed. */
const char *relu_error(void);

#ifdef __cplusplus
}
#endif

#endif
