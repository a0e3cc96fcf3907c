/* Texts of one run: a text is its number in a table, so that equal texts have equal numbers. Number 0 is the empty one,
 * then come the texts that the model knows, then those that a run finds. */
#ifndef MLC_TEXTS_H
#define MLC_TEXTS_H

#include "mlc_runtime.h"

#pragma GCC visibility push(hidden)

typedef struct {
  const char *text;
  size_t length;
  uint64_t hash;
} mlc_text;

typedef struct mlc_chunk {
  struct mlc_chunk *next;
  size_t used, room;
  char bytes[];
} mlc_chunk;

struct mlc_texts {
  struct mlc_texts *next; /* another thread's */
  const void *owner;
  mlc_text *entries; /* by number */
  int64_t count, room, constants;
  int64_t *slots; /* by hash: a number and 1, or 0 */
  uint64_t mask;  /* slots less 1 */
  mlc_chunk *chunks;
  char error[256];
};

/* Makes the run fail, with the step's node in the message. */
void mlc_texts_fail(mlc_texts *t, const mlc_step *s, const char *what, const char *text);

/* Memory for a text of up to `length` bytes and its zero, until the next call; NULL: there is none, the run fails. */
char *mlc_texts_reserve(mlc_texts *t, size_t length);

/* The number of what has been written to reserved memory, or of a text to be copied. */
int64_t mlc_texts_keep(mlc_texts *t, char *text, size_t length);
int64_t mlc_texts_copied(mlc_texts *t, const char *text, size_t length);

#pragma GCC visibility pop

#endif
