/* Bulk copies and mbarriers of the emulation, a part of emulation.cpp.
 *
 * A copy arrives when a thread waits for its barrier, and no earlier. What one warp knows of another's steps comes from
 * the barriers: a vector clock of each thread, with an entry for each warp and one for what has arrived. */
struct clocks {
  uint32_t of[MOST_THREADS / WARP], arrived;
  void join(const clocks &other) {
    for (int n = 0; n < MOST_THREADS / WARP; n++) of[n] = of[n] > other.of[n] ? of[n] : other.of[n];
    arrived = arrived > other.arrived ? arrived : other.arrived;
  }
};

struct bulk_copy {
  char *to;
  mlc_tensor_map map;
  int at[MLC_MOST_AXES];
  std::vector<char> data; /* as it lies in shared memory */
};

struct mbarrier {
  int count, pending;
  int64_t bytes; /* that have been announced and have not arrived */
  uint32_t phase, made, met; /* the interval in which it was made, and the cluster barriers before */
  clocks arriving, last; /* of this phase and of the one before */
  std::vector<bulk_copy> copies;
};

clocks known[MOST_THREADS];
uint32_t cluster_barriers;
std::map<std::pair<int, const void *>, mbarrier> mbarriers; /* by the block of the cluster, and the address */

/* The shared memory of the blocks of a cluster that do not run, and the shadows of all. */
std::vector<char> images[MOST_CLUSTER];
cell *shadows[MOST_CLUSTER];
uint32_t (*last_reads[MOST_CLUSTER])[MOST_THREADS / WARP];
int64_t first_block;

range *shared_range() {
  for (int n = 0; n < count; n++)
    if (ranges[n].shared) return ranges + n;
  return nullptr;
}

void become(int other) {
  range *r = cluster > 1 && other != rank ? shared_range() : nullptr;
  if (r) {
    const size_t bytes = (size_t)(r->end - r->begin);
    memcpy(images[rank].data(), r->begin, bytes);
    memcpy(r->begin, images[other].data(), bytes);
    r->cells = shadows[other], r->reads = last_reads[other];
  }
  rank = other;
  mlc_emulated_state.block.x = (unsigned)(first_block + other);
}

void open_images() {
  range *r = cluster > 1 ? shared_range() : nullptr;
  for (int n = 0; r && n < cluster; n++) {
    const size_t bytes = (size_t)(r->end - r->begin);
    images[n].assign(bytes, (char)0xff);
    shadows[n] = n ? (cell *)calloc(bytes, sizeof(cell)) : r->cells;
    last_reads[n] = n ? (uint32_t (*)[MOST_THREADS / WARP])calloc(bytes / 16 + 1, sizeof *r->reads) : r->reads;
  }
}

void close_images() {
  become(0);
  for (int n = 1; n < cluster && shared_range(); n++) free(shadows[n]), free(last_reads[n]);
}

int64_t elements_of(const mlc_tensor_map &m) {
  int64_t count = 1;
  for (int n = 0; n < m.rank; n++) count *= m.box[n];
  return count;
}

/* Calls `each` with the place in shared memory and the address of each element of a box that the tensor has: chunks of
 * 16 bytes are swizzled by address bits 7 to 9. */
template <typename F> void for_elements(const bulk_copy &c, F each) {
  const mlc_tensor_map &m = c.map;
  const int64_t count = elements_of(m);
  for (int64_t row = 0; row < count / m.box[0]; row++) {
    int64_t rest = row, from = 0;
    bool inside = true;
    for (int n = 1; n < m.rank; rest /= m.box[n++]) {
      const int64_t at = c.at[n] + rest % m.box[n];
      inside = inside && at >= 0 && at < m.extent[n];
      from += at * m.stride[n - 1];
    }
    for (int x = 0; inside && x < m.box[0]; x++) {
      const int64_t at = c.at[0] + x;
      if (at < 0 || at >= m.extent[0]) continue;
      uintptr_t place = (uintptr_t)c.to + (uintptr_t)((row * m.box[0] + x) * m.bytes);
      if (m.span) place ^= (place >> 7 & (uintptr_t)(m.span / 16 - 1)) << 4;
      each((char *)place, m.start + from + at * m.bytes);
    }
  }
}

/* The elements of a box where the copy puts them. */
void take(const bulk_copy &c, std::vector<char> &data, bool check) {
  const size_t bytes = (size_t)c.map.bytes;
  data.assign((size_t)elements_of(c.map) * bytes, 0);
  for_elements(c, [&](char *place, const char *source) {
    if (check) access(source, bytes, false);
    memcpy(&data[(size_t)(place - c.to)], source, bytes);
  });
}

mbarrier *find_mbarrier(const void *at, int block) {
  auto found = mbarriers.find({block, at});
  if (found == mbarriers.end()) return fail("no mbarrier was made here", at, -1), nullptr;
  if (block != rank && found->second.met == cluster_barriers) fail("no cluster barrier after an mbarrier was made", at, -1);
  if (found->second.made == interval) fail("no block barrier after an mbarrier was made", at, -1);
  return &found->second;
}

