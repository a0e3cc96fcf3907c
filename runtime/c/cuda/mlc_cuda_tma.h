/* Bulk copies of tensors to shared memory (TMA), the barriers that count their bytes (mbarrier), and the division of a
 * block into warps that copy and warps that compute: sm_90 (PTX ISA 8.5, "Tensor copy", "mbarrier", "setmaxnreg"). */
#ifndef MLC_CUDA_TMA_H
#define MLC_CUDA_TMA_H

#include "mlc_cuda_kernel.h"

#ifndef MLC_EMULATED
/* A tensor map (CUtensorMap), which the host program encodes. */
struct __align__(64) mlc_tensor_map { uint64_t opaque[16]; };

MLC_DEVICE uint32_t mlc_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
#endif

/* Barriers whose phases end with `count` arrivals and the bytes that these expect. The first thread makes them; the
 * others see them after a block barrier. */
MLC_DEVICE void mlc_mbarrier_init(int64_t *barrier, int number, int count) {
  if (threadIdx.x) return;
  for (int i = 0; i < number; i++) {
#ifdef MLC_EMULATED
    mlc_emulated_mbarrier_init(barrier + i, count);
#else
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mlc_shared(barrier + i)), "r"(count) : "memory");
#endif
  }
#ifndef MLC_EMULATED
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/* Arrives, and adds to the bytes that this phase waits for. */
MLC_DEVICE void mlc_mbarrier_expect(int64_t *barrier, int bytes) {
#ifdef MLC_EMULATED
  mlc_emulated_mbarrier_arrive(barrier, bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mlc_shared(barrier)), "r"(bytes) : "memory");
#endif
}

/* One arrival for a warp, after all its threads are here; none where `when` is false. There is no branch: ptxas waits
 * for the products in flight before one. */
MLC_DEVICE void mlc_mbarrier_arrive(int64_t *barrier, bool when = true) {
#ifdef MLC_EMULATED
  mlc_emulated_warp();
  if (when && threadIdx.x % 32 == 0) mlc_emulated_mbarrier_arrive(barrier, 0);
#else
  __syncwarp();
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }"
               ::"r"(mlc_shared(barrier)), "r"((uint32_t)(when && threadIdx.x % 32 == 0)) : "memory");
#endif
}

/* Whether this is the one thread of the warp that begins with thread `first`. With a comparison of thread numbers ptxas
 * takes the operands of a bulk copy for different in each thread, and makes a loop over the threads. */
MLC_DEVICE bool mlc_elected(int first) {
#ifdef MLC_EMULATED
  return threadIdx.x == (unsigned)first;
#else
  if (mlc_uniform(threadIdx.x / 32) != first / 32) return false;
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected;
#endif
}

#ifndef MLC_EMULATED
/* Whether the phase of this parity has ended, after some time at the latest. */
MLC_DEVICE bool mlc_mbarrier_ended(int64_t *barrier, int parity) {
  uint32_t ended;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(ended) : "r"(mlc_shared(barrier)), "r"(parity) : "memory");
  return ended;
}
#endif

/* Waits until the phase of this parity has ended; before the first phase that of parity 1 has. */
MLC_DEVICE void mlc_mbarrier_wait(int64_t *barrier, int parity) {
#ifdef MLC_EMULATED
  mlc_emulated_mbarrier_wait(barrier, parity);
#else
  while (!mlc_mbarrier_ended(barrier, parity)) {}
#endif
}

/* With -DMLC_BOUNDED_WAITS, for nvcc, a wait of a second stops the kernel with an assertion that names the barrier: what
 * the code gives as its argument. A kernel that hangs otherwise says nothing. */
#ifdef MLC_BOUNDED_WAITS
MLC_DEVICE uint64_t mlc_nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

MLC_DEVICE void mlc_mbarrier_wait_bounded(int64_t *barrier, int parity, const char *name, const char *kernel) {
  const uint64_t start = mlc_nanoseconds();
  while (!mlc_mbarrier_ended(barrier, parity))
    if (mlc_nanoseconds() - start > 1000000000u) __assert_fail(name, "mlc_mbarrier_wait", (unsigned)parity, kernel);
}
#define mlc_mbarrier_wait(barrier, parity) mlc_mbarrier_wait_bounded(barrier, parity, "barrier " #barrier, __func__)
#endif

