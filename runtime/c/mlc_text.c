/* Routines on texts: steps of the host program, each on one thread. See dialects/texts.py for what they mean. */
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
#include "mlc_texts.h"

void mlc_text_intern(mlc_call *c, const mlc_step *s) {
  const char *const *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) to[i] = mlc_texts_copied(c->texts, from[i], strlen(from[i]));
}

void mlc_text_extern(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  const char **to = s->out;
  for (int64_t i = 0; i < s->made; i++) to[i] = c->texts->entries[from[i]].text;
}

void mlc_text_concat(mlc_call *c, const mlc_step *s) {
  const int64_t *x = s->in[0], *y = s->in[1];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_text a = c->texts->entries[x[i]], b = c->texts->entries[y[i]];
    char *text = mlc_texts_reserve(c->texts, a.length + b.length);
    if (text) memcpy(text, a.text, a.length), memcpy(text + a.length, b.text, b.length);
    to[i] = text ? mlc_texts_keep(c->texts, text, a.length + b.length) : 0;
  }
}

/* The code point at `text`, and behind it; a byte that begins none is one of its own, less 256. */
static int32_t decoded(const char **text) {
  const unsigned char *at = (const unsigned char *)*text;
  int more = *at < 0x80 ? 0 : *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : *at >= 0xC0 ? 1 : -1;
  int32_t code = more > 0 ? *at & (0x3F >> more) : *at;
  for (int n = 1; n <= more; n++) {
    if ((at[n] & 0xC0) != 0x80) more = -1;
    code = code << 6 | (at[n] & 0x3F);
  }
  *text += 1 + (more > 0 ? more : 0);
  return more < 0 ? *at - 256 : code;
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

static void change_case(mlc_texts *t, const mlc_step *s, const case_run *runs, size_t count) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_text e = t->entries[from[i]];
    char *text = mlc_texts_reserve(t, 2 * e.length), *end = text; /* two bytes may become three, one stays one */
    for (const char *at = e.text; text && at < e.text + e.length;) end = encoded(end, cased(decoded(&at), runs, count));
    to[i] = text ? mlc_texts_keep(t, text, (size_t)(end - text)) : 0;
  }
}

void mlc_text_lower(mlc_call *c, const mlc_step *s) {
  change_case(c->texts, s, lower_runs, sizeof lower_runs / sizeof *lower_runs);
}

void mlc_text_upper(mlc_call *c, const mlc_step *s) {
  change_case(c->texts, s, upper_runs, sizeof upper_runs / sizeof *upper_runs);
}

/* What is left of a text to split, at most `splits` times (negative: as often as it goes). */
typedef struct {
  const char *at, *mark;
  int64_t splits;
} splitter;

static const char SPACES[] = " \t\n\v\f\r";

/* The next piece, or NULL. */
static const char *next_piece(splitter *p, size_t *length) {
  if (!*p->mark && p->at) p->at += strspn(p->at, SPACES);
  const char *piece = p->at;
  if (!piece || (!*p->mark && !*piece)) return NULL;
  *length = strlen(piece);
  const char *end = p->splits == 0 ? NULL : *p->mark ? strstr(piece, p->mark) : piece + strcspn(piece, SPACES);
  p->at = end ? end + strlen(p->mark) : NULL;
  if (end) *length = (size_t)(end - piece), p->splits--;
  return piece;
}

void mlc_text_pieces(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    splitter p = {c->texts->entries[from[i]].text, s->word, s->number[0]};
    size_t length;
    for (to[i] = 0; next_piece(&p, &length); to[i]++) continue;
    if (to[i] > s->number[1]) mlc_texts_fail(c->texts, s, "a text of too many pieces, see 'maxsplit': ", p.mark), to[i] = 0;
  }
}

void mlc_text_split(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out, width = s->count[0] ? s->made / s->count[0] : 0;
  for (int64_t i = 0; i < s->count[0]; i++) {
    splitter p = {c->texts->entries[from[i]].text, s->word, s->number[0]};
    for (int64_t n = 0; n < width; n++) {
      size_t length;
      const char *piece = next_piece(&p, &length);
      to[i * width + n] = piece ? mlc_texts_copied(c->texts, piece, length) : 0;
    }
  }
}

typedef struct {
  const char *text;
  int64_t place;
} placed;

