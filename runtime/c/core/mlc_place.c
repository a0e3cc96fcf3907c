/* The arena of a call: where its buffers are, whose sizes the dimensions say. */
#include "mlc_runtime.h"

int64_t mlc_place(const mlc_buffer *buffers, int count, const __int128 *size, const int *after, int64_t *offset, int host) {
  __int128 ends[count + 1], total[2] = {0};
  for (int n = 0; n < count; n++) {
    const mlc_buffer *b = &buffers[n];
    __int128 start = b->at, bytes = size[b->size];
    for (int i = b->first; i < b->last; i++)
      if (ends[after[i]] > start) start = ends[after[i]];
    ends[n] = start + (bytes > 0 ? bytes : 0);
    if (ends[n] > total[b->on_host]) total[b->on_host] = ends[n];
    if (offset) offset[b->number] = (int64_t)start;
  }
  return total[host] > MLC_WORKSPACE_LIMIT ? -1 : (int64_t)total[host];
}
