/* The ranks of a model: joining them, messages, and waits with a limit. */
#include "mlc_ranks.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIGITS = 64, TAGS = 32768, SLEEPS_AFTER = 10000000 /* ns */, SLEEP = 20000 /* ns */ };

int mlc_ranks_fail(mlc_ranks *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(r->error, sizeof r->error, format, args);
  va_end(args);
  r->broken = 1;
  return 1;
}

char *mlc_slot_scratch(mlc_ranks *r, mlc_slot *s, size_t bytes) {
  if (bytes <= s->scratch_bytes && s->scratch) return s->scratch;
  free(s->scratch);
  s->scratch = malloc(bytes ? bytes : 1);
  s->scratch_bytes = s->scratch ? bytes : 0;
  if (!s->scratch) mlc_ranks_fail(r, "%s: no memory for %zu bytes of other ranks", s->what.where, bytes);
  return s->scratch;
}

/* Both sides of a message compute the same tag. Those of the stages of one collective, of collectives one after another,
 * and of other programs differ: ranks that are not at one place wait up to the limit, and take nothing for another. */
static int tag_of(const mlc_ranks *r, const mlc_slot *s) {
  return (int)((r->offset + s->number * 2 + (uint64_t)s->stage) % TAGS);
}

static int add_request(mlc_ranks *r, mlc_slot *s, int peer, int receives, void *handle) {
  if (!handle)
    return mlc_ranks_fail(r, "%s: a message %s rank %d failed: %s", s->what.where, receives ? "from" : "to", peer,
                          r->comm->error(r->comm->self));
  s->request[s->requests++] = (mlc_request){handle, peer, receives};
  return 0;
}

/* The rank of the job that is rank n of the group. */
static int of_job(const mlc_ranks *r, const mlc_slot *s, int n) {
  return s->what.ranks ? r->rank + (n - s->rank) * s->what.stride : n;
}

int mlc_post_send(mlc_ranks *r, mlc_slot *s, int member, const void *data, int64_t bytes) {
  int to = of_job(r, s, member);
  if (to == r->rank || !bytes) return 0;
  return add_request(r, s, to, 0, r->comm->send(r->comm->self, to, tag_of(r, s), data, bytes));
}

int mlc_post_receive(mlc_ranks *r, mlc_slot *s, int member, void *data, int64_t bytes) {
  int from = of_job(r, s, member);
  if (from == r->rank || !bytes) return 0;
  return add_request(r, s, from, 1, r->comm->receive(r->comm->self, from, tag_of(r, s), data, bytes));
}

int mlc_advance(mlc_ranks *r, mlc_slot *s) {
  while (s->active) {
    for (int n = 0; n < s->requests;) {
      mlc_request each = s->request[n];
      int done = r->comm->test(r->comm->self, each.handle);
      if (!done) {
        n++;
        continue;
      }
      s->request[n] = s->request[--s->requests];
      if (done < 0)
        return mlc_ranks_fail(r, "rank %d: %s: a message %s rank %d failed: %s", r->rank, s->what.where,
                              each.receives ? "from" : "to", each.peer, r->comm->error(r->comm->self));
    }
    if (s->requests) return 0;
    s->stage++;
    if (mlc_stage(r, s)) return 1;
  }
  return 0;
}

/* ", 1, 3" for the ranks of requests of one kind; how many. */
static int list(const mlc_slot *s, int receives, char *text, size_t room) {
  int found = 0;
  size_t used = 0;
  text[0] = 0;
  for (int n = 0; n < s->requests; n++)
    if (s->request[n].receives == receives && used + 16 < room)
      used += (size_t)snprintf(text + used, room - used, "%s%d", found++ ? ", " : "", s->request[n].peer);
  return found;
}

/* The wait is over its limit: say which collective, and which ranks do not come. */
static int too_late(mlc_ranks *r, mlc_slot *s) {
  char ranks[512];
  int receives = list(s, 1, ranks, sizeof ranks);
  if (!receives) list(s, 0, ranks, sizeof ranks);
  mlc_ranks_fail(r, "rank %d of %d waited %g s for %s (collective %llu of the model): %s rank %s", r->rank, r->ranks,
                 r->comm->limit, s->what.where, (unsigned long long)s->number,
                 receives ? "nothing comes from" : "nothing is taken by", ranks);
  return 1;
}

int mlc_wait_for(mlc_ranks *r, mlc_slot *s) {
  if (!s->active) return 0; /* of one rank alone it never is */
  uint64_t begin = mlc_now(), limit = (uint64_t)(r->comm->limit * 1e9);
  while (s->active) {
    for (int n = 0; n < r->slots; n++) /* the others go on meanwhile */
      if (r->slot[n].active && mlc_advance(r, &r->slot[n])) return 1;
    if (!s->active) return 0;
    uint64_t waited = mlc_now() - begin;
    if (waited > limit) return too_late(r, s);
    if (waited > SLEEPS_AFTER)
      nanosleep(&(struct timespec){0, SLEEP}, NULL);
    else
      sched_yield();
  }
  return 0;
}

