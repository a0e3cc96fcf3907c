/* Routines on strings: steps of the host program, each on one thread. Their meaning: dialects/semantics/string_routines.py. */
#define _GNU_SOURCE
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlc_case.h"
#include "mlc_strings.h"

void mlc_string_intern(mlc_call *c, const mlc_step *s) {
  const char *const *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    if (!from[i]) mlc_strings_fail(c->strings, s, "a string that it reads is NULL", "");
    to[i] = from[i] ? mlc_strings_copied(c->strings, from[i], strlen(from[i])) : 0;
  }
}

void mlc_string_extern(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  const char **to = s->out;
  for (int64_t i = 0; i < s->made; i++) to[i] = c->strings->entries[from[i]].string;
}

void mlc_string_concat(mlc_call *c, const mlc_step *s) {
  const int64_t *x = s->in[0], *y = s->in[1];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_string a = c->strings->entries[x[i]], b = c->strings->entries[y[i]];
    char *string = mlc_strings_reserve(c->strings, a.length + b.length);
    if (string) memcpy(string, a.string, a.length), memcpy(string + a.length, b.string, b.length);
    to[i] = string ? mlc_strings_keep(c->strings, string, a.length + b.length) : 0;
  }
}

static char *encoded(char *to, int32_t code) {
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  if (more <= 0 || code < 0) return *to = (char)code, to + 1;
  *to++ = (char)((0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more);
  while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
  return to;
}

static int32_t cased(int32_t code, const case_run *runs, size_t count) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (runs[middle].last < code) low = middle + 1; else high = middle;
  }
  const case_run *r = &runs[low];
  return low < count && code >= r->first && (code - r->first) % r->step == 0 ? code + r->delta : code;
}

/* The first run is that of ASCII, which has no other. */
static char ascii_cased(char c, const case_run *runs) {
  return c >= runs->first && c <= runs->last ? (char)(c + runs->delta) : c;
}

static void change_case(mlc_strings *t, const mlc_step *s, const case_run *runs, size_t count) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_string e = t->entries[from[i]];
    char *string = mlc_strings_reserve(t, 2 * e.length), *end = string; /* two bytes may become three, one stays one */
    for (const char *at = e.string; string && at < e.string + e.length;)
      if ((unsigned char)*at < 0x80) *end++ = ascii_cased(*at++, runs);
      else end = encoded(end, cased(mlc_string_decoded(&at), runs, count));
    to[i] = string ? mlc_strings_keep(t, string, (size_t)(end - string)) : 0;
  }
}

void mlc_string_lower(mlc_call *c, const mlc_step *s) {
  change_case(c->strings, s, lower_runs, sizeof lower_runs / sizeof *lower_runs);
}

void mlc_string_upper(mlc_call *c, const mlc_step *s) {
  change_case(c->strings, s, upper_runs, sizeof upper_runs / sizeof *upper_runs);
}

/* What is left of a string to split, at most `splits` times (negative: as often as it goes). */
typedef struct {
  const char *at, *end, *mark;
  size_t width; /* of the mark; 0: spaces */
  int64_t splits;
} splitter;

static const char SPACES[] = " \t\n\v\f\r";

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static splitter split_of(const mlc_string *e, const mlc_step *s) {
  return (splitter){e->string, e->string + e->length, s->word, strlen(s->word), s->number[0]};
}

/* The first mark at or after `at`, or NULL. */
static const char *next_mark(const splitter *p, const char *at) {
  if (p->width > 1) return strstr(at, p->mark);
  if (p->width) return memchr(at, *p->mark, (size_t)(p->end - at));
  while (at < p->end && !is_space(*at)) at++;
  return at;
}

/* The next piece, or NULL. */
static const char *next_piece(splitter *p, size_t *length) {
  while (!p->width && p->at && is_space(*p->at)) p->at++;
  const char *piece = p->at;
  if (!piece || (!p->width && !*piece)) return NULL;
  const char *end = p->splits == 0 ? NULL : next_mark(p, piece);
  p->at = end ? end + p->width : NULL;
  *length = (size_t)((end ? end : p->end) - piece);
  if (end) p->splits--;
  return piece;
}

void mlc_string_pieces(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    splitter p = split_of(&c->strings->entries[from[i]], s);
    size_t length;
    for (to[i] = 0; next_piece(&p, &length); to[i]++) continue;
    if (to[i] > s->number[1]) mlc_strings_fail(c->strings, s, "a string of too many pieces, see 'maxsplit': ", p.mark), to[i] = 0;
  }
}

void mlc_string_split(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out, width = s->count[0] ? s->made / s->count[0] : 0;
  for (int64_t i = 0; i < s->count[0]; i++) {
    splitter p = split_of(&c->strings->entries[from[i]], s);
    for (int64_t n = 0; n < width; n++) {
      size_t length;
      const char *piece = next_piece(&p, &length);
      to[i * width + n] = piece ? mlc_strings_copied(c->strings, piece, length) : 0;
    }
  }
}

