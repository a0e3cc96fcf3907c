/* The threads of a block as fibers, and the shadow of each byte of memory: who accessed it last, in which interval
 * between barriers. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <map>
#include <vector>

#include "emulation.h"

mlc_emulated_indices mlc_emulated_state;

namespace {

enum { MOST_THREADS = 1536, WARP = 32, STACK = 256 << 10, MOST_CLUSTER = 4 }; /* threads: of a cluster */
enum wait { RUNS, AT_BARRIER, AT_SHUFFLE, AT_GROUP, AT_MBARRIER, AT_CLUSTER, DONE };

/* An asynchronous copy that has not arrived: of the bytes that were read when it began. */
struct copy {
  char *to;
  const char *from;
  int bytes, valid, group;
  char data[16];
};

/* A product of a warpgroup whose sums have not arrived. */
struct product {
  void *c;
  int columns;
  mlc_matrix a, b;
  int bytes, left, right, group; /* of a factor; the factors' types, as mlc_factor numbers them */
  uint32_t started;              /* the time; until the sums arrive nobody may write the matrices */
};

struct bulk_store;
struct fiber {
  void *sp;
  wait state;
  int parity;
  int groups; /* of asynchronous copies, so far */
  std::vector<copy> *copies;
  uint32_t fenced; /* the time of the last fence of the asynchronous proxy */
  bool registers;  /* wgmma.fence since the accumulators were last written */
  int product_groups;
  std::vector<product> *products;
  const void *mbarrier; /* that it waits for, and the parity of the phase */
  int wanted, first, together; /* the threads of its group barrier */
  std::vector<bulk_store> *stores;
  int votes; /* of all threads, so far */
};

fiber fibers[MOST_THREADS];
int64_t slots[2][MOST_THREADS];
bool votes[2][MOST_THREADS];
void *scheduler, **arguments;
void (*running)(void **);
char *stacks, failure[400];

/* A cluster of blocks runs at a time. Each has its own shared memory, which is in place while one of its threads runs. */
int cluster = 1, block_threads = 1, rank = 0;
unsigned self() { return (unsigned)(rank * block_threads) + mlc_emulated_state.thread.x; }

/* Saves the registers that a call keeps, and goes on with another stack. */
extern "C" void mlc_emulated_switch(void **from, void *to);
asm(R"(
.globl mlc_emulated_switch
.hidden mlc_emulated_switch
mlc_emulated_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
)");

/* -- shadow memory ------------------------------------------------------------------------------------------------ */

struct cell {
  uint32_t written, read;  /* intervals */
  int16_t writer, reader;  /* threads; -1 for several readers */
  uint32_t time;           /* of the last write */
  bool in_flight;          /* an asynchronous copy to it has not arrived */
  bool stored;             /* a bulk store from it may not have read it */
  uint32_t arrived;        /* the time at which a bulk copy arrived; 0: written since, or never */
};
struct range {
  char *begin, *end;
  cell *cells;
  bool shared;
  uint32_t (*reads)[MOST_THREADS / WARP]; /* of shared memory: the time of each warp's last read of 16 bytes */
};
enum { MOST_RANGES = 4096 };
range ranges[MOST_RANGES];
int count;
uint32_t now = 1; /* goes on with writes and arrivals */
uint32_t interval = 1, first_of_block = 1, first_of_launch = 1;

extern "C" char __start_mlc_shared[] __attribute__((weak)), __stop_mlc_shared[] __attribute__((weak));

void fail(const char *what, const void *at, int other) {
  if (failure[0]) return;
  snprintf(failure, sizeof failure, "%s: block %u, thread %u and %d, at %p", what, mlc_emulated_state.block.x,
           mlc_emulated_state.thread.x, other, at);
}

range *find(const char *p) {
  static range *last;
  if (last && p >= last->begin && p < last->end) return last;
  for (int n = 0; n < count; n++)
    if (p >= ranges[n].begin && p < ranges[n].end) return last = ranges + n;
  return 0;
}

#include "semaphores.h"

/* Whether an access of this launch conflicts: of another block, or of another thread since the last barrier. */
bool conflicts(uint32_t when, int16_t who, bool shared) {
  if (when < first_of_launch) return false;
  if (when < first_of_block) return !shared && !is_learned(when);
  if (!shared && who >= 0 && who / block_threads != rank) return true;
  return when == interval && who != (int16_t)self();
}

