/* Tensor maps: how the bulk copies of a kernel (TMA) see its buffers; encoded at each launch that is recorded. */
#include "mlc_cuda_device.h"

/* The type of elements of so many bytes: unsigned integers, because bits are copied as they are. */
static int type_of(int itemsize) {
  return itemsize == 1 ? MLC_CUDA_UINT8 : itemsize == 2 ? MLC_CUDA_UINT16 : MLC_CUDA_UINT32;
}

static int swizzle_of(int span) {
  return span == 128 ? MLC_CUDA_SWIZZLE_128 : span == 64 ? MLC_CUDA_SWIZZLE_64 : span == 32 ? MLC_CUDA_SWIZZLE_32 : 0;
}

int mlc_cuda_encode_map(mlc_call *c, uint64_t *words, const mlc_cuda_map *map, void *const *buffer) {
  mlc_device *d = c->device;
  const char *name = d->program->name;
  uint64_t extents[MLC_MAP_AXES], strides[MLC_MAP_AXES];
  uint32_t box[MLC_MAP_AXES], steps[MLC_MAP_AXES];
  void *start = buffer[map->buffer];
  if (!d->cuda->encode_map || (uintptr_t)start % 16) {
    if (d->cuda->encode_map) mlc_fail("a tensor of model '%s' begins at an address that is no multiple of 16 bytes", name);
    else mlc_fail("the CUDA driver is too old for model '%s': it lacks cuTensorMapEncodeTiled. Install one for CUDA 12.0 or later", name);
    mlc_stop(c, mlc_error());
    return 1;
  }
  for (int n = 0; n < map->rank; n++) {
    extents[n] = map->extent[n] > 0 ? (uint64_t)map->extent[n] : 1; /* of an empty tensor nothing is copied */
    strides[n] = (uint64_t)map->stride[n];
    box[n] = (uint32_t)map->box[n], steps[n] = 1;
  }
  int result = d->cuda->encode_map(words, type_of(map->itemsize), (uint32_t)map->rank, start, extents, strides, box, steps,
                                   MLC_CUDA_NO_INTERLEAVE, swizzle_of(map->span), MLC_CUDA_PROMOTE_256,
                                   MLC_CUDA_ZEROS_OUTSIDE);
  return mlc_cuda_failed(c, result, "the CUDA driver refuses a tensor map of model ");
}
