/* The interface between generated code and the runtime, and the C ABI of a compiled model.
 *
 * Generated code defines kernels, one `const mlc_program <prefix>_program`, and ends with MLC_DEFINE_ABI(<prefix>, <interface>).
 * The runtime's own sources (every .c file of this folder) are compiled into the same library, without -march
 * flags: mlc_create() must be able to refuse a CPU before anything of that CPU's instruction set runs.
 * Everything here is hidden; only the wrappers of MLC_DEFINE_ABI are exported. */
#ifndef MLC_RUNTIME_H
#define MLC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define MLC_ABI 2
#define MLC_ALIGN 64 /* bytes: workspaces, the weights, and every entry in them */

#pragma GCC visibility push(hidden)

typedef struct mlc_team mlc_team;
typedef struct mlc_model mlc_model;
typedef struct mlc_strings mlc_strings;
typedef struct mlc_track mlc_track;

typedef struct mlc_decision mlc_decision;
typedef struct mlc_program mlc_program;
typedef struct mlc_device mlc_device;
typedef struct mlc_ranks mlc_ranks;
typedef struct mlc_collective_code mlc_collective_code;
struct mlc_comm;

/* The state of one inference in one thread. */
typedef struct {
  const void *const *in;
  void *const *out;
  const int64_t *dim; /* values of the symbolic dimensions, in signature order */
  char *arena;        /* MLC_ALIGN-aligned, program->workspace(dim) bytes, contents undefined */
  const char *weights;
  char *state; /* of the model, which lives from run to run */
  int64_t number;    /* the run counter: earlier runs of the model */
  uint64_t *profile; /* ns per launch, or NULL; on the caller's thread only */
  mlc_track *tracks;   /* one of each thread, or NULL: the run is not traced */
  int parts;         /* the number of parts of each phase */
  int tid;           /* 0: the caller's thread */
  mlc_team *team;    /* NULL: only the caller's thread computes */
  mlc_strings *strings;  /* the string table of this run, where the model has strings */
  int64_t *sizes;    /* run-time dimensions of this run; shared by the team */
  mlc_decision *decisions; /* results of loop conditions and branches; shared by the team */
  const char **error;      /* why the results are invalid, or NULL */
  int *grow;               /* 1 + the number of the run-time dimension that exceeds its bound, or 0 */
  uint64_t phase;    /* of the team; this thread's claimed parts in it, and the shares it has visited */
  int claimed, visited;
  mlc_ranks *ranks;   /* the ranks that run the model, where it has collectives */
  mlc_device *device; /* where the model runs on one: then `arena`, `weights`, `in` and `out` are its addresses */
  int on_device;      /* the caller's tensors are in the device's memory, and the run is ordered in the caller's `stream` */
  void *stream;
} mlc_call;

/* The constant strings of a model, and the functions that open and close the string table of a run. A model without
 * strings refers to none of these, so the linker omits them. */
typedef struct {
  const char *const *strings; /* the model's constants */
  int64_t count;
  mlc_strings *(*open)(_Atomic(mlc_strings *) *all, const char *const *strings, int64_t count); /* the table of
      the calling thread, with the model's constants; NULL: out of memory */
  const char *(*error)(const mlc_strings *strings); /* why the run failed, or NULL */
  void (*close)(mlc_strings *all);
} mlc_string_table;

/* The state of a model: named memory that lives from run to run. Its first `copied` bytes begin as those of the payload from
 * `from` on, the rest as zeros. */
typedef struct {
  const char *name;
  int64_t offset, bytes;
} mlc_state_entry;
typedef struct {
  const mlc_state_entry *entries;
  int count;
  int64_t bytes, copied, from;
} mlc_state_table;

/* A buffer of an arena: its number, its memory space, and which size it has. It begins at `at`, or at the last end of
 * those buffers before it in the table that after[first..last) lists. */
typedef struct {
  int number, on_host, size;
  int64_t at;
  int first, last;
} mlc_buffer;

#define MLC_WORKSPACE_LIMIT ((__int128)1 << 60)

/* Writes the offset of each buffer (none where `offset` is NULL), and returns the bytes of the arena of one memory space;
 * -1: more than MLC_WORKSPACE_LIMIT. Sizes have 128 bits, so that none overflows; one is negative in a branch that does not
 * run for these dimensions. */
/* Whether one of the extents does not fit 64 bits. */
int mlc_beyond(int count, const __int128 *extents);
int64_t mlc_place(const mlc_buffer *buffers, int count, const __int128 *size, const int *after, int64_t *offset, int host);