/* Starts the copy of the box of a tensor at (x, y, ...), the fastest coordinate first; zeros arrive for what is outside
 * the tensor. The bytes of the whole box count in the barrier's phase. `mlc_bulk_multicast` copies to each block of the
 * cluster whose bit is set in `blocks`, at the same address, where the bytes count in its own barrier. */
#ifdef MLC_EMULATED
#define MLC_BULK_COPY(rank, coordinates, parameters, ...)                                                              \
  MLC_DEVICE void mlc_bulk_copy(void *to, const mlc_tensor_map &map, int64_t *barrier, parameters) {                   \
    const int at[] = {__VA_ARGS__};                                                                                    \
    mlc_emulated_bulk_copy(to, &map, barrier, rank, at, 1u << mlc_emulated_rank());                                    \
  }                                                                                                                    \
  MLC_DEVICE void mlc_bulk_multicast(void *to, const mlc_tensor_map &map, int64_t *barrier, unsigned blocks,           \
                                     parameters) {                                                                     \
    const int at[] = {__VA_ARGS__};                                                                                    \
    mlc_emulated_bulk_copy(to, &map, barrier, rank, at, blocks);                                                       \
  }
#else
#define MLC_BULK_COPY(rank, coordinates, parameters, ...)                                                              \
  MLC_DEVICE void mlc_bulk_copy(void *to, const mlc_tensor_map &map, int64_t *barrier, parameters) {                   \
    const int at[5] = {__VA_ARGS__};                                                                                   \
    asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.mbarrier::complete_tx::bytes "                \
                 "[%0], [%1, {" coordinates "}], [%2];" ::"r"(mlc_shared(to)), "l"(&map), "r"(mlc_shared(barrier)),    \
                 "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]) : "memory");                               \
  }                                                                                                                    \
  MLC_DEVICE void mlc_bulk_multicast(void *to, const mlc_tensor_map &map, int64_t *barrier, unsigned blocks,           \
                                     parameters) {                                                                     \
    const int at[5] = {__VA_ARGS__};                                                                                   \
    asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.mbarrier::complete_tx::bytes"                 \
                 ".multicast::cluster [%0], [%1, {" coordinates "}], [%2], %8;" ::"r"(mlc_shared(to)), "l"(&map),      \
                 "r"(mlc_shared(barrier)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]),                 \
                 "h"((uint16_t)blocks) : "memory");                                                                    \
  }
#endif
#define MLC_PARAMETERS(...) __VA_ARGS__
MLC_BULK_COPY(2, "%3, %4", MLC_PARAMETERS(int x, int y), x, y)
MLC_BULK_COPY(3, "%3, %4, %5", MLC_PARAMETERS(int x, int y, int z), x, y, z)
MLC_BULK_COPY(4, "%3, %4, %5, %6", MLC_PARAMETERS(int x, int y, int z, int u), x, y, z, u)
MLC_BULK_COPY(5, "%3, %4, %5, %6, %7", MLC_PARAMETERS(int x, int y, int z, int u, int v), x, y, z, u, v)

/* -- bulk stores: a warpgroup writes shared memory, from where its first thread copies a box to a tensor ------------- */

/* A barrier of the threads of a warpgroup of those that compute. */
MLC_DEVICE void mlc_warpgroup_barrier(int group) {
#ifdef MLC_EMULATED
  mlc_emulated_group_barrier(128 * group, 128);
#else
  asm volatile("barrier.sync.aligned %0, 128;" ::"r"(group + 2) : "memory");
#endif
}

/* At most GROUPS of this thread's stores have not read shared memory yet. */
template <int GROUPS> MLC_DEVICE void mlc_bulk_store_wait() {
#ifdef MLC_EMULATED
  mlc_emulated_bulk_store_wait(GROUPS);
#else
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
#endif
}

/* The warpgroup may write a buffer when at most GROUPS of its stores, of other buffers, have not been read. */
template <int GROUPS> MLC_DEVICE void mlc_bulk_store_ready(int group) {
  if (threadIdx.x % 128 == 0) mlc_bulk_store_wait<GROUPS>();
  mlc_warpgroup_barrier(group);
}

/* Writes four matrices of 8 rows of 16 bytes: lane 8 i + j gives the address of row j of matrix i, and lane 4 g + t has
 * the t-th 4 bytes of row g of each. */
MLC_DEVICE void mlc_stmatrix_x4(void *row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
#ifdef MLC_EMULATED
  mlc_emulated_stmatrix(row, r0, r1, r2, r3);
#else
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(mlc_shared(row)), "r"(r0), "r"(r1),
               "r"(r2), "r"(r3) : "memory");
#endif
}

