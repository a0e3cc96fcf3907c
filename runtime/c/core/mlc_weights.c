/* The weights file: mapped read-only, checked against the digest in the program.
 *
 * Layout, little-endian: "MLCW", u32 version 1, u64 payload bytes, 32 bytes SHA-256 of the payload, 16 zero bytes,
 * then the payload. Of a rank's own file the first 8 zero bytes are u32 rank and u32 ranks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlc_internal.h"

enum { HEADER_BYTES = 64, VERSION = 1, DIGEST_BYTES = 32, DIGEST_OFFSET = 16, RANK_OFFSET = 48, HEX = 64 };

static uint64_t little_endian(const unsigned char *p, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
  return value;
}

static int too_long(const mlc_program *program) {
  return mlc_fail("the path of the weights of model '%s' is too long", program->name);
}

/* The file that the model is part of: its library or, where it is linked statically, the program. The linker knows a
 * program by the name that it was started by, which need not be a path. */
static int own_file(const mlc_program *program, char path[PATH_MAX]) {
  Dl_info own, main;
  int known = dladdr(program, &own) && own.dli_fname;
  if (!known || (dladdr((const void *)getauxval(AT_ENTRY), &main) && main.dli_fbase == own.dli_fbase)) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) return path[length] = 0;
  }
  if (!known)
    return mlc_fail("cannot tell where model '%s' was loaded from: give the path of its weights", program->name);
  return snprintf(path, PATH_MAX, "%s", own.dli_fname) < PATH_MAX ? 0 : too_long(program);
}

/* Beside the library or program: first under its own name, so that an artifact can be renamed, then the name at
 * compile time. */
static int find_beside(const mlc_program *program, char path[PATH_MAX], int rank) {
  char file[PATH_MAX], own[32] = "";
  const char *name = program->weights_file;
  int named = (int)strlen(name) - (int)strlen(".weights");
  if (program->weights_ranks) snprintf(own, sizeof own, ".%dof%d", rank, program->weights_ranks);
  if (own_file(program, file)) return 1;
  const char *slash = strrchr(file, '/');
  int folder = slash ? (int)(slash + 1 - file) : 0;
  const char *dot = strrchr(file + folder, '.');
  int stem = dot ? (int)(dot - file) : (int)strlen(file);
  int length = snprintf(path, PATH_MAX, "%.*s%s.weights", stem, file, own);
  if (length < PATH_MAX && access(path, F_OK) == 0) return 0;
  length = snprintf(path, PATH_MAX, "%.*s%.*s%s.weights", folder, file, named, name, own);
  return length < PATH_MAX ? 0 : too_long(program);
}

static int map_file(mlc_weights *weights, const mlc_program *program, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return mlc_fail("cannot open the weights of model '%s', %s: %s", program->name, path, strerror(errno));
  struct stat status;
  int failed = fstat(file, &status);
  if (failed) {
    mlc_fail("cannot read %s: %s", path, strerror(errno));
  } else if (status.st_size != program->weights_bytes) {
    failed = mlc_fail("the weights %s have %lld bytes, model '%s' expects %lld: truncated, or of another model", path,
                      (long long)status.st_size, program->name, (long long)program->weights_bytes);
  } else {
    weights->bytes = (size_t)status.st_size;
    weights->base = mmap(NULL, weights->bytes, PROT_READ, MAP_PRIVATE, file, 0);
    failed = weights->base == MAP_FAILED;
    if (failed) mlc_fail("cannot map %s: %s", path, strerror(errno));
  }
  close(file);
  return failed;
}