static int begin(mlc_ranks *r, mlc_slot *s, const mlc_collective *what) {
  if (r->broken || s->active)
    return mlc_ranks_fail(r, "%s: an earlier run has failed between its collectives: start all ranks again", what->where);
  s->what = *what;
  s->ranks = what->ranks ? what->ranks : r->ranks;
  s->rank = what->ranks ? r->rank / what->stride % what->ranks : r->rank;
  s->number = r->started++;
  s->active = 1, s->stage = 0, s->requests = 0;
  return mlc_stage(r, s) || mlc_advance(r, s);
}

void mlc_ranks_abandon(mlc_ranks *r) {
  for (int n = 0; n < r->slots; n++) {
    mlc_slot *s = &r->slot[n];
    r->broken |= s->active;
    while (s->requests) r->comm->cancel(r->comm->self, s->request[--s->requests].handle);
    s->active = 0;
  }
}

void mlc_start(mlc_call *c, int slot, const mlc_collective *what) {
  mlc_ranks *r = c->ranks;
  if (mlc_failed(c)) return;
  for (int n = 0; n < r->slots; n++)
    if (r->slot[n].active && n != slot && mlc_advance(r, &r->slot[n])) return mlc_stop(c, r->error);
  if (begin(r, &r->slot[slot], what)) mlc_stop(c, r->error);
}

void mlc_wait(mlc_call *c, int slot) {
  mlc_ranks *r = c->ranks;
  if (!mlc_failed(c) && mlc_wait_for(r, &r->slot[slot])) mlc_stop(c, r->error);
}

/* All ranks run one program: gather the digests. A rank that cannot begin sends none, but spaces. */
static int compare(mlc_ranks *r, const mlc_program *program, char *digests, int refused) {
  char none[DIGITS];
  memset(none, ' ', DIGITS);
  const char *own = refused ? none : program->collectives->digest;
  uint64_t offset = r->offset;
  r->offset = 0; /* as long as the programs may differ */
  mlc_collective what = {.kind = MLC_ALL_GATHER, .count = DIGITS, .size = 1, .from = own, .to = digests};
  what.where = "the join of the model's ranks";
  if (begin(r, &r->slot[0], &what) || mlc_wait_for(r, &r->slot[0])) return mlc_ranks_abandon(r), 1;
  r->offset = offset;
  for (int n = 0; n < r->ranks; n++)
    if (digests[n * DIGITS] == ' ') return mlc_ranks_fail(r, "rank %d cannot begin, and says why", n);
  for (int n = 0; n < r->ranks; n++)
    if (memcmp(digests + n * DIGITS, own, DIGITS))
      return mlc_ranks_fail(r, "rank %d runs another program than rank %d: compile the same source with the same options, "
                            "and for the same target, on all ranks", n, r->rank);
  return 0;
}

static mlc_ranks *allocated(const mlc_program *program, const mlc_comm *comm) {
  mlc_ranks *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->comm = comm;
  r->ranks = comm ? comm->ranks : 1;
  r->rank = comm ? comm->rank : 0;
  r->slots = program->collectives->slots;
  r->slot = calloc((size_t)r->slots, sizeof *r->slot);
  for (int n = 0; r->slot && n < r->slots; n++) {
    r->slot[n].request = calloc((size_t)r->ranks * 2, sizeof(mlc_request));
    if (!r->slot[n].request) return mlc_ranks_leave(r), NULL;
  }
  return r->slot ? r : (free(r), NULL);
}

mlc_ranks *mlc_ranks_join(const mlc_program *program, const mlc_comm *comm, int refused) {
  if (comm && comm->version != MLC_COMM_VERSION)
    return mlc_fail("a table mlc_comm of version %d, not %d", comm->version, MLC_COMM_VERSION), NULL;
  int ranks = comm ? comm->ranks : 1, needed = program->collectives->ranks;
  if (needed && needed != ranks)
    return mlc_fail("model '%s' is for %d ranks, and there are %d", program->name, needed, ranks), NULL;
  mlc_ranks *r = allocated(program, comm);
  char *digests = malloc((size_t)ranks * DIGITS);
  if (!r || !digests) return free(digests), mlc_ranks_leave(r), mlc_fail("out of memory for %d ranks", ranks), NULL;
  for (int n = 0; n < DIGITS; n++) r->offset = r->offset * 31 + (unsigned char)program->collectives->digest[n];
  int failed = refused | (comm && compare(r, program, digests, refused));
  free(digests);
  if (!failed) return r;
  if (!refused) mlc_fail("%s", r->error);
  mlc_ranks_leave(r);
  return NULL;
}

int mlc_ranks_number(const mlc_comm *comm) { return comm ? comm->rank : 0; }

void mlc_ranks_leave(mlc_ranks *r) {
  for (int n = 0; r && r->slot && n < r->slots; n++) {
    free(r->slot[n].request);
    free(r->slot[n].scratch);
  }
  if (r) free(r->slot);
  free(r);
}