/* How the launches of a program run on a device. A model for CPUs refers to none of these, so the linker omits them. */
typedef struct {
  mlc_device *(*open)(const mlc_program *program, const char *weights); /* uploads the weights; NULL on failure */
  void (*run)(mlc_device *device, mlc_call *call); /* runs program->body; the call says in, out, dim, and number */
  int (*copy_state)(mlc_device *device, const mlc_state_entry *entry, void *to, const void *from); /* 0 ok; `to` or
      `from` is in the host's memory, the other one NULL */
  void (*close)(mlc_device *device);
  const void *code; /* the device's own description of the program */
} mlc_device_code;

/* The collectives of a program, and the functions that join its ranks. A model without collectives refers to none of
 * these. */
struct mlc_collective_code {
  int slots;          /* collectives of the program, each with a slot of its own */
  int ranks;          /* how many there must be; 0: any number */
  const char *digest; /* of the program; all ranks run one */
  mlc_ranks *(*join)(const mlc_program *program, const struct mlc_comm *comm, int refused); /* NULL on failure;
      `refused`: this rank cannot begin, and tells the others */
  void (*abandon)(mlc_ranks *ranks); /* a run has failed: end what is under way */
  void (*leave)(mlc_ranks *ranks);
  int (*number)(const struct mlc_comm *comm); /* of this rank */
};

/* The description of a compiled model for the runtime; constant. */
struct mlc_program {
  const char *name;
  const char *signature; /* JSON */
  int inputs, outputs, dims, launches, sizes, decisions;
  int64_t (*workspace)(const int64_t *dim);                       /* arena bytes; negative: too large */
  int (*output_shape)(int i, const int64_t *dim, int64_t *shape); /* fills shape, returns the rank;
      -1 for NULL, -2 where an extent does not fit */
  int (*empty)(int i, const int64_t *dim); /* whether input i, or output i less the inputs, has no elements; NULL: none */
  int (*alias)(int i, const int64_t *dim, int64_t *bytes); /* the output that is the memory of input i, and its bytes;
      -1: none; NULL: none at all */
  const char *(*violated)(const int64_t *dim); /* the guard that dim violates ("seq <= 512"), or NULL; NULL: no guards */
  void (*fence)(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)); /* marks the redzones
      between buffers of the arena, for the address sanitizer; NULL: there are none */
  void (*body)(mlc_call *c);   /* every thread of the team runs it: phases of launches */
  double (*work)(const int64_t *dim); /* average work of a launch: operations, with bytes in the same unit; NULL: unknown, many */
  int64_t weights_bytes;       /* of the weights file, its header included; 0: no weights */
  const mlc_state_table *state;    /* NULL: none */
  const mlc_string_table *strings; /* NULL: none */
  const char *weights_sha256;  /* of the payload, 64 lower-case hex digits; of each rank's, where ranks have their own */
  int weights_ranks;           /* how many ranks have a weights file of their own; 0: one file for all */
  const char *weights_file;    /* base name of the file beside the library, or NULL */
  const void *embedded;        /* or the MLC_ALIGN-aligned payload inside the library */
  const char *isa; /* required CPU features, separated by spaces: "avx512f avx512vl fma"; NULL: none */
  const mlc_device_code *device; /* NULL: the launches run on the thread team */
  const mlc_collective_code *collectives; /* NULL: none */
};

/* Functions that `body` calls. It is a sequence of phases: launches that do not depend on each other.
 *
 *   for (int part; (part = mlc_claim(c)) >= 0;) k(buf, dim, part, c->parts);
 *   mlc_join(c);
 *
 * mlc_claim returns a part that no other thread gets, or a negative number if none is left. mlc_join returns when all
 * parts are done. */
int mlc_claim(mlc_call *c);
void mlc_join(mlc_call *c);

/* Writes the indices where `mask` is not 0, ascending, to `where`, and their number to `count` and to the run-time
 * dimension number `size`. */
void mlc_nonzero(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count);

/* Sets the run-time dimension number `size` to the i64 `value`, and writes it to `result`, if it is in [0, most].
 * Otherwise the run fails with the message `why`; or, for a value above a bound that `grows`, because the caller's bound
 * is too small. */
void mlc_measure(mlc_call *c, int size, const void *value, int64_t most, void *result, int grows, const char *why);

/* In a phase: whether the run has failed, so that no further step needs to run. */
static inline int mlc_failed(const mlc_call *c) { return __atomic_load_n(c->error, __ATOMIC_RELAXED) != 0; }

