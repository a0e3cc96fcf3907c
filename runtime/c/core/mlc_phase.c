/* Phases: the work of a phase is partitioned into parts. Threads claim the parts of their own share first, then those of
 * others (work stealing). */
#include "mlc_team.h"

/* The time at the start of a phase in which no thread steals. */
enum { PATIENCE_NS = 4000 };

/* Takes the next part of a share; -1 if none is left. A share that still has the number of an earlier phase is
 * complete. All parts of a phase are taken before it ends, so a late thread finds none. */
static int share_take(share *s, uint64_t phase) {
  uint64_t first = phase << PART_BITS, next = atomic_load_explicit(&s->next, memory_order_relaxed);
  while (next < first + PARTS) {
    uint64_t mine = next < first ? first : next;
    if (atomic_compare_exchange_weak(&s->next, &next, mine + 1)) return (int)(mine - first);
  }
  return -1;
}

/* Opens the next phase; called by the thread that finished the last part. */
static void phase_end(mlc_team *team) {
  atomic_store_explicit(&team->done, 0, memory_order_relaxed);
  mlc_gate_open(&team->phase);
}

/* Reports the parts claimed since the last report as done. */
static void report(mlc_call *c) {
  int done = c->claimed;
  c->claimed = 0;
  if (done && atomic_fetch_add(&c->team->done, done) + done == c->parts) phase_end(c->team);
}

/* Work stealing: takes a part of another thread's share. First it waits, because the owner's cache has the data. */
static int steal(mlc_call *c) {
  mlc_team *team = c->team;
  if (c->visited == 0 && mlc_gate_spin(&team->phase, (unsigned)c->phase, PATIENCE_NS)) c->visited = team->threads;
  for (c->visited += c->visited == 0; c->visited < team->threads; c->visited++) {
    int owner = (c->tid + c->visited) % team->threads, part = share_take(&team->shares[owner], c->phase);
    if (part >= 0) return owner * PARTS + part;
  }
  return -1;
}

static int claim(mlc_call *c) {
  if (!c->team) return c->claimed++ ? -1 : 0;
  int part = c->visited ? -1 : share_take(&c->team->shares[c->tid], c->phase);
  if (part >= 0)
    part += c->tid * PARTS;
  else
    report(c), part = steal(c);
  c->claimed += part >= 0;
  return part;
}

int mlc_claim(mlc_call *c) {
  int part = claim(c);
  if (c->tracks) mlc_track_claim(c, part >= 0);
  return part;
}

void mlc_join(mlc_call *c) {
  c->claimed = c->visited = 0;
  if (!c->team) return;
  mlc_phase_wait(c->team, c->phase);
  c->phase++;
}
