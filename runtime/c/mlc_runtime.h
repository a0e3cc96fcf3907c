/* The interface between generated code and the runtime, and the C ABI of a compiled model.
 *
 * Generated code defines kernels, one `const mlc_program <prefix>_program`, and ends with MLC_DEFINE_ABI(<prefix>).
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
typedef struct mlc_texts mlc_texts;

typedef struct mlc_decision mlc_decision;

/* One inference in flight, as one thread sees it. */
typedef struct {
  const void *const *in;
  void *const *out;
  const int64_t *dim; /* values of the symbolic dimensions, in signature order */
  char *arena;        /* MLC_ALIGN-aligned, program->workspace(dim) bytes, contents undefined */
  const char *weights;
  int64_t number;    /* of runs of the model before this one */
  uint64_t *profile; /* ns per launch, or NULL; on the caller's thread only */
  int parts;         /* that each phase is cut into */
  int tid;           /* 0: the caller's */
  mlc_team *team;    /* NULL: the caller's thread works alone */
  mlc_texts *texts;  /* of this run, where the model has texts */
  int64_t *sizes;    /* found out by this inference; those of the team, or of the thread that works alone */
  mlc_decision *decisions; /* about loops and branches; as sizes */
  const char **error;      /* what makes the results worthless, or NULL */
  int *grow;               /* 1 + the size for which there is too little room, or 0 */
  uint64_t phase;    /* of the team, and this thread's claims in it: parts, and the shares they are from */
  int claimed, visited;
} mlc_call;

/* The texts of a model, and how its runs get the table of their own. A model without texts names none of these functions,
 * so the linker leaves them out. */
typedef struct {
  const char *const *texts; /* that the model knows */
  int64_t count;
  mlc_texts *(*open)(_Atomic(mlc_texts *) *all, const char *const *texts, int64_t count); /* of the calling thread, as
      the model has it before a run; NULL: out of memory */
  const char *(*error)(const mlc_texts *texts); /* why the run failed, or NULL */
  void (*close)(mlc_texts *all);
} mlc_text_table;

/* Everything a compiled model tells the runtime; constant. */
typedef struct {
  const char *name;
  const char *signature; /* JSON */
  int inputs, outputs, dims, launches, sizes, decisions;
  int64_t (*workspace)(const int64_t *dim);                       /* arena bytes; negative: too large */
  int (*output_shape)(int i, const int64_t *dim, int64_t *shape); /* fills shape, returns the rank */
  const char *(*violated)(const int64_t *dim); /* the condition dim breaks ("seq <= 512"), or NULL; NULL: none stand */
  void (*fence)(const int64_t *dim, char *arena, void (*mark)(const volatile void *, size_t)); /* what lies between
      buffers of the arena, for the address sanitizer; NULL: they touch */
  void (*body)(mlc_call *c);   /* every thread of the team runs it: phases of launches */
  double (*work)(const int64_t *dim); /* operations a launch on average, a byte counted as some; NULL: many */
  int64_t weights_bytes;       /* of the weights file, its header included; 0: no weights */
  const mlc_text_table *texts; /* NULL: none */
  const char *weights_sha256;  /* of the payload, 64 lower-case hex digits */
  const char *weights_file;    /* base name of the file beside the library, or NULL */
  const void *embedded;        /* or the MLC_ALIGN-aligned payload inside the library */
  const char *isa; /* CPU features needed, separated by spaces: "avx512f avx512vl fma"; NULL: none */
} mlc_program;

/* Called by `body`, which is a sequence of phases: launches that do not depend on each other.
 *
 *   for (int part; (part = mlc_claim(c)) >= 0;) k(buf, dim, part, c->parts);
 *   mlc_join(c);
 *
 * A claim is a part that no other thread has or gets, or negative: none is left. The join returns when all are done. */
int mlc_claim(mlc_call *c);
void mlc_join(mlc_call *c);

/* Writes where `mask` is not 0, ascending, and how many that are: into `count`, and as the call's size number `size`. */
void mlc_positions(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count);

/* Takes the i64 `value` for the call's size number `size` if it is 0 to `most`, and writes it into `told`. Otherwise the
 * run fails: because of `why`, or where it is too large and the size `grows`, for want of room. */
void mlc_measure(mlc_call *c, int size, const void *value, int64_t most, void *told, int grows, const char *why);

/* In a phase: whether the results are worthless, so that no step need run. */
static inline int mlc_failed(const mlc_call *c) { return __atomic_load_n(c->error, __ATOMIC_RELAXED) != 0; }