/* A call of a routine on strings or images: buffers and their element counts, the constant string and integers of the
 * call, and the source node. */
typedef struct {
  const void *in[3];
  int64_t count[3];
  void *out;
  int64_t made;
  const char *word;
  int64_t number[2];
  const char *node;
} mlc_step;

typedef void mlc_routine(mlc_call *c, const mlc_step *s);
mlc_routine mlc_string_intern, mlc_string_extern, mlc_string_concat, mlc_string_lower, mlc_string_upper, mlc_string_order,
    mlc_string_pieces, mlc_string_split, mlc_string_match, mlc_string_to_f64, mlc_string_to_i64, mlc_string_of_f32,
    mlc_string_of_f64, mlc_string_of_i64, mlc_string_of_ui64, mlc_string_count_tokens, mlc_string_tokens,
    mlc_string_murmur3, mlc_image_decode;

mlc_strings *mlc_strings_open(_Atomic(mlc_strings *) *all, const char *const *strings, int64_t count);
const char *mlc_strings_error(const mlc_strings *strings);
void mlc_strings_close(mlc_strings *all);

/* A run-time dimension, after the phase that computes it. */
int64_t mlc_size(const mlc_call *c, int size);

/* The position of a thread in a loop with a data-dependent number of iterations: the phase at which the loop began, and
 * the iteration. */
typedef struct {
  uint64_t run;
  int64_t step;
} mlc_loop;

/* In a phase, on one thread: publishes to all threads whether the loop `number` that began at phase `run` has an
 * iteration `step` after this phase, or which branch is taken after it. */
void mlc_loop_condition(mlc_call *c, int number, uint64_t run, int64_t step, int goes_on);

/* After that phase: whether there is another iteration. A late thread continues with the current iteration of the
 * others, or leaves the loop if it has ended. mlc_branch is negative for a late thread if the branch has ended. */
int mlc_iteration(mlc_call *c, int number, mlc_loop *loop);
int mlc_branch(mlc_call *c, int number);

/* In a phase: the run fails, and the results are invalid. */
void mlc_stop(mlc_call *c, const char *why);

/* The buffer of a loop-carried value after so many iterations, which write to two buffers alternately. */
static inline void *mlc_state(int64_t iterations, void *first, void *ping, void *pong) {
  return iterations == 0 ? first : iterations % 2 ? ping : pong;
}

/* Adds the time since the previous mark to profile[launch], and an event to the thread's track; does nothing where the
 * call is neither profiled nor traced. */
void mlc_mark(const mlc_call *c, int launch);

/* The implementation of the ABI wrappers; see mlc_model.h.in for their contracts. */
mlc_model *mlc_create(const mlc_program *program, const char *weights_path, int threads);
void mlc_destroy(mlc_model *model);
int64_t mlc_workspace_size(const mlc_program *program, const int64_t *dims);
int mlc_output_shape(const mlc_program *program, int output, const int64_t *dims, int64_t *shape);
int mlc_run(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims, void *workspace);
int mlc_profile(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                void *workspace, uint64_t *ns_per_launch);
int64_t mlc_trace(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                  void *workspace, int64_t (*events)[4], int64_t capacity);
int mlc_run_device(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                   void *stream);
void mlc_seed(mlc_model *model, int64_t number);
int mlc_get_state(mlc_model *model, const char *name, void *value);
int mlc_set_state(mlc_model *model, const char *name, const void *value);
int mlc_join_ranks(mlc_model *model, const struct mlc_comm *comm);
const char *mlc_error(void);

#pragma GCC visibility pop

/* Sections that are read before the library is loaded: see sealed.py. */
#define MLC_SIGNATURE __attribute__((section(".mlc.signature")))

#define MLC_EXPORT __attribute__((visibility("default")))
#define MLC_NOINLINE __attribute__((noinline))

/* Declares and defines the exported functions of the model whose program is `p##_program`. A program that includes the
 * header creates the model by the symbol that carries the digest of the interface: one of another interface does not
 * link. */
