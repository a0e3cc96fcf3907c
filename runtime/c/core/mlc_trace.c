/* Traces: which thread executed parts of which launch, and when. Each thread has a lane, which it alone writes in a run. */
#include <stdlib.h>
#include <string.h>

#include "mlc_internal.h"

typedef struct {
  uint64_t begin, end;
  int launch;
} event;

/* `since`: the end of the lane's last event, or the claim of the part in progress. */
struct mlc_lane {
  _Alignas(64) uint64_t since;
  int busy, lost;
  int64_t count, room;
  event *events;
};

mlc_lane *mlc_lanes_create(int threads) {
  mlc_lane *lanes = aligned_alloc(_Alignof(mlc_lane), (size_t)threads * sizeof *lanes);
  if (lanes) memset(lanes, 0, (size_t)threads * sizeof *lanes);
  return lanes;
}

void mlc_lanes_destroy(mlc_lane *lanes, int threads) {
  for (int i = 0; lanes && i < threads; i++) free(lanes[i].events);
  free(lanes);
}

void mlc_lanes_clear(mlc_lane *lanes, int threads) {
  for (int i = 0; i < threads; i++) lanes[i].count = 0, lanes[i].lost = 0;
}

void mlc_lane_claim(const mlc_call *c, int busy) {
  mlc_lane *lane = &c->lanes[c->tid];
  lane->busy = busy;
  lane->since = mlc_now();
}

void mlc_lane_mark(const mlc_call *c, int launch) {
  mlc_lane *lane = &c->lanes[c->tid];
  if (!lane->busy) return; /* the mark after a phase */
  if (lane->count == lane->room) {
    int64_t room = lane->room ? 2 * lane->room : 256;
    event *more = realloc(lane->events, (size_t)room * sizeof *more);
    if (!more) {
      lane->lost = 1;
      return;
    }
    lane->events = more, lane->room = room;
  }
  uint64_t now = mlc_now();
  lane->events[lane->count++] = (event){lane->since, now, launch};
  lane->since = now;
}

int64_t mlc_lanes_copy(const mlc_lane *lanes, int threads, uint64_t start, int64_t (*events)[4], int64_t capacity) {
  int64_t n = 0;
  for (int i = 0; i < threads; i++) {
    if (lanes[i].lost) return -1;
    for (int64_t k = 0; k < lanes[i].count; k++, n++) {
      if (n >= capacity) continue;
      const event *e = &lanes[i].events[k];
      events[n][0] = i, events[n][1] = e->launch;
      events[n][2] = (int64_t)(e->begin - start), events[n][3] = (int64_t)(e->end - start);
    }
  }
  return n;
}
