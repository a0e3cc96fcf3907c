/* Traces: which thread executed parts of which launch, and when. Each thread has a track, which it alone writes in a run. */
#include <stdlib.h>
#include <string.h>

#include "mlc_internal.h"

typedef struct {
  uint64_t begin, end;
  int launch;
} event;

/* `since`: the end of the track's last event, or the claim of the part in progress. */
struct mlc_track {
  _Alignas(64) uint64_t since;
  int busy, lost;
  int64_t count, room;
  event *events;
};

mlc_track *mlc_tracks_create(int threads) {
  mlc_track *tracks = aligned_alloc(_Alignof(mlc_track), (size_t)threads * sizeof *tracks);
  if (tracks) memset(tracks, 0, (size_t)threads * sizeof *tracks);
  return tracks;
}

void mlc_tracks_destroy(mlc_track *tracks, int threads) {
  for (int i = 0; tracks && i < threads; i++) free(tracks[i].events);
  free(tracks);
}

void mlc_tracks_clear(mlc_track *tracks, int threads) {
  for (int i = 0; i < threads; i++) tracks[i].count = 0, tracks[i].lost = 0;
}

void mlc_track_claim(const mlc_call *c, int busy) {
  mlc_track *track = &c->tracks[c->tid];
  track->busy = busy;
  track->since = mlc_now();
}

void mlc_track_mark(const mlc_call *c, int launch) {
  mlc_track *track = &c->tracks[c->tid];
  if (!track->busy) return; /* the mark after a phase */
  if (track->count == track->room) {
    int64_t room = track->room ? 2 * track->room : 256;
    event *more = realloc(track->events, (size_t)room * sizeof *more);
    if (!more) {
      track->lost = 1;
      return;
    }
    track->events = more, track->room = room;
  }
  uint64_t now = mlc_now();
  track->events[track->count++] = (event){track->since, now, launch};
  track->since = now;
}

int64_t mlc_tracks_copy(const mlc_track *tracks, int threads, uint64_t start, int64_t (*events)[4], int64_t capacity) {
  int64_t n = 0;
  for (int i = 0; i < threads; i++) {
    if (tracks[i].lost) return -1;
    for (int64_t k = 0; k < tracks[i].count; k++, n++) {
      if (n >= capacity) continue;
      const event *e = &tracks[i].events[k];
      events[n][0] = i, events[n][1] = e->launch;
      events[n][2] = (int64_t)(e->begin - start), events[n][3] = (int64_t)(e->end - start);
    }
  }
  return n;
}