static void digest_hex(const unsigned char *digest, char hex[65]) {
  for (int i = 0; i < DIGEST_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The digest of the payload that the program has been compiled with; of a rank's own file that of this rank. */
static const char *wanted_digest(const mlc_weights *weights, const mlc_program *program) {
  return program->weights_sha256 + (size_t)HEX * (size_t)weights->rank;
}

static int check_rank(mlc_weights *weights, const mlc_program *program, const char *path) {
  const unsigned char *header = weights->base;
  unsigned rank = (unsigned)little_endian(header + RANK_OFFSET, 4);
  int ranks = (int)little_endian(header + RANK_OFFSET + 4, 4);
  if (ranks != program->weights_ranks)
    return mlc_fail("the weights %s are for %d ranks, and model '%s' has files for %d (0: one for all)", path, ranks,
                    program->name, program->weights_ranks);
  if (ranks && rank >= (unsigned)ranks) return mlc_fail("the weights %s are damaged: rank %u of %d", path, rank, ranks);
  weights->rank = (int)rank;
  return 0;
}

static int check_header(mlc_weights *weights, const mlc_program *program, const char *path) {
  const unsigned char *header = weights->base;
  char hex[65];
  digest_hex(header + DIGEST_OFFSET, hex);
  if (memcmp(header, "MLCW", 4)) return mlc_fail("%s is not a weights file of mlc", path);
  if (little_endian(header + 4, 4) != VERSION)
    return mlc_fail("the weights %s have format version %u, this model reads %d: compile the model again", path,
                    (unsigned)little_endian(header + 4, 4), VERSION);
  if (little_endian(header + 8, 8) != weights->bytes - HEADER_BYTES)
    return mlc_fail("the weights %s are damaged: the size in the header is not the size of the file", path);
  if (check_rank(weights, program, path)) return 1;
  if (memcmp(hex, wanted_digest(weights, program), HEX))
    return mlc_fail("the weights %s belong to another model than '%s': their digests differ", path, program->name);
  return 0;
}

/* `where`: the path of the weights, or the library. */
static int verify_payload(const mlc_weights *weights, const mlc_program *program, const char *where) {
  const char *wanted = getenv("MLC_VERIFY_WEIGHTS");
  if (!wanted || strcmp(wanted, "1")) return 0;
  char hex[65];
  mlc_sha256_hex(weights->payload, (size_t)program->weights_bytes - HEADER_BYTES, hex);
  if (memcmp(hex, wanted_digest(weights, program), HEX) == 0) return 0;
  return mlc_fail("the weights %s are damaged: their contents do not match the digest in model '%s'", where,
                  program->name);
}

int mlc_weights_open(mlc_weights *weights, const mlc_program *program, const char *path, int rank) {
  *weights = (mlc_weights){.payload = program->embedded};
  if (program->weights_bytes == 0) return 0;
  if (program->weights_bytes < HEADER_BYTES)
    return mlc_fail("model '%s' is damaged: its weights are too small", program->name);
  if (program->embedded) return verify_payload(weights, program, "in the library");
  if (!path && program->weights_ranks && rank == MLC_ANY_RANK) return 0;
  char beside[PATH_MAX];
  if (!path && find_beside(program, beside, rank)) return 1;
  if (!path) path = beside;
  if (map_file(weights, program, path)) return 1;
  weights->payload = (const char *)weights->base + HEADER_BYTES;
  if (check_header(weights, program, path) == 0 && verify_payload(weights, program, path) == 0) return 0;
  mlc_weights_close(weights);
  return 1;
}

int mlc_weights_join(mlc_weights *weights, const mlc_program *program, int rank) {
  if (!program->weights_ranks) return 0;
  if (rank >= program->weights_ranks) return 0; /* of too many ranks, as the join says */
  if (!weights->payload) return mlc_weights_open(weights, program, NULL, rank);
  if (weights->rank == rank) return 0;
  return mlc_fail("model '%s' has the weights of rank %d, and this is rank %d: give the file of this rank",
                  program->name, weights->rank, rank);
}

void mlc_weights_close(mlc_weights *weights) {
  if (weights->base) munmap(weights->base, weights->bytes);
  *weights = (mlc_weights){0};
}