/* Writes two neighbours of 32 bits at once, from an even one on. */
template <typename T> MLC_DEVICE void mlc_store_two(T *to, T x, T y) {
  struct alignas(8) two { T x, y; };
  *(two *)to = {x, y};
}

/* Starts the copy of a buffer to the box of a tensor at (x, y, ...), after a fence and a barrier of the warpgroup; what is
 * outside the tensor is left out. Each copy is a group. */
#ifdef MLC_EMULATED
#define MLC_BULK_STORE(rank, coordinates, parameters, ...)                                                             \
  MLC_DEVICE void mlc_bulk_store(const void *from, const mlc_tensor_map &map, parameters) {                            \
    const int at[] = {__VA_ARGS__};                                                                                    \
    if (threadIdx.x % 128 == 0) mlc_emulated_bulk_store(from, &map, rank, at);                                         \
  }
#else
#define MLC_BULK_STORE(rank, coordinates, parameters, ...)                                                             \
  MLC_DEVICE void mlc_bulk_store(const void *from, const mlc_tensor_map &map, parameters) {                            \
    const int at[5] = {__VA_ARGS__};                                                                                   \
    if (threadIdx.x % 128) return;                                                                                     \
    asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.bulk_group [%0, {" coordinates "}], [%1];"        \
                 ::"l"(&map), "r"(mlc_shared(from)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])        \
                 : "memory");                                                                                          \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");                                                          \
  }
#endif
MLC_BULK_STORE(2, "%2, %3", MLC_PARAMETERS(int x, int y), x, y)
MLC_BULK_STORE(3, "%2, %3, %4", MLC_PARAMETERS(int x, int y, int z), x, y, z)
MLC_BULK_STORE(4, "%2, %3, %4, %5", MLC_PARAMETERS(int x, int y, int z, int u), x, y, z, u)
MLC_BULK_STORE(5, "%2, %3, %4, %5, %6", MLC_PARAMETERS(int x, int y, int z, int u, int v), x, y, z, u, v)

/* -- clusters: blocks that run together and may access each other's shared memory ----------------------------------- */

/* The number of this block in its cluster. */
MLC_DEVICE int mlc_cluster_rank() {
#ifdef MLC_EMULATED
  return mlc_emulated_rank();
#else
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return (int)rank;
#endif
}

/* All threads of a cluster reach it before one goes on. */
MLC_DEVICE void mlc_cluster_barrier() {
#ifdef MLC_EMULATED
  mlc_emulated_cluster_barrier();
#else
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/* One arrival for a warp at the barrier `slot` of each block of the cluster whose bit is set in `blocks`. Without a scope
 * of its own: the products have read what the arrival frees, so no writes wait for it (a release to the cluster would, in
 * each iteration). The address in the other block is one sum from that of its first barrier, which loops do not change. */
MLC_DEVICE void mlc_mbarrier_arrive_cluster(int64_t *barriers, int slot, unsigned blocks, bool when = true) {
#ifdef MLC_EMULATED
  mlc_emulated_warp();
  if (when && threadIdx.x % 32 == 0) mlc_emulated_mbarrier_arrive_cluster(barriers + slot, blocks);
#else
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mlc_shared(barriers)), "r"(threadIdx.x % 32));
  __syncwarp();
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cluster.b64 _, [%0]; }"
               ::"r"(there + 8 * slot), "r"((uint32_t)(when && blocks >> threadIdx.x % 32 & 1)) : "memory");
#endif
}

/* The warps of a warpgroup keep N registers a thread and release the others, or wait until there are N. */
template <int N> MLC_DEVICE void mlc_release_registers() {
#ifndef MLC_EMULATED
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
template <int N> MLC_DEVICE void mlc_take_registers() {
#ifndef MLC_EMULATED
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

/* A barrier of the first THREADS threads of a block: those that compute. */
template <int THREADS> MLC_DEVICE void mlc_group_barrier() {
#ifdef MLC_EMULATED
  mlc_emulated_group_barrier(0, THREADS);
#else
  asm volatile("barrier.sync.aligned 1, %0;" ::"n"(THREADS) : "memory");
#endif
}

#endif