typedef struct {
  const char *string;
  int64_t place;
} placed;

static int by_string(const void *a, const void *b) {
  return strcmp(((const placed *)a)->string, ((const placed *)b)->string);
}

/* Equal strings have equal ranks, in the order of their code points. */
void mlc_string_order(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out, rank = 0;
  placed *all = malloc(((size_t)s->made + 1) * sizeof *all);
  if (!all) return mlc_strings_fail(c->strings, s, "out of memory for strings", "");
  for (int64_t i = 0; i < s->made; i++) all[i] = (placed){c->strings->entries[from[i]].string, i};
  qsort(all, (size_t)s->made, sizeof *all, by_string);
  for (int64_t i = 0; i < s->made; i++) {
    rank += i && strcmp(all[i - 1].string, all[i].string);
    to[all[i].place] = rank;
  }
  free(all);
}

/* Runs an automaton: in[1] has the first code points of character classes, in[2] the next state for each class. */
void mlc_string_match(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0], kinds = s->count[1];
  mlc_ranges ranges = {.first = s->in[1], .count = kinds};
  const int32_t *table = s->in[2];
  uint8_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_string e = c->strings->entries[from[i]];
    int64_t state = 0;
    for (const char *at = e.string; at < e.string + e.length;)
      state = table[state * (kinds + 1) + mlc_range_of(&ranges, mlc_string_decoded(&at))];
    to[i] = (uint8_t)table[state * (kinds + 1) + kinds];
  }
}

/* Numbers are read and written as in C, whatever the program's locale. */
static locale_t plain_locale(locale_t *before) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  *before = plain ? uselocale(plain) : (locale_t)0;
  return plain;
}

static void old_locale(locale_t plain, locale_t before) {
  if (!plain) return;
  uselocale(before);
  freelocale(plain);
}

static void check_number(mlc_call *c, const mlc_step *s, const char *string, char *end) {
  end += strspn(end, SPACES);
  if (end == string || *end) mlc_strings_fail(c->strings, s, "no number: ", string);
}

void mlc_string_to_f64(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  double *to = s->out;
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) {
    const char *string = c->strings->entries[from[i]].string;
    char *end;
    to[i] = strtod(string, &end);
    check_number(c, s, string, end);
  }
  old_locale(plain, before);
}

/* Whole numbers of i64 and ui64 alike; of others the whole part. */
void mlc_string_to_i64(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) {
    const char *string = c->strings->entries[from[i]].string;
    char *end;
    to[i] = strchr(string, '-') ? strtoll(string, &end, 10) : (int64_t)strtoull(string, &end, 10);
    if (end[strspn(end, SPACES)]) {
      double real = strtod(string, &end);
      to[i] = fabs(real) < 0x1p63 ? (int64_t)real : 0;
    }
    check_number(c, s, string, end);
  }
  old_locale(plain, before);
}

static void print_real(mlc_call *c, int64_t *to, double value, int digits) {
  char *string = mlc_strings_reserve(c->strings, 400);
  if (!string) return;
  int length = isnan(value)   ? sprintf(string, "NaN")
               : isinf(value) ? sprintf(string, value > 0 ? "INF" : "-INF")
                              : sprintf(string, "%.*g", digits, value);
  *to = mlc_strings_keep(c->strings, string, (size_t)length);
}

void mlc_string_of_f32(mlc_call *c, const mlc_step *s) {
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) print_real(c, (int64_t *)s->out + i, ((const float *)s->in[0])[i], 8);
  old_locale(plain, before);
}

void mlc_string_of_f64(mlc_call *c, const mlc_step *s) {
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) print_real(c, (int64_t *)s->out + i, ((const double *)s->in[0])[i], 17);
  old_locale(plain, before);
}

/* The string of a whole number. */
static int64_t printed(mlc_call *c, uint64_t value, int negative) {
  char digits[21], *end = digits + sizeof digits, *at = end;
  do *--at = (char)('0' + value % 10); while (value /= 10);
  if (negative) *--at = '-';
  return mlc_strings_copied(c->strings, at, (size_t)(end - at));
}

void mlc_string_of_i64(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  for (int64_t i = 0; i < s->made; i++)
    ((int64_t *)s->out)[i] = printed(c, from[i] < 0 ? 0 - (uint64_t)from[i] : (uint64_t)from[i], from[i] < 0);
}

void mlc_string_of_ui64(mlc_call *c, const mlc_step *s) {
  for (int64_t i = 0; i < s->made; i++) ((int64_t *)s->out)[i] = printed(c, ((const uint64_t *)s->in[0])[i], 0);
}
