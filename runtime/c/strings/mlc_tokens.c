/* Tokens of strings: characters, pieces between separators, or matches of an expression; and MurmurHash3 of strings.
 * The second operand of the former, of i32, says how: see frontends/build/ops/strings/tokens.py. */
#include <stdlib.h>
#include <string.h>

#include "mlc_strings.h"

enum { CHARACTERS, SEPARATORS, EXPRESSION }; /* how[0]; then how[1]: marks or not; how[2]: patterns, and where they begin */

/* A search of a text. `without[n]` is a state from which no match ends at byte n or later, or -1, so that a text is not
 * read again to its end from each of its characters. */
typedef struct {
  const int32_t *how;
  const char *text, *end;
  mlc_ranges ranges;
  int32_t *without; /* of this text, if it `remembers` */
  size_t room;      /* bytes there, from text to text */
  int remembers;
} searched;

typedef struct {
  const int32_t *how;
  int64_t least;      /* characters of a token */
  searched *searches; /* one a pattern, or NULL */
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

/* Tokens of a step's strings; `searches` is NULL, and the run fails, where memory has no room. */
static tokens opened(mlc_call *c, const mlc_step *s) {
  tokens t = {.how = s->in[1], .least = s->number[0], .strings = c->strings};
  size_t patterns = (size_t)t.how[2];
  t.searches = calloc(patterns + 1, sizeof *t.searches);
  if (!t.searches) mlc_strings_fail(c->strings, s, "out of memory for tokens", "");
  for (size_t n = 0; t.searches && n < patterns; n++) {
    const int32_t *how = t.how + t.how[3 + n];
    t.searches[n] = (searched){.how = how, .ranges = {.first = how + 2, .count = how[0]}};
  }
  return t;
}

static void closed(tokens *t) {
  for (int32_t n = 0; t->searches && n < t->how[2]; n++) free(t->searches[n].without);
  free(t->searches);
}

static searched *search_of(tokens *t, int32_t n, const char *text, const char *end) {
  searched *s = &t->searches[n];
  s->text = text, s->end = end, s->remembers = 0;
  return s;
}

static int64_t class_of(searched *s, int32_t code) { return s->how[2 + s->how[0] + mlc_range_of(&s->ranges, code)]; }

/* Memory for the states of this text; 0: there is none, and the search goes on without. */
static int remember(searched *s) {
  size_t size = ((size_t)(s->end - s->text) + 1) * sizeof *s->without;
  if (size > s->room) {
    free(s->without);
    s->without = malloc(size);
    s->room = s->without ? size : 0;
  }
  if (s->without) memset(s->without, -1, size);
  return s->remembers = s->without != NULL;
}

/* Whether a state has been here and no match followed; if not, it is noted. */
static int tried(searched *s, const char *at, int32_t state) {
  if (!s->remembers && !remember(s)) return 0;
  int32_t *without = &s->without[at - s->text], before = *without;
  *without = state;
  return before == state;
}

enum { SHORT = 16 /* characters that are read again rather than remembered */ };

/* The end of the longest match that begins at `at` after a character of class `before`, or NULL. */
static const char *match(searched *s, int64_t before, const char *at) {
  const int32_t *begins = s->how + 2 + 2 * s->how[0];
  int64_t classes = s->how[1];
  const int32_t *rows = begins + classes + 1;
  const char *found = NULL, *end = s->end, *first = at;
  int32_t state = begins[before];
  for (int steps = 0;; steps++) {
    const int32_t *row = rows + state * (2 * classes + 1);
    const char *next = at;
    if (steps >= SHORT && tried(s, at, state)) break;
    int64_t c = at < end ? class_of(s, mlc_string_decoded(&next)) : classes;
    if (row[classes + c]) found = at;
    if (at == end || row[c] < 0) break;
    state = row[c], at = next;
  }
  for (const char *p = first; s->remembers && found && p <= found; p++) s->without[p - s->text] = -1;
  return found;
}

/* The first match from `at` on, or NULL; its end in *stop. */
static const char *search(searched *s, const char *at, const char **stop) {
  const int32_t *begins = s->how + 2 + 2 * s->how[0];
  int64_t classes = s->how[1], before = classes;
  const int32_t *rows = begins + classes + 1;
  const char *text = s->text, *end = s->end, *last = at;
  while (last > text && ((unsigned char)last[-1] & 0xC0) == 0x80) last--;
  if (last > text) last--, before = class_of(s, mlc_string_decoded(&last));
  for (;;) {
    const int32_t *row = rows + begins[before] * (2 * classes + 1);
    const char *next = at;
    int64_t c = at < end ? class_of(s, mlc_string_decoded(&next)) : classes;
    int begins_here = row[classes + c] || (at < end && row[c] >= 0); /* most characters begin no match */
    if (begins_here && (*stop = match(s, before, at))) return at;
    if (at == end) return NULL;
    before = c, at = next;
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
  searched *s = search_of(t, n, text, end);
  for (const char *at = text, *stop;;) {
    const char *found = search(s, at, &stop);
    const char *piece_end = found ? found : end;
    int64_t length = 0;
    for (const char *c = at; c < piece_end && length < t->least; length++) mlc_string_decoded(&c);
    if (length >= t->least) separate(t, n + 1, at, piece_end);
    if (!found || found == end) break;
    at = after(found, stop, end);
  }
}

static void express(tokens *t, const char *text, const char *end) {
  searched *s = search_of(t, 0, text, end);
  for (const char *at = text, *stop; (at = search(s, at, &stop)) && at < end;) {
    int64_t count = t->count;
    if (stop > at) add(t, at, stop);
    if (t->count > count) at = stop; else mlc_string_decoded(&at);
  }
}

static void tokenize(tokens *t, mlc_string e) {
  const char *end = e.string + e.length;
  if (t->how[0] == SEPARATORS) return separate(t, 0, e.string, end);
  if (t->how[0] == EXPRESSION) return express(t, e.string, end);
  for (const char *at = e.string, *from = at; at < end; from = at) mlc_string_decoded(&at), add(t, from, at);
}

static int is_utf8(mlc_string e) {
  for (const char *at = e.string; at < e.string + e.length;)
    if (mlc_string_decoded(&at) < 0) return 0;
  return 1;
}

void mlc_string_count_tokens(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  tokens t = opened(c, s);
  for (int64_t i = 0; t.searches && i < s->made; i++) {
    mlc_string e = c->strings->entries[from[i]];
    int valid = is_utf8(e);
    if (!valid) mlc_strings_fail(c->strings, s, "a string that is not UTF-8: ", e.string);
    t.count = 0;
    if (valid) tokenize(&t, e);
    ((int64_t *)s->out)[i] = t.count;
  }
  closed(&t);
}

/* The tokens of each string in a row, marked by the strings 2 and 3 around them, filled up with `word`. */
void mlc_string_tokens(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t width = s->count[0] ? s->made / s->count[0] : 0;
  int64_t filler = mlc_strings_copied(c->strings, s->word, strlen(s->word));
  tokens t = opened(c, s);
  for (int64_t i = 0; t.searches && width && i < s->count[0]; i++) {
    t.to = (int64_t *)s->out + i * width, t.count = 0;
    if (t.how[1]) t.to[t.count++] = mlc_strings_copied(c->strings, "\2", 1);
    tokenize(&t, c->strings->entries[from[i]]);
    if (t.how[1]) t.to[t.count++] = mlc_strings_copied(c->strings, "\3", 1);
    while (t.count < width) t.to[t.count++] = filler;
  }
  closed(&t);
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