/* A routine, on texts or images: buffers and their elements, words and numbers of the call, the node it is for. */
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
mlc_routine mlc_text_intern, mlc_text_extern, mlc_text_concat, mlc_text_lower, mlc_text_upper, mlc_text_order,
    mlc_text_pieces, mlc_text_split, mlc_text_match, mlc_text_to_f64, mlc_text_to_i64, mlc_text_of_f32,
    mlc_text_of_f64, mlc_text_of_i64, mlc_text_of_ui64, mlc_image_decode;

mlc_texts *mlc_texts_open(_Atomic(mlc_texts *) *all, const char *const *texts, int64_t count);
const char *mlc_texts_error(const mlc_texts *texts);
void mlc_texts_close(mlc_texts *all);

/* A size of the call, behind the phase that finds it out. */
int64_t mlc_size(const mlc_call *c, int size);

/* Where a thread is in a loop whose turns are decided on when it runs: the phase the loop began with, and the turn. */
typedef struct {
  uint64_t run;
  int64_t step;
} mlc_loop;

/* In a phase: whether the loop `number` that begins with the phase `run` has a turn `step`, behind this phase; or which
 * branch is taken there. One thread says so, all act on it. */
void mlc_decide(mlc_call *c, int number, uint64_t run, int64_t step, int goes_on);

/* Behind that phase: whether there is another turn. A thread that comes late goes on with the turn that the others are
 * at, or leaves the loop if that is over; mlc_branch is then negative: neither branch is left to take. */
int mlc_turn(mlc_call *c, int number, mlc_loop *loop);
int mlc_branch(mlc_call *c, int number);

/* In a phase: the results are worthless. */
void mlc_stop(mlc_call *c, const char *why);

/* Where a state is after so many turns, which write to two places alternately. */
static inline void *mlc_state(int64_t turns, void *first, void *even, void *odd) {
  return turns == 0 ? first : turns % 2 ? even : odd;
}

/* Adds the time since the previous mark to profile[launch]; does nothing where the call is not profiled. */
void mlc_mark(const mlc_call *c, int launch);

/* Behind the ABI wrappers; see mlc_model.h.in for their contracts. */
mlc_model *mlc_create(const mlc_program *program, const char *weights_path, int threads);
void mlc_destroy(mlc_model *model);
int64_t mlc_workspace_size(const mlc_program *program, const int64_t *dims);
int mlc_output_shape(const mlc_program *program, int output, const int64_t *dims, int64_t *shape);
int mlc_run(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims, void *workspace);
int mlc_profile(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                void *workspace, uint64_t *ns_per_launch);
void mlc_seed(mlc_model *model, int64_t number);
const char *mlc_error(void);

#pragma GCC visibility pop

#define MLC_EXPORT __attribute__((visibility("default")))

/* Declares and defines the exported functions of the model whose program is `p##_program`. */
#define MLC_DEFINE_ABI(p)                                                                                      \
  typedef struct p##_model p##_model;                                                                          \
  MLC_EXPORT int p##_abi_version(void);                                                                        \
  MLC_EXPORT const char *p##_signature(void);                                                                  \
  MLC_EXPORT p##_model *p##_create(const char *weights_path, int threads);                                     \
  MLC_EXPORT void p##_destroy(p##_model *model);                                                               \
  MLC_EXPORT int64_t p##_workspace_size(const int64_t *dims);                                                  \
  MLC_EXPORT int p##_output_shape(int output, const int64_t *dims, int64_t *shape);                            \
  MLC_EXPORT int p##_run(p##_model *model, const void *const *inputs, void *const *outputs,                    \
                         const int64_t *dims, void *workspace);                                                \
  MLC_EXPORT int p##_profile(p##_model *model, const void *const *inputs, void *const *outputs,                \
                             const int64_t *dims, void *workspace, uint64_t *ns_per_launch);                   \
  MLC_EXPORT void p##_seed(p##_model *model, int64_t number);                                                  \
  MLC_EXPORT const char *p##_error(void);                                                                      \
  int p##_abi_version(void) { return MLC_ABI; }                                                                \
  const char *p##_signature(void) { return p##_program.signature; }                                            \
  p##_model *p##_create(const char *weights_path, int threads) {                                               \
    return (p##_model *)mlc_create(&p##_program, weights_path, threads);                                       \
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
  void p##_seed(p##_model *model, int64_t number) { mlc_seed((mlc_model *)model, number); }                    \
  const char *p##_error(void) { return mlc_error(); }                                                          \
  _Static_assert(1, "") /* takes the semicolon after the macro */

#endif