#define MLC_DEFINE_ABI(p, interface)                                                                           \
  typedef struct p##_model p##_model;                                                                          \
  MLC_EXPORT int p##_abi_version(void);                                                                        \
  MLC_EXPORT const char *p##_signature(void);                                                                  \
  MLC_EXPORT p##_model *p##_create(const char *weights_path, int threads);                                     \
  MLC_EXPORT p##_model *p##_create_interface_##interface(const char *weights_path, int threads);               \
  MLC_EXPORT void p##_destroy(p##_model *model);                                                               \
  MLC_EXPORT int64_t p##_workspace_size(const int64_t *dims);                                                  \
  MLC_EXPORT int p##_output_shape(int output, const int64_t *dims, int64_t *shape);                            \
  MLC_EXPORT int p##_run(p##_model *model, const void *const *inputs, void *const *outputs,                    \
                         const int64_t *dims, void *workspace);                                                \
  MLC_EXPORT int p##_profile(p##_model *model, const void *const *inputs, void *const *outputs,                \
                             const int64_t *dims, void *workspace, uint64_t *ns_per_launch);                   \
  MLC_EXPORT int64_t p##_trace(p##_model *model, const void *const *inputs, void *const *outputs,              \
                               const int64_t *dims, void *workspace, int64_t (*events)[4], int64_t capacity);  \
  MLC_EXPORT void p##_seed(p##_model *model, int64_t number);                                                  \
  MLC_EXPORT int p##_get_state(p##_model *model, const char *name, void *value);                               \
  MLC_EXPORT int p##_set_state(p##_model *model, const char *name, const void *value);                         \
  MLC_EXPORT const char *p##_error(void);                                                                      \
  int p##_abi_version(void) { return MLC_ABI; }                                                                \
  const char *p##_signature(void) { return p##_program.signature; }                                            \
  p##_model *p##_create(const char *weights_path, int threads) {                                               \
    return (p##_model *)mlc_create(&p##_program, weights_path, threads);                                       \
  }                                                                                                            \
  p##_model *p##_create_interface_##interface(const char *weights_path, int threads) {                         \
    return p##_create(weights_path, threads);                                                                  \
  }                                                                                                            \
  void p##_destroy(p##_model *model) { mlc_destroy((mlc_model *)model); }                                      \
  int64_t p##_workspace_size(const int64_t *dims) { return mlc_workspace_size(&p##_program, dims); }           \
  int p##_output_shape(int output, const int64_t *dims, int64_t *shape) {                                      \
    return mlc_output_shape(&p##_program, output, dims, shape);                                                \
  }                                                                                                            \
  int p##_run(p##_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,          \
              void *workspace) {                                                                               \
    return mlc_run((mlc_model *)model, inputs, outputs, dims, workspace);                                      \
  }                                                                                                            \
  int p##_profile(p##_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,      \
                  void *workspace, uint64_t *ns_per_launch) {                                                  \
    return mlc_profile((mlc_model *)model, inputs, outputs, dims, workspace, ns_per_launch);                   \
  }                                                                                                            \
  int64_t p##_trace(p##_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,    \
                    void *workspace, int64_t (*events)[4], int64_t capacity) {                                 \
    return mlc_trace((mlc_model *)model, inputs, outputs, dims, workspace, events, capacity);                  \
  }                                                                                                            \
  void p##_seed(p##_model *model, int64_t number) { mlc_seed((mlc_model *)model, number); }                    \
  int p##_get_state(p##_model *model, const char *name, void *value) {                                         \
    return mlc_get_state((mlc_model *)model, name, value);                                                     \
  }                                                                                                            \
  int p##_set_state(p##_model *model, const char *name, const void *value) {                                   \
    return mlc_set_state((mlc_model *)model, name, value);                                                     \
  }                                                                                                            \
  const char *p##_error(void) { return mlc_error(); }                                                          \
  _Static_assert(1, "") /* takes the semicolon after the macro */

/* The function that only a model with collectives has. */
#define MLC_DEFINE_JOIN(p)                                                                                     \
  MLC_EXPORT int p##_join(p##_model *model, const struct mlc_comm *comm);                                      \
  int p##_join(p##_model *model, const struct mlc_comm *comm) {                                                \
    return mlc_join_ranks((mlc_model *)model, comm);                                                           \
  }                                                                                                            \
  _Static_assert(1, "")

/* The function that only a model for a device has. */
#define MLC_DEFINE_DEVICE_ABI(p)                                                                               \
  MLC_EXPORT int p##_run_device(p##_model *model, const void *const *inputs, void *const *outputs,             \
                                const int64_t *dims, void *stream);                                            \
  int p##_run_device(p##_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,   \
                     void *stream) {                                                                           \
    return mlc_run_device((mlc_model *)model, inputs, outputs, dims, stream);                                  \
  }                                                                                                            \
  _Static_assert(1, "")

#endif