bool has_arrived(const cell &c);

/* Whether a thread's products in flight add to what is here. */
bool is_awaited(const char *p) {
  const std::vector<product> *products = fibers[self()].products;
  for (size_t n = 0; products && n < products->size(); n++) {
    const char *sums = (const char *)(*products)[n].c;
    if (p >= sums && p < sums + (*products)[n].columns / 2 * (long)sizeof(float)) return true;
  }
  return false;
}

void access(const void *address, size_t size, bool write) {
  const char *p = (const char *)address;
  range *r = find(p);
  if (!r || p + size > r->end) {
    const bool own = stacks && p >= stacks && p < stacks + (size_t)MOST_THREADS * STACK;
    const char *state = (const char *)&mlc_emulated_state;
    if (own && is_awaited(p)) fail("an access of sums in flight", p, -1);
    if (count && !own && !(p >= state && p < state + sizeof mlc_emulated_state)) fail("access out of bounds", p, -1);
    return;
  }
  const int16_t me = (int16_t)self();
  now += write;
  if (r->shared && !write) r->reads[(p - r->begin) / 16][me / WARP] = now;
  for (cell *c = r->cells + (p - r->begin), *end = c + size; c < end; c++) {
    if (c->in_flight) fail("an access of what is in flight", p, c->writer);
    if (write && c->stored) fail("a write of what is being stored", p, c->writer);
    if (conflicts(c->written, c->writer, r->shared)) fail(write ? "two writes" : "a read of a write", p, c->writer);
    if (write && conflicts(c->read, c->reader, r->shared)) fail("a write of what is read", p, c->reader);
    if (!has_arrived(*c)) fail("an access of a bulk copy without a wait", p, -1);
    if (write) c->written = interval, c->writer = me, c->time = now, c->arrived = 0;
    else c->reader = c->read == interval && c->reader != me ? -1 : me, c->read = interval;
  }
}

/* -- asynchronous copies ------------------------------------------------------------------------------------------- */

void set_in_flight(const char *p, int bytes, bool value) {
  range *r = find(p);
  for (int n = 0; r && n < bytes; n++) r->cells[p - r->begin + n].in_flight = value;
}

void arrive(const copy &c) {
  set_in_flight(c.to, c.bytes, false);
  if (memcmp(c.data, c.from, (size_t)c.valid)) fail("a write of what is being copied", c.from, -1);
  access(c.to, (size_t)c.bytes, true);
  memset(c.to, 0, (size_t)c.bytes);
  memcpy(c.to, c.data, (size_t)c.valid);
}

#include "bulk_copies.h"

bool has_arrived(const cell &c) { return c.arrived <= known[self()].arrived; }

/* -- products of warpgroups (PTX ISA, asynchronous warpgroup level matrix instructions) ----------------------------- */

/* Element (x, k) of a matrix in the canonical layout that a descriptor says: rows along the sum of 32, 64 or 128 bytes
 * (swizzles 3, 2, 1), or across it in blocks of 64 halves. The exclusive or is that of address bits 4-6 with bits 7-9. */
float element(const mlc_matrix &m, int x, int k, int bytes, int type, uint32_t started) {
  const int span = m.swizzle == 1 ? 128 : m.swizzle == 2 ? 64 : 32;
  const long offset = m.across ? x % 64 * 2 + x / 64 * (long)m.leading + k % 8 * 128 + k / 8 * (long)m.stride
                               : x % 8 * (long)span + x / 8 * (long)m.stride + k * bytes;
  uintptr_t at = (uintptr_t)m.start + (uintptr_t)offset;
  at ^= (at >> 7 & (uintptr_t)(span / 16 - 1)) << 4;
  const char *p = (const char *)at;
  if (range *r = find(p)) {
    const cell &c = r->cells[p - r->begin];
    if (!r->shared) fail("a matrix is not in shared memory", p, -1);
    if (c.written >= first_of_block && fibers[c.writer].fenced < c.time)
      fail("no fence between a write and the asynchronous proxy", p, c.writer);
    if (c.arrived > started || (c.written >= first_of_block && c.time > started))
      fail("a write of a matrix that a product in flight reads", p, c.writer);
  }
  access(p, bytes, false);
  uint32_t bits = 0;
  memcpy(&bits, p, (size_t)bytes);
  if (bytes != 2 && m.across) fail("wgmma transposes halves only", p, -1);
  switch (type) {
    case 0: return mlc_emulated_f16(bits);
    case 1: return mlc_emulated_bf16(bits);
    case 2: return mlc_emulated_tf32(bits);
    case 3: return (float)mlc_emulated_u8(bits);
    case 4: return (float)mlc_emulated_s8(bits);
    case 5: return mlc_emulated_e4m3(bits);
    default: return mlc_emulated_e5m2(bits);
  }
}

