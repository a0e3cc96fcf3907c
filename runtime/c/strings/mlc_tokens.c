/* Tokens of strings: characters, pieces between separators, or matches of an expression; and MurmurHash3 of strings.
 * The second operand of the former, of i32, says how: see frontends/build/ops/strings/tokens.py. */
#include <stdlib.h>
#include <string.h>

#include "mlc_strings.h"

enum { CHARACTERS, SEPARATORS, EXPRESSION }; /* how[0]; then how[1]: marks or not; how[2]: patterns, and where they begin */

typedef struct {
  const int32_t *how;
  int64_t least; /* characters of a token */
  mlc_strings *strings;
  int64_t count, *to; /* tokens so far, and where to write them, or NULL */
} tokens;

static void add(tokens *t, const char *text, const char *end) {
  int64_t length = 0;
  for (const char *at = text; at < end && length < t->least; length++) mlc_string_decoded(&at);
  if (length < t->least) return;
  if (t->to) t->to[t->count] = mlc_strings_copied(t->strings, text, (size_t)(end - text));
  t->count++;
}

static int64_t class_of(const int32_t *searcher, int32_t code) {
  int64_t low = 0, high = searcher[0];
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (searcher[2 + middle] <= code) low = middle; else high = middle;
  }
  return searcher[2 + searcher[0] + low];
}

/* A search of a text: `without[n]` is a state from which no match ends at byte n or later, or -1, so that a text is not
 * read again to its end from each of its characters. */
typedef struct {
  const int32_t *how;
  const char *text, *end;
  int32_t *without;
} searched;

static int open_search(searched *s, tokens *t, const int32_t *how, const char *text, const char *end) {
  size_t size = ((size_t)(end - text) + 1) * sizeof *s->without;
  *s = (searched){how, text, end, malloc(size)};
  if (s->without) return memset(s->without, -1, size), 1;
  mlc_strings_fail(t->strings, NULL, "out of memory for tokens", "");
  return 0;
}

/* The end of the longest match that begins at `at` after a character of class `before`, or NULL. */
static const char *match(searched *s, int64_t before, const char *at) {
  const int32_t *searcher = s->how, *begins = searcher + 2 + 2 * searcher[0];
  int64_t classes = searcher[1];
  const int32_t *rows = begins + classes + 1;
  const char *found = NULL, *end = s->end, *first = at;
  for (int32_t state = begins[before];;) {
    const int32_t *row = rows + state * (2 * classes + 1);
    const char *next = at;
    if (s->without[at - s->text] == state) break;
    s->without[at - s->text] = state;
    int64_t c = at < end ? class_of(searcher, mlc_string_decoded(&next)) : classes;
    if (row[classes + c]) found = at;
    if (at == end || row[c] < 0) break;
    state = row[c], at = next;
  }
  for (const char *p = first; found && p <= found; p++) s->without[p - s->text] = -1;
  return found;
}

/* The first match from `at` on, or NULL; its end in *stop. */
static const char *search(searched *s, const char *at, const char **stop) {
  const int32_t *searcher = s->how;
  const char *text = s->text, *end = s->end, *last = at;
  int64_t before = searcher[1];
  while (last > text && ((unsigned char)last[-1] & 0xC0) == 0x80) last--;
  if (last > text) last--, before = class_of(searcher, mlc_string_decoded(&last));
  for (;;) {
    if ((*stop = match(s, before, at))) return at;
    if (at == end) return NULL;
    before = class_of(searcher, mlc_string_decoded(&at));
  }
}

/* Whoever finds nothing between two matches goes on after the first character of the second one. */
static const char *after(const char *at, const char *stop, const char *end) {
  if (stop == at && at < end) mlc_string_decoded(&stop);
  return stop;
}

/* What is left of a text between matches of the separators from number `n` on. */
static void separate(tokens *t, int32_t n, const char *text, const char *end) {
  if (n == t->how[2]) return add(t, text, end);
  searched s;
  if (!open_search(&s, t, t->how + t->how[3 + n], text, end)) return;
  for (const char *at = text, *stop;;) {
    const char *found = search(&s, at, &stop);
    const char *piece_end = found ? found : end;
    int64_t length = 0;
    for (const char *c = at; c < piece_end && length < t->least; length++) mlc_string_decoded(&c);
    if (length >= t->least) separate(t, n + 1, at, piece_end);
    if (!found || found == end) break;
    at = after(found, stop, end);
  }
  free(s.without);
}

static void express(tokens *t, const char *text, const char *end) {
  searched s;
  if (!open_search(&s, t, t->how + t->how[3], text, end)) return;
  for (const char *at = text, *stop; (at = search(&s, at, &stop)) && at < end;) {
    int64_t count = t->count;
    if (stop > at) add(t, at, stop);
    if (t->count > count) at = stop; else mlc_string_decoded(&at);
  }
  free(s.without);
}

static void tokenize(tokens *t, mlc_string e) {
  const char *end = e.string + e.length;
  if (t->how[0] == SEPARATORS) return separate(t, 0, e.string, end);
  if (t->how[0] == EXPRESSION) return express(t, e.string, end);
  for (const char *at = e.string, *from = at; at < end; from = at) mlc_string_decoded(&at), add(t, from, at);
}

void mlc_string_count_tokens(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  for (int64_t i = 0; i < s->made; i++) {
    mlc_string e = c->strings->entries[from[i]];
    for (const char *at = e.string; at < e.string + e.length;)
      if (mlc_string_decoded(&at) < 0) return mlc_strings_fail(c->strings, s, "a string that is not UTF-8: ", e.string);
    tokens t = {.how = s->in[1], .least = s->number[0], .strings = c->strings};
    tokenize(&t, e);
    ((int64_t *)s->out)[i] = t.count;
  }
}

/* The tokens of each string in a row, marked by the strings 2 and 3 around them, filled up with `word`. */
void mlc_string_tokens(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t width = s->count[0] ? s->made / s->count[0] : 0;
  int64_t filler = mlc_strings_copied(c->strings, s->word, strlen(s->word));
  for (int64_t i = 0; width && i < s->count[0]; i++) {
    int64_t *to = (int64_t *)s->out + i * width;
    tokens t = {.how = s->in[1], .least = s->number[0], .strings = c->strings, .to = to};
    if (t.how[1]) to[t.count++] = mlc_strings_copied(c->strings, "\2", 1);
    tokenize(&t, c->strings->entries[from[i]]);
    if (t.how[1]) to[t.count++] = mlc_strings_copied(c->strings, "\3", 1);
    while (t.count < width) to[t.count++] = filler;
  }
}

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t mixed(uint32_t block) { return rotated(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

void mlc_string_murmur3(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  for (int64_t i = 0; i < s->made; i++) {
    mlc_string e = c->strings->entries[from[i]];
    const unsigned char *bytes = (const unsigned char *)e.string;
    uint32_t hash = (uint32_t)s->number[0], tail = 0;
    size_t whole = e.length / 4 * 4;
    for (size_t n = 0; n < whole; n += 4) {
      uint32_t block = bytes[n] | (uint32_t)bytes[n + 1] << 8 | (uint32_t)bytes[n + 2] << 16 | (uint32_t)bytes[n + 3] << 24;
      hash = rotated(hash ^ mixed(block), 13) * 5 + 0xe6546b64u;
    }
    for (size_t n = e.length; n > whole; n--) tail = tail << 8 | bytes[n - 1];
    if (e.length > whole) hash ^= mixed(tail);
    hash ^= (uint32_t)e.length;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    ((uint32_t *)s->out)[i] = hash ^ hash >> 16;
  }
}
