/* The stages of each collective: which messages it sends and receives, and what it computes between.
 *
 * A reduction of many elements has two stages: rank r gets block r of all ranks' values and combines them, then it sends
 * the combined block to all (a reduce-scatter and an all-gather: 2 (p-1)/p of the bytes a rank). Of few elements each rank
 * sends all of them, and combines all. Both combine in the same order, that of a tree over the ranks: neighbours in pairs,
 * then the pairs in pairs. So the bits are the same on all ranks, and those of NumPy in `mlc.dialects.comm`. */
#include <string.h>

#include "mlc_ranks.h"

enum { SMALL = 8192 }; /* bytes, up to which a reduction has one stage: a message takes as long as 8 kB of one */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static const char *from_of(const mlc_slot *s, int64_t element) {
  return (const char *)s->what.from + element * s->what.size;
}

static char *to_of(const mlc_slot *s, int64_t element) { return (char *)s->what.to + element * s->what.size; }

/* The first element of the block of rank n: blocks differ by one element at most, or by one unit of elements. */
static int64_t block(const mlc_slot *s, int n) {
  int64_t units = s->what.units ? s->what.units : s->what.count, unit = units ? s->what.count / units : 0;
  int64_t each = units / s->ranks, rest = units % s->ranks;
  return (each * n + smaller(n, rest)) * unit;
}

static int is_small(const mlc_slot *s) {
  return s->what.count * s->what.size <= SMALL || s->what.count < s->ranks;
}

/* Combine `count` elements of all ranks, which are in the scratch memory one after another, into `to`. */
static void combine_all(mlc_slot *s, int64_t count, void *to) {
  const mlc_collective *w = &s->what;
  size_t bytes = (size_t)(count * w->size);
  int left = s->ranks;
  for (int step = 1; left > 1; step *= 2, left = (left + 1) / 2)
    for (int n = 0; n + step < s->ranks; n += 2 * step) {
      char *a = s->scratch + (size_t)n * bytes, *b = s->scratch + (size_t)(n + step) * bytes;
      mlc_combine(w->element, w->combine, left == 2 ? to : a, a, b, count);
    }
  if (s->ranks == 1) memcpy(to, s->scratch, bytes);
}

/* Send the elements [first(n), first(n) + count(n)) to each rank n, and receive `mine` elements from each into scratch. */
static int exchange_blocks(mlc_ranks *r, mlc_slot *s, int whole) {
  int64_t first = whole ? 0 : block(s, s->rank), end = whole ? s->what.count : block(s, s->rank + 1);
  int64_t bytes = (end - first) * s->what.size;
  if (!mlc_slot_scratch(r, s, (size_t)(bytes * s->ranks))) return 1;
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_receive(r, s, n, s->scratch + n * bytes, bytes)) return 1;
  memcpy(s->scratch + s->rank * bytes, from_of(s, first), (size_t)bytes);
  for (int n = 0; n < s->ranks; n++) {
    int64_t at = whole ? 0 : block(s, n), after = whole ? s->what.count : block(s, n + 1);
    if (mlc_post_send(r, s, n, from_of(s, at), (after - at) * s->what.size)) return 1;
  }
  return 0;
}

/* Send the combined block to all, and receive theirs. */
static int gather_blocks(mlc_ranks *r, mlc_slot *s) {
  int64_t mine = block(s, s->rank), bytes = (block(s, s->rank + 1) - mine) * s->what.size;
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_receive(r, s, n, to_of(s, block(s, n)), (block(s, n + 1) - block(s, n)) * s->what.size))
      return 1;
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_send(r, s, n, to_of(s, mine), bytes)) return 1;
  return 0;
}

static int all_reduce(mlc_ranks *r, mlc_slot *s) {
  int64_t mine = block(s, s->rank);
  if (s->stage == 0) return exchange_blocks(r, s, is_small(s));
  if (s->stage == 1 && !is_small(s)) {
    combine_all(s, block(s, s->rank + 1) - mine, to_of(s, mine));
    return gather_blocks(r, s);
  }
  if (s->stage == 1) combine_all(s, s->what.count, s->what.to);
  s->active = 0;
  return 0;
}

static int reduce_scatter(mlc_ranks *r, mlc_slot *s) {
  if (s->stage == 0) return exchange_blocks(r, s, 0);
  combine_all(s, block(s, s->rank + 1) - block(s, s->rank), s->what.to);
  s->active = 0;
  return 0;
}

/* all_gather of balanced blocks. */
static int gather_uneven(mlc_ranks *r, mlc_slot *s) {
  int64_t mine = block(s, s->rank), bytes = (block(s, s->rank + 1) - mine) * s->what.size;
  if (s->stage) return s->active = 0;
  memcpy(to_of(s, mine), s->what.from, (size_t)bytes);
  return gather_blocks(r, s);
}

/* all_gather, and all_to_all, which sends each rank its own part. */
static int gather(mlc_ranks *r, mlc_slot *s) {
  int parts = s->what.kind == MLC_ALL_TO_ALL;
  int64_t count = parts ? s->what.count / s->ranks : s->what.count, bytes = count * s->what.size;
  if (s->stage) return s->active = 0;
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_receive(r, s, n, to_of(s, n * count), bytes)) return 1;
  memcpy(to_of(s, s->rank * count), from_of(s, parts ? s->rank * count : 0), (size_t)bytes);
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_send(r, s, n, from_of(s, parts ? n * count : 0), bytes)) return 1;
  return 0;
}

/* How many rows of a list are left without those of zeros at its end. */
static int64_t filled(const mlc_slot *s, int64_t list) {
  int64_t bytes = s->what.row * s->what.size, rows = bytes ? s->what.rows : 0;
  const char *first = from_of(s, list * s->what.rows * s->what.row);
  for (; rows; rows--)
    for (int64_t n = 0; n < bytes; n++)
      if (first[(rows - 1) * bytes + n]) return rows;
  return 0;
}