/* A product is exact but of TF32, of which the bits below are cut off; sums of bytes are integers that wrap. */
bool of_integers(const product &p) { return p.left == 3 || p.left == 4; }
void add(const product &p, int n, float product) {
  if (of_integers(p)) ((uint32_t *)p.c)[n] += (uint32_t)(int32_t)product;
  else ((float *)p.c)[n] += product;
}

/* What the sums of an instruction keep where its factors are floats of 8 bits: 14 bits, the others are cut off. */
void cut(const product &p) {
  for (int n = 0; p.bytes == 1 && !of_integers(p) && n < p.columns / 2; n++) {
    uint32_t bits;
    memcpy(&bits, (float *)p.c + n, 4);
    bits &= ~(uint32_t)0x3ff;
    memcpy((float *)p.c + n, &bits, 4);
  }
}

/* Warp w of the warpgroup has rows 16 w to 16 w + 15, as the fragments of m16n8. */
void multiply(const product &p) {
  const unsigned lane = mlc_emulated_state.thread.x % 32, g = lane / 4, t = lane % 4;
  const int first = (int)(mlc_emulated_state.thread.x / 32 % 4 * 16 + g);
  for (int k = 0; k < 32 / p.bytes; k++) {
    const float rows[2] = {element(p.a, first, k, p.bytes, p.left, p.started),
                           element(p.a, first + 8, k, p.bytes, p.left, p.started)};
    for (int n = 0; n < p.columns; n += 8)
      for (int e = 0; e < 2; e++) {
        const float column = element(p.b, n + 2 * (int)t + e, k, p.bytes, p.right, p.started);
        for (int half = 0; half < 2; half++) add(p, n / 2 + 2 * half + e, rows[half] * column);
      }
  }
  cut(p);
}

/* -- threads ------------------------------------------------------------------------------------------------------ */

void leave(wait state) {
  fiber *me = fibers + self();
  me->state = state;
  mlc_emulated_switch(&me->sp, scheduler);
}

void start() {
  running(arguments);
  std::vector<copy> *copies = fibers[self()].copies;
  std::vector<product> *products = fibers[self()].products;
  if (products && !products->empty()) fail("products in flight at the end", 0, -1), products->clear();
  if (std::vector<bulk_store> *stores = fibers[self()].stores; stores && !stores->empty()) {
    fail("bulk stores in flight at the end", 0, -1);
    stores->clear();
  }
  if (copies && !copies->empty()) fail("copies in flight at the end", copies->front().to, -1), copies->clear();
  leave(DONE);
  abort();
}

void enter(int n) {
  become(n / block_threads);
  mlc_emulated_state.thread.x = (unsigned)(n % block_threads);
  fibers[n].state = RUNS;
  mlc_emulated_switch(&scheduler, fibers[n].sp);
}

void prepare(int n) {
  char *top = stacks + (size_t)(n + 1) * STACK - 64;
  void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15) - 1;
  *sp = 0;                  /* alignment as after a call */
  *--sp = (void *)start;
  for (int i = 0; i < 6; i++) *--sp = 0;
  fibers[n].sp = sp;
  fibers[n].state = RUNS;
  fibers[n].parity = fibers[n].groups = fibers[n].product_groups = 0;
  fibers[n].registers = false;
  fibers[n].votes = 0;
  fibers[n].fenced = 0;
  for (uint32_t &each : known[n].of) each = now; /* of what ran before */
  known[n].arrived = now++;
}

bool all(int first, int last, wait state) {
  for (int n = first; n < last; n++)
    if (fibers[n].state != state && fibers[n].state != DONE) return false;
  return true;
}