void end_phase(mbarrier *b) {
  if (b->pending || b->bytes) return;
  b->last = b->arriving, b->last.arrived = now++;
  b->arriving = {};
  b->pending = b->count, b->phase++;
}

/* What has been started arrives. */
void deliver(mbarrier *b) {
  std::vector<bulk_copy> copies;
  copies.swap(b->copies);
  for (bulk_copy &c : copies) {
    std::vector<char> again;
    take(c, again, false);
    if (again != c.data) fail("a write of what is being copied", c.to, -1);
    set_in_flight(c.to, (int)c.data.size(), false);
    memcpy(c.to, c.data.data(), c.data.size());
    range *r = find(c.to);
    for (size_t n = 0; r && n < c.data.size(); n++) r->cells[c.to - r->begin + (long)n].arrived = now;
    b->bytes -= (int64_t)c.data.size();
    if (b->bytes < 0 && !b->pending) fail("bytes arrive that nobody expects", c.to, -1);
  }
  if (!copies.empty()) end_phase(b);
}

/* Whether a thread need not wait any more. */
bool has_ended(const void *at, int parity) {
  mbarrier *b = find_mbarrier(at, rank);
  if (b && (int)(b->phase & 1) == parity) deliver(b);
  return !b || (int)(b->phase & 1) != parity;
}

/* A copy may begin where all that was read there happened before, as its thread knows. */
void check_free(const bulk_copy &c, const clocks &knows, unsigned me) {
  range *r = find(c.to);
  if (!r || !r->shared || c.to + c.data.size() > r->end) return fail("a bulk copy to what is not in shared memory", c.to, -1);
  for (long n = c.to - r->begin; n < c.to - r->begin + (long)c.data.size(); n++) {
    cell &at = r->cells[n];
    if (at.in_flight) fail("a bulk copy to what is in flight", c.to, -1);
    for (unsigned w = 0; n % 16 == 0 && w < MOST_THREADS / WARP; w++)
      if (w != me / WARP && r->reads[n / 16][w] > knows.of[w]) fail("a bulk copy to what is being read", c.to, (int)w * WARP);
    if (conflicts(at.written, at.writer, true) && at.written) fail("a bulk copy to what is being written", c.to, at.writer);
    at.written = 0;
  }
}

/* A copy that a thread of block `from` starts, to the block that is in place. */
void start_copy(const bulk_copy &c, mbarrier *b, const clocks &knows, int from) {
  check_free(c, knows, (unsigned)(from * block_threads) + mlc_emulated_state.thread.x);
  memset(c.to, 0xff, c.data.size()); /* NaN, and no index */
  set_in_flight(c.to, (int)c.data.size(), true);
  b->copies.push_back(c);
}

void arrive_at(int block, const void *at, int bytes) {
  mbarrier *b = find_mbarrier(at, block);
  if (!b) return;
  b->arriving.join(known[self()]);
  b->arriving.of[self() / WARP] = now++;
  b->bytes += bytes;
  if (b->pending-- == 0) fail("an arrival too many", at, -1);
  end_phase(b);
}

/* All threads of `first` to `last` know of all that they did. */
void meet(int first, int last) {
  clocks all = {};
  for (int n = first; n < last; n++) all.join(known[n]);
  for (int n = first; n < last; n++) all.of[n / WARP] = now;
  now++;
  for (int n = first; n < last; n++) known[n] = all;
}

/* -- bulk stores ----------------------------------------------------------------------------------------------------- */

struct bulk_store { bulk_copy box; };

/* What a store reads has been written before, fenced and passed a barrier. */
void start_store(const bulk_store &s) {
  range *r = find(s.box.to);
  const size_t bytes = (size_t)(elements_of(s.box.map) * s.box.map.bytes);
  if (!r || !r->shared || s.box.to + bytes > r->end) return fail("a bulk store of what is not in shared memory", s.box.to, -1);
  access(s.box.to, bytes, false);
  for (cell *c = r->cells + (s.box.to - r->begin), *end = c + bytes; c < end; c++) {
    if (c->written >= first_of_block && fibers[c->writer].fenced < c->time)
      fail("no fence between a write and the asynchronous proxy", s.box.to, c->writer);
    c->stored = true;
  }
}

void end_store(const bulk_store &s) {
  range *r = find(s.box.to);
  const size_t bytes = (size_t)s.box.map.bytes, all = (size_t)elements_of(s.box.map) * bytes;
  if (!r || !r->shared) return;
  access(s.box.to, all, false); /* a barrier separates it from the next write */
  for (cell *c = r->cells + (s.box.to - r->begin), *end = c + all; c < end; c++) c->stored = false;
  for_elements(s.box, [&](char *place, const char *target) {
    access(target, bytes, true);
    memcpy((char *)target, place, bytes);
  });
}