static int by_text(const void *a, const void *b) {
  return strcmp(((const placed *)a)->text, ((const placed *)b)->text);
}

/* Equal texts have equal ranks, in the order of their code points. */
void mlc_text_order(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out, rank = 0;
  placed *all = malloc(((size_t)s->made + 1) * sizeof *all);
  if (!all) return mlc_texts_fail(c->texts, s, "out of memory for texts", "");
  for (int64_t i = 0; i < s->made; i++) all[i] = (placed){c->texts->entries[from[i]].text, i};
  qsort(all, (size_t)s->made, sizeof *all, by_text);
  for (int64_t i = 0; i < s->made; i++) {
    rank += i && strcmp(all[i - 1].text, all[i].text);
    to[all[i].place] = rank;
  }
  free(all);
}

/* Follows an automaton: in[1] is where kinds of characters begin, in[2] the states behind each and whether it ends. */
void mlc_text_match(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0], kinds = s->count[1];
  const int32_t *first = s->in[1], *table = s->in[2];
  uint8_t *to = s->out;
  for (int64_t i = 0; i < s->made; i++) {
    mlc_text e = c->texts->entries[from[i]];
    int64_t state = 0;
    for (const char *at = e.text; at < e.text + e.length;) {
      int32_t code = decoded(&at);
      int64_t low = 0, high = kinds;
      while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (first[middle] <= code) low = middle; else high = middle;
      }
      state = table[state * (kinds + 1) + low];
    }
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

static void check_number(mlc_call *c, const mlc_step *s, const char *text, char *end) {
  end += strspn(end, SPACES);
  if (end == text || *end) mlc_texts_fail(c->texts, s, "no number: ", text);
}

void mlc_text_to_f64(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  double *to = s->out;
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) {
    const char *text = c->texts->entries[from[i]].text;
    char *end;
    to[i] = strtod(text, &end);
    check_number(c, s, text, end);
  }
  old_locale(plain, before);
}

/* Whole numbers of i64 and ui64 alike; of others the whole part. */
void mlc_text_to_i64(mlc_call *c, const mlc_step *s) {
  const int64_t *from = s->in[0];
  int64_t *to = s->out;
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) {
    const char *text = c->texts->entries[from[i]].text;
    char *end;
    to[i] = strchr(text, '-') ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
    if (end[strspn(end, SPACES)]) {
      double real = strtod(text, &end);
      to[i] = fabs(real) < 0x1p63 ? (int64_t)real : 0;
    }
    check_number(c, s, text, end);
  }
  old_locale(plain, before);
}

static void print_real(mlc_call *c, int64_t *to, double value, int digits) {
  char *text = mlc_texts_reserve(c->texts, 400);
  if (!text) return;
  int length = isnan(value)   ? sprintf(text, "NaN")
               : isinf(value) ? sprintf(text, value > 0 ? "INF" : "-INF")
                              : sprintf(text, "%.*g", digits, value);
  *to = mlc_texts_keep(c->texts, text, (size_t)length);
}

void mlc_text_of_f32(mlc_call *c, const mlc_step *s) {
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) print_real(c, (int64_t *)s->out + i, ((const float *)s->in[0])[i], 8);
  old_locale(plain, before);
}

void mlc_text_of_f64(mlc_call *c, const mlc_step *s) {
  locale_t before, plain = plain_locale(&before);
  for (int64_t i = 0; i < s->made; i++) print_real(c, (int64_t *)s->out + i, ((const double *)s->in[0])[i], 17);
  old_locale(plain, before);
}

void mlc_text_of_i64(mlc_call *c, const mlc_step *s) {
  for (int64_t i = 0; i < s->made; i++) {
    char text[32];
    int length = sprintf(text, "%lld", (long long)((const int64_t *)s->in[0])[i]);
    ((int64_t *)s->out)[i] = mlc_texts_copied(c->texts, text, (size_t)length);
  }
}

void mlc_text_of_ui64(mlc_call *c, const mlc_step *s) {
  for (int64_t i = 0; i < s->made; i++) {
    char text[32];
    int length = sprintf(text, "%llu", (unsigned long long)((const uint64_t *)s->in[0])[i]);
    ((int64_t *)s->out)[i] = mlc_texts_copied(c->texts, text, (size_t)length);
  }
}