/* Lets threads pass a barrier that all have reached. */
bool passed(int first, int last, wait state) {
  bool some = false;
  for (int n = first; n < last; n++) some |= fibers[n].state == state;
  if (!some || !all(first, last, state)) return false;
  for (int n = first; n < last; n++) fibers[n].state = fibers[n].state == DONE ? DONE : RUNS;
  meet(first, last);
  interval++;
  return true;
}

/* Lets threads go on that wait for each other; false where some never meet. */
bool released(int threads) {
  bool some = false, waits = false;
  for (int w = 0; w < threads; w += WARP) {
    const int end = w + WARP < threads ? w + WARP : threads;
    for (int n = w; n < end; n++) {
      fiber &f = fibers[n];
      waits |= f.state != RUNS && f.state != DONE;
      if (f.state == AT_MBARRIER) become(n / block_threads);
      if (f.state == AT_MBARRIER && has_ended(f.mbarrier, f.wanted)) f.state = RUNS, some = true;
    }
    if (fibers[w].state != AT_SHUFFLE || !all(w, end, AT_SHUFFLE)) continue;
    for (int n = w; n < end; n++) fibers[n].state = RUNS;
    some = true;
  }
  for (int first = 0; !some && waits && first < threads; first += block_threads) {
    for (int n = first; n < first + block_threads; n += WARP)
      if (fibers[n].state == AT_GROUP && n == first + fibers[n].first) some |= passed(n, n + fibers[n].together, AT_GROUP);
    if (!some) some = passed(first, first + block_threads, AT_BARRIER);
  }
  if (!some && waits && passed(0, threads, AT_CLUSTER)) some = true, cluster_barriers++;
  return some || !waits;
}

void run_block(int threads) {
  mbarriers.clear();
  open_images();
  for (int n = 0; n < threads; n++) prepare(n);
  for (bool going = true; going;) {
    going = false;
    for (int n = 0; n < threads; n++)
      if (fibers[n].state == RUNS) enter(n), going = true;
    if (!released(threads)) {
      fail("threads wait for each other at different steps", 0, -1);
      break;
    }
  }
  for (auto &each : mbarriers)
    if (!each.second.copies.empty()) fail("bulk copies in flight at the end", each.first.second, -1);
  close_images();
}

}  // namespace