static int64_t sum(const int64_t *counts, int64_t lists) {
  int64_t total = 0;
  for (int64_t n = 0; n < lists; n++) total += counts[n];
  return total;
}

/* Move the filled rows of the lists between a part, in which lists are apart, and one after another. */
static void move_rows(const mlc_slot *s, char *part, char *packed, const int64_t *counts, int64_t lists, int pack) {
  size_t bytes = (size_t)(s->what.row * s->what.size), apart = (size_t)s->what.rows * bytes;
  for (int64_t n = 0; n < lists; n++, part += apart) {
    size_t size = (size_t)counts[n] * bytes;
    memcpy(pack ? packed : part, pack ? part : packed, size);
    if (!pack) memset(part + size, 0, apart - size);
    packed += size;
  }
}

/* all_to_all of lists: how many rows of each list come, then these rows. Scratch: both counts, then both packed parts. */
static int exchange_lists(mlc_ranks *r, mlc_slot *s) {
  int64_t lists = s->what.lists / s->ranks, count = s->what.count / s->ranks, row = s->what.row * s->what.size;
  size_t words = (size_t)s->what.lists * sizeof(int64_t), whole = (size_t)(s->what.count * s->what.size);
  if (s->stage == 0 && !mlc_slot_scratch(r, s, 2 * (words + whole))) return 1;
  int64_t *out = (int64_t *)s->scratch, *in = out + s->what.lists;
  char *packed = s->scratch + 2 * words, *come = packed + whole;
  if (s->stage == 0) {
    for (int64_t n = 0; n < s->what.lists; n++) out[n] = filled(s, n);
    for (int n = 0; n < s->ranks; n++)
      if (mlc_post_receive(r, s, n, in + n * lists, lists * 8) || mlc_post_send(r, s, n, out + n * lists, lists * 8))
        return 1;
    return 0;
  }
  if (s->stage == 2) {
    for (int n = 0; n < s->ranks; n++) {
      char *rows = n == s->rank ? packed : come;
      move_rows(s, to_of(s, n * count), rows + n * count * s->what.size,
                n == s->rank ? out + n * lists : in + n * lists, lists, 0);
    }
    return s->active = 0;
  }
  for (int n = 0; n < s->ranks; n++) {
    size_t at = (size_t)(n * count * s->what.size);
    if (mlc_post_receive(r, s, n, come + at, sum(in + n * lists, lists) * row)) return 1;
    move_rows(s, (char *)from_of(s, n * count), packed + at, out + n * lists, lists, 1);
    if (mlc_post_send(r, s, n, packed + at, sum(out + n * lists, lists) * row)) return 1;
  }
  return 0;
}

static int broadcast(mlc_ranks *r, mlc_slot *s) {
  int64_t bytes = s->what.count * s->what.size;
  if (s->what.root >= s->ranks)
    return mlc_ranks_fail(r, "%s: the root is rank %d of %d", s->what.where, s->what.root, s->ranks);
  if (s->stage) return s->active = 0;
  if (s->rank != s->what.root) return mlc_post_receive(r, s, s->what.root, s->what.to, bytes);
  memcpy(s->what.to, s->what.from, (size_t)bytes);
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_send(r, s, n, s->what.from, bytes)) return 1;
  return 0;
}

static int permute(mlc_ranks *r, mlc_slot *s) {
  int64_t bytes = s->what.count * s->what.size;
  if (s->stage) return s->active = 0;
  memset(s->what.to, 0, (size_t)bytes);
  for (int n = 0; n < s->what.pairs; n++) {
    int64_t from = s->what.pair[2 * n], to = s->what.pair[2 * n + 1];
    if (from >= s->ranks || to >= s->ranks)
      return mlc_ranks_fail(r, "%s: it moves rank %lld to %lld of %d", s->what.where, (long long)from, (long long)to,
                            s->ranks);
    if (from == to && to == s->rank) memcpy(s->what.to, s->what.from, (size_t)bytes);
    if (to == s->rank && mlc_post_receive(r, s, (int)from, s->what.to, bytes)) return 1;
    if (from == s->rank && mlc_post_send(r, s, (int)to, s->what.from, bytes)) return 1;
  }
  return 0;
}

static int barrier(mlc_ranks *r, mlc_slot *s) {
  if (s->stage) return s->active = 0;
  memcpy(s->what.to, s->what.from, (size_t)(s->what.count * s->what.size));
  if (!mlc_slot_scratch(r, s, (size_t)s->ranks)) return 1;
  for (int n = 0; n < s->ranks; n++)
    if (mlc_post_receive(r, s, n, s->scratch + n, 1) || mlc_post_send(r, s, n, s->scratch + s->rank, 1)) return 1;
  return 0;
}

static int number(mlc_slot *s, int64_t value) {
  memcpy(s->what.to, &value, sizeof value);
  return s->active = 0;
}

int mlc_stage(mlc_ranks *r, mlc_slot *s) {
  switch (s->what.kind) {
    case MLC_ALL_REDUCE: return all_reduce(r, s);
    case MLC_REDUCE_SCATTER: return reduce_scatter(r, s);
    case MLC_ALL_GATHER: return s->what.units ? gather_uneven(r, s) : gather(r, s);
    case MLC_ALL_TO_ALL: return s->what.lists ? exchange_lists(r, s) : gather(r, s);
    case MLC_BROADCAST: return broadcast(r, s);
    case MLC_PERMUTE: return permute(r, s);
    case MLC_BARRIER: return barrier(r, s);
    case MLC_RANK: return number(s, r->rank);
    default: return number(s, r->ranks);
  }
}
