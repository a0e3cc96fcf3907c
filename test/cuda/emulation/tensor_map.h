/* Tensor maps for the emulation: what cuTensorMapEncodeTiled takes, checked as its documentation says (CUDA Driver API
 * 13.0, "Tensor Map Object Management"). */
#ifndef MLC_EMULATED_TENSOR_MAP_H
#define MLC_EMULATED_TENSOR_MAP_H

#include <stdint.h>

enum { MLC_MOST_AXES = 5 };

struct mlc_tensor_map {
  const char *start;
  int32_t bytes, rank, span, unused; /* of an element; span of the swizzle in bytes: 0, 32, 64 or 128 */
  int64_t extent[MLC_MOST_AXES], stride[MLC_MOST_AXES - 1]; /* elements, the fastest first; bytes, from the second on */
  int32_t box[MLC_MOST_AXES], rest;
};
static_assert(sizeof(mlc_tensor_map) <= 128, "no larger than CUtensorMap");

/* 0, or 1 (CUDA_ERROR_INVALID_VALUE). */
inline int mlc_emulated_encode(mlc_tensor_map *map, int type, unsigned rank, const void *start, const uint64_t *extents,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                               int swizzle, int promotion, int fill) {
  static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (type < 0 || type > 12 || rank < 1 || rank > MLC_MOST_AXES || interleave || fill || swizzle < 0 || swizzle > 3) return 1;
  if ((uintptr_t)start % 16 || (uintptr_t)map % 64 || promotion < 0 || promotion > 3) return 1;
  *map = {(const char *)start, sizes[type], (int)rank, swizzle ? 16 << swizzle : 0, 0, {}, {}, {}, 0};
  for (unsigned n = 0; n < rank; n++) {
    if (!extents[n] || extents[n] > 1ull << 32 || !box[n] || box[n] > 256 || steps[n] != 1) return 1;
    map->extent[n] = (int64_t)extents[n], map->box[n] = (int)box[n];
    if (!n) continue;
    const uint64_t before = n > 1 ? strides[n - 2] : 16;
    if (strides[n - 1] % 16 || strides[n - 1] >= 1ull << 40 || strides[n - 1] % before) return 1;
    map->stride[n - 1] = (int64_t)strides[n - 1];
  }
  const int row = map->box[0] * map->bytes;
  return row % 16 || (map->span && row > map->span);
}

#endif
