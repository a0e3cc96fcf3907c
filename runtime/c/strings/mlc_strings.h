/* Strings of one run: a string is its number in a table, so that equal strings have equal numbers. Number 0 is the empty
 * one, then come the model's constant strings, then those of a run. */
#ifndef MLC_STRINGS_H
#define MLC_STRINGS_H

#include "mlc_runtime.h"

#pragma GCC visibility push(hidden)

typedef struct {
  const char *string;
  size_t length;
  uint64_t hash;
} mlc_string;

typedef struct mlc_chunk {
  struct mlc_chunk *next;
  size_t used, room;
  char bytes[];
} mlc_chunk;

struct mlc_strings {
  struct mlc_strings *next; /* another thread's */
  const void *owner;
  mlc_string *entries; /* by number */
  int64_t count, room, constants;
  int64_t *slots; /* by hash: a number and 1, or 0 */
  uint64_t mask;  /* slots less 1 */
  mlc_chunk *chunks;
  char error[256];
};

/* Makes the run fail, with the step's node in the message. */
void mlc_strings_fail(mlc_strings *t, const mlc_step *s, const char *what, const char *string);

/* Memory for a string of up to `length` bytes and its zero, valid until the next call; NULL: out of memory, the run
 * fails. */
char *mlc_strings_reserve(mlc_strings *t, size_t length);

/* The number of what has been written to reserved memory, or of a string to be copied. */
int64_t mlc_strings_keep(mlc_strings *t, char *string, size_t length);
int64_t mlc_strings_copied(mlc_strings *t, const char *string, size_t length);

int32_t mlc_string_decoded_wide(const char **string);

/* Decodes the code point at `string` and advances; an invalid byte is a code point of its own, its value less 256. */
static inline int32_t mlc_string_decoded(const char **string) {
  return (unsigned char)**string < 0x80 ? *(*string)++ : mlc_string_decoded_wide(string);
}

/* Ranges of code points by the first of each, in order; and what has been looked up: a range of ASCII and 1, or 0. */
typedef struct {
  const int32_t *first;
  int64_t count;
  uint16_t ascii[128];
} mlc_ranges;

int64_t mlc_range_found(mlc_ranges *r, int32_t code);

/* The number of the last range that begins at a code point or before; 0 before all. */
static inline int64_t mlc_range_of(mlc_ranges *r, int32_t code) {
  return (uint32_t)code < 128 && r->ascii[code] ? r->ascii[code] - 1 : mlc_range_found(r, code);
}

#pragma GCC visibility pop

#endif