extern "C" {

void mlc_emulated_barrier(void) { leave(AT_BARRIER); }
void mlc_emulated_fail(const char *what) { fail(what, 0, -1); }

/* __syncthreads_or: a barrier, and whether any thread of the block says so. */
int mlc_emulated_barrier_or(int vote) {
  const int turn = fibers[self()].votes++ % 2, first = rank * block_threads;
  votes[turn][self()] = vote != 0;
  leave(AT_BARRIER);
  for (int n = first; n < first + block_threads; n++)
    if (votes[turn][n]) return 1;
  return 0;
}

int32_t mlc_emulated_arrive(int32_t *at, int32_t most) { return arrive_at_semaphore(at, most); }
int32_t mlc_emulated_arrived(const int32_t *at) {
  acquire(at);
  return stale ? 0 : *at;
}
void mlc_emulated_order(int last_first, int old_news) { backwards = last_first, stale = old_news; }

int64_t mlc_emulated_shuffle(int64_t value, int mask) {
  const unsigned me = self();
  const int parity = fibers[me].parity;
  slots[parity][me] = value;
  fibers[me].parity = !parity;
  leave(AT_SHUFFLE);
  return slots[parity][me ^ (unsigned)mask];
}

/* cp.async: nothing is in `to` before the wait for its group; until then nobody may access it. */
void mlc_emulated_copy_async(void *to, const void *from, int bytes, int valid) {
  fiber *me = fibers + self();
  copy c = {(char *)to, (const char *)from, bytes, valid, me->groups, {}};
  if ((uintptr_t)to % (unsigned)bytes || (valid && (uintptr_t)from % (unsigned)bytes)) fail("a copy is not aligned", to, -1);
  if (valid) access(from, (size_t)valid, false);
  access(to, (size_t)bytes, true);
  memcpy(c.data, from, (size_t)valid);
  memset(to, 0xff, (size_t)bytes); /* NaN, and no index */
  set_in_flight(c.to, bytes, true);
  if (!me->copies) me->copies = new std::vector<copy>;
  me->copies->push_back(c);
}

void mlc_emulated_async_group(void) { fibers[self()].groups++; }

void mlc_emulated_async_wait(int groups) {
  fiber *me = fibers + self();
  size_t arrived = 0;
  if (!me->copies) return;
  for (; arrived < me->copies->size() && (*me->copies)[arrived].group < me->groups - groups; arrived++)
    arrive((*me->copies)[arrived]);
  me->copies->erase(me->copies->begin(), me->copies->begin() + (long)arrived);
}

/* fence.proxy.async: what this thread has written is there for wgmma, after a barrier. */
void mlc_emulated_proxy_fence(void) { fibers[self()].fenced = now; }

void mlc_emulated_wgmma_fence(void) { fibers[self()].registers = true; }

/* wgmma: nothing is in `c` before the wait for its group; until then the matrices may be read at any time. */
void mlc_emulated_wgmma(void *c, int columns, mlc_matrix a, mlc_matrix b, int bytes, int left, int right) {
  fiber *me = fibers + self();
  if (!me->registers) fail("no wgmma.fence before a product", c, -1);
  if (!me->products) me->products = new std::vector<product>;
  me->products->push_back({c, columns, a, b, bytes, left, right, me->product_groups, now});
}

void mlc_emulated_wgmma_group(void) { fibers[self()].product_groups++; }

void mlc_emulated_wgmma_wait(int groups) {
  fiber *me = fibers + self();
  size_t arrived = 0;
  me->registers = false;
  if (!me->products) return;
  for (; arrived < me->products->size() && (*me->products)[arrived].group < me->product_groups - groups; arrived++)
    multiply((*me->products)[arrived]);
  me->products->erase(me->products->begin(), me->products->begin() + (long)arrived);
}

/* -- bulk copies of tensors ---------------------------------------------------------------------------------------- */

int mlc_emulated_encode_map(mlc_tensor_map *map, int type, unsigned rank, const void *start, const uint64_t *extents,
                            const uint64_t *strides, const uint32_t *box, int swizzle) {
  const uint32_t steps[MLC_MOST_AXES] = {1, 1, 1, 1, 1};
  return mlc_emulated_encode(map, type, rank, start, extents, strides, box, steps, 0, swizzle, 0, 0);
}

void mlc_emulated_warp(void) { leave(AT_SHUFFLE); }

void mlc_emulated_group_barrier(int first, int threads) {
  fibers[self()].first = first, fibers[self()].together = threads;
  leave(AT_GROUP);
}

void mlc_emulated_mbarrier_init(int64_t *at, int count) {
  mbarriers[{rank, at}] = {count, count, 0, 0, interval, cluster_barriers, {}, {}, {}};
}

/* The arrival of a thread's warp, which expects so many bytes. */
void mlc_emulated_mbarrier_arrive(int64_t *at, int bytes) { arrive_at(rank, at, bytes); }

void mlc_emulated_mbarrier_arrive_cluster(int64_t *at, unsigned blocks) {
  if (blocks >> cluster) return fail("an arrival at a block that the cluster does not have", at, -1);
  for (int n = 0; n < cluster; n++)
    if (blocks >> n & 1) arrive_at(n, at, 0);
}

int mlc_emulated_rank(void) { return rank; }
void mlc_emulated_cluster(int blocks) { cluster = blocks; }
void mlc_emulated_cluster_barrier(void) { leave(AT_CLUSTER); }

void mlc_emulated_mbarrier_wait(int64_t *at, int parity) {
  fiber *me = fibers + self();
  me->mbarrier = at, me->wanted = parity;
  if (parity < 0 || parity > 1) fail("a parity is 0 or 1", at, -1);
  if (!has_ended(at, parity)) leave(AT_MBARRIER);
  if (mbarrier *b = find_mbarrier(at, rank)) known[self()].join(b->last);
}

/* cp.async.bulk.tensor: nothing is there before a wait for the barrier; until then nobody may access it. It arrives in
 * each block of the cluster whose bit is set in `blocks`. */
void mlc_emulated_bulk_copy(void *to, const mlc_tensor_map *map, int64_t *at, int axes, const int *place, unsigned blocks) {
  if ((uintptr_t)to % 128 || axes != map->rank || blocks >> cluster) return fail("a bulk copy is not aligned, or of another rank", to, -1);
  bulk_copy c = {(char *)to, *map, {}, {}};
  memcpy(c.at, place, (size_t)axes * sizeof *place);
  take(c, c.data, true);
  const int own = rank;
  const clocks knows = known[self()];
  for (int n = 0; n < cluster; n++)
    if (mbarrier *b = blocks >> n & 1 ? find_mbarrier(at, n) : nullptr) {
      become(n);
      start_copy(c, b, knows, own);
    }
  become(own);
}

/* cp.async.bulk.tensor from shared memory: it reads in the wait for its group; until then nobody may write there. */
void mlc_emulated_bulk_store(const void *from, const mlc_tensor_map *map, int axes, const int *place) {
  if ((uintptr_t)from % 128 || axes != map->rank) return fail("a bulk store is not aligned, or of another rank", from, -1);
  bulk_store s = {{(char *)from, *map, {}, {}}};
  memcpy(s.box.at, place, (size_t)axes * sizeof *place);
  start_store(s);
  fiber *me = fibers + self();
  if (!me->stores) me->stores = new std::vector<bulk_store>;
  me->stores->push_back(s);
}

void mlc_emulated_bulk_store_wait(int groups) {
  std::vector<bulk_store> *stores = fibers[self()].stores;
  while (stores && (int)stores->size() > groups) {
    end_store(stores->front());
    stores->erase(stores->begin());
  }
}

/* Threads that never wait run one after another on one stack. */
void mlc_emulated_launch(void (*kernel)(void **), void **args, int64_t blocks, int threads, int waits) {
  if (!stacks) stacks = (char *)mmap(0, (size_t)MOST_THREADS * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  running = kernel, arguments = args;
  mlc_emulated_state.threads.x = (unsigned)threads, mlc_emulated_state.blocks.x = (unsigned)blocks;
  first_of_launch = ++interval;
  block_threads = threads;
  if (blocks % cluster || threads > 1024 || threads * cluster > MOST_THREADS) return fail("a grid of clusters that are not whole", 0, -1);
  releases.clear();
  for (int64_t n = 0; n < blocks; n += cluster) {
    mlc_emulated_state.block.x = (unsigned)(first_block = backwards ? blocks - cluster - n : n);
    first_of_block = ++interval;
    learned.clear();
    if (waits) run_block(threads * cluster);
    else
      for (int thread = 0; thread < threads; thread++) prepare(thread), enter(thread);
  }
}

/* A buffer of `bytes` bytes, which kernels may access; without any, nothing is checked. */
void mlc_emulated_register(void *begin, int64_t bytes, int shared) {
  if (count == MOST_RANGES || !bytes) return;
  cell *cells = (cell *)calloc((size_t)bytes, sizeof(cell));
  auto reads = (uint32_t (*)[MOST_THREADS / WARP])(shared ? calloc((size_t)bytes / 16 + 1, sizeof *ranges->reads) : 0);
  ranges[count++] = {(char *)begin, (char *)begin + bytes, cells, shared != 0, reads};
}

void mlc_emulated_check(void) {
  mlc_emulated_register(__start_mlc_shared, __stop_mlc_shared - __start_mlc_shared, 1); /* 0 bytes if there is none */
}

/* Forgets the buffers and returns the first error since the last call; empty where there was none. */
const char *mlc_emulated_end(void) {
  static char last[sizeof failure];
  for (int n = 0; n < count; n++) free(ranges[n].cells), free(ranges[n].reads);
  count = 0;
  for (range &r : ranges) {
    if (!r.begin) break;
    r = {};
  }
  memcpy(last, failure, sizeof last);
  failure[0] = 0;
  return last;
}

void __tsan_init(void) {}
char __tsan_atomic8_load(const volatile char *p, int) { return *p; } /* of the guards of shared arrays of a class */
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
#define ACCESS(n)                                                             \
  void __tsan_read##n(void *p) { access(p, n, false); }                       \
  void __tsan_write##n(void *p) { access(p, n, true); }                       \
  void __tsan_unaligned_read##n(void *p) { access(p, n, false); }             \
  void __tsan_unaligned_write##n(void *p) { access(p, n, true); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_read_range(void *p, unsigned long n) { access(p, n, false); }
void __tsan_write_range(void *p, unsigned long n) { access(p, n, true); }
}
