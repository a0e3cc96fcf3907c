/* The cubins and PTX of a program: a header, a row for each, and their bytes. Written by mlc.driver.artifact.cubins. */
#ifndef MLC_CUDA_IMAGES_H
#define MLC_CUDA_IMAGES_H

#include <stdint.h>

enum { MLC_CUDA_CUBIN = 0, MLC_CUDA_EXACT_CUBIN = 1, /* of sm_90a, which runs on no other architecture */
       MLC_CUDA_PTX = 2 };                            /* a C string, which the driver compiles for that one and later ones */

typedef struct {
  uint32_t architecture; /* 90 of sm_90 */
  uint32_t kind;
  uint64_t unit;
  uint64_t offset, bytes; /* from the beginning of the header */
} mlc_cuda_image;

typedef struct {
  char magic[4]; /* "MLCC" */
  uint32_t images;
  uint64_t units;
  mlc_cuda_image image[];
} mlc_cuda_images;

#endif
