/* The table of the strings of a run: open addressing by hash, and the memory of the strings that the run found. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlc_strings.h"

enum { FIRST_SLOTS = 256, CHUNK = 1 << 16 };

static _Thread_local char identity; /* its address is the thread's */

/* Eight bytes a step: xor, multiply, and fold the high half, which has the most of all bits, into the low one. */
static uint64_t hash_of(const char *string, size_t length) {
  uint64_t hash = length * 0x9e3779b97f4a7c15u, word = 0;
  for (; length >= sizeof word; string += sizeof word, length -= sizeof word) {
    memcpy(&word, string, sizeof word);
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    hash ^= hash >> 32;
  }
  word = 0;
  memcpy(&word, string, length);
  hash = (hash ^ word) * 0x9fb21c651e98df25u;
  return hash ^ hash >> 32;
}

static int64_t *slot_of(const mlc_strings *t, const mlc_string *e) {
  for (uint64_t at = e->hash & t->mask;; at = (at + 1) & t->mask) {
    if (!t->slots[at]) return &t->slots[at];
    const mlc_string *other = &t->entries[t->slots[at] - 1];
    if (other->hash == e->hash && other->length == e->length && !memcmp(other->string, e->string, e->length))
      return &t->slots[at];
  }
}

void mlc_strings_fail(mlc_strings *t, const mlc_step *s, const char *what, const char *string) {
  if (!t->error[0]) snprintf(t->error, sizeof t->error, "node '%s': %s%.80s", s ? s->node : "", what, string);
}

/* Slots for twice as many strings as there may be entries; half of them stay empty. */
static int grow(mlc_strings *t) {
  int64_t room = t->room ? 2 * t->room : FIRST_SLOTS / 2;
  mlc_string *entries = realloc(t->entries, (size_t)room * sizeof *entries);
  if (entries) t->entries = entries;
  int64_t *slots = calloc(2 * (size_t)room, sizeof *slots);
  if (!entries || !slots) return free(slots), mlc_strings_fail(t, NULL, "out of memory for strings", ""), 1;
  free(t->slots);
  t->slots = slots, t->room = room, t->mask = 2 * (uint64_t)room - 1;
  for (int64_t n = 0; n < t->count; n++) *slot_of(t, &t->entries[n]) = n + 1;
  return 0;
}

/* The slot of a string and its hash; NULL: out of memory. */
static int64_t *found_slot(mlc_strings *t, mlc_string *e) {
  if (t->count == t->room && grow(t)) return NULL;
  e->hash = hash_of(e->string, e->length);
  return slot_of(t, e);
}

/* The number of a string with this slot, which is new and must stay where it is. */
static int64_t entered(mlc_strings *t, int64_t *slot, const mlc_string *e) {
  t->entries[t->count] = *e;
  return (*slot = ++t->count) - 1;
}

char *mlc_strings_reserve(mlc_strings *t, size_t length) {
  mlc_chunk *c = t->chunks;
  if (c && c->room - c->used > length) return c->bytes + c->used;
  size_t room = length + 1 > CHUNK ? length + 1 : CHUNK;
  c = malloc(sizeof *c + room);
  if (!c) return mlc_strings_fail(t, NULL, "out of memory for strings", ""), NULL;
  *c = (mlc_chunk){.next = t->chunks, .room = room};
  t->chunks = c;
  return c->bytes;
}

int64_t mlc_strings_keep(mlc_strings *t, char *string, size_t length) {
  mlc_string e = {.string = string, .length = length};
  string[length] = 0;
  int64_t *slot = found_slot(t, &e);
  if (!slot || *slot) return slot ? *slot - 1 : 0;
  t->chunks->used += length + 1;
  return entered(t, slot, &e);
}

int64_t mlc_strings_copied(mlc_strings *t, const char *string, size_t length) {
  mlc_string e = {.string = string, .length = length};
  int64_t *slot = found_slot(t, &e);
  if (!slot || *slot) return slot ? *slot - 1 : 0;
  char *to = mlc_strings_reserve(t, length);
  if (!to) return 0;
  e.string = memcpy(to, string, length);
  to[length] = 0;
  t->chunks->used += length + 1;
  return entered(t, slot, &e);
}

int32_t mlc_string_decoded_wide(const char **string) {
  const unsigned char *at = (const unsigned char *)*string;
  int more = *at < 0x80 ? 0 : *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : *at >= 0xC0 ? 1 : -1;
  int32_t code = more > 0 ? *at & (0x3F >> more) : *at;
  for (int n = 1; n <= more; n++) {
    if ((at[n] & 0xC0) != 0x80) more = -1;
    code = code << 6 | (at[n] & 0x3F);
  }
  *string += 1 + (more > 0 ? more : 0);
  return more < 0 ? *at - 256 : code;
}

int64_t mlc_range_found(mlc_ranges *r, int32_t code) {
  int64_t low = 0, high = r->count;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (r->first[middle] <= code) low = middle; else high = middle;
  }
  if (code >= 0 && code < 128 && low < UINT16_MAX) r->ascii[code] = (uint16_t)(low + 1);
  return low;
}

static void free_chunks(mlc_chunk *c) {
  for (mlc_chunk *next; c; c = next) next = c->next, free(c);
}

/* Forgets the strings of the run before. Those found last leave the slots first, so the others are still found. One
 * chunk stays, unless a long string made it. */
static mlc_strings *emptied(mlc_strings *t) {
  for (; t->count > t->constants; t->count--) {
    uint64_t at = t->entries[t->count - 1].hash & t->mask;
    while (t->slots[at] != t->count) at = (at + 1) & t->mask;
    t->slots[at] = 0;
  }
  if (t->chunks && t->chunks->room == CHUNK) {
    free_chunks(t->chunks->next);
    t->chunks->next = NULL, t->chunks->used = 0;
  } else {
    free_chunks(t->chunks);
    t->chunks = NULL;
  }
  t->error[0] = 0;
  return t;
}

static void strings_free(mlc_strings *t) {
  free_chunks(t->chunks);
  free(t->entries);
  free(t->slots);
  free(t);
}

static mlc_strings *strings_new(const char *const *known, int64_t count) {
  mlc_strings *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->owner = &identity;
  for (int64_t n = 0; n < count; n++) {
    mlc_string e = {.string = known[n], .length = strlen(known[n])};
    int64_t *slot = found_slot(t, &e);
    if (slot && !*slot) entered(t, slot, &e);
  }
  t->constants = t->count;
  if (!t->error[0]) return t;
  strings_free(t);
  return NULL;
}

mlc_strings *mlc_strings_open(_Atomic(mlc_strings *) *all, const char *const *known, int64_t count) {
  for (mlc_strings *t = atomic_load(all); t; t = t->next)
    if (t->owner == &identity) return emptied(t);
  mlc_strings *t = strings_new(known, count);
  if (!t) return NULL;
  t->next = atomic_load(all);
  while (!atomic_compare_exchange_weak(all, &t->next, t)) continue;
  return t;
}

const char *mlc_strings_error(const mlc_strings *t) { return t->error[0] ? t->error : NULL; }

void mlc_strings_close(mlc_strings *all) {
  for (mlc_strings *next; all; all = next) next = all->next, strings_free(all);
}
