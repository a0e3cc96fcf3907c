/* Semaphores of the emulation, a part of emulation.cpp: what one block knows of another's accesses.
 *
 * Blocks run one after another. A block may access what another one has accessed in the same launch only if that one
 * released it, by an arrival after a barrier, and this one has acquired it, by an access of the same semaphore before a
 * barrier. */
struct release { uint32_t first, last; }; /* the intervals of a block that it has released: first to last - 1 */
struct acquired { release of; uint32_t when; int16_t who; };

std::map<const void *, std::vector<release>> releases;
std::vector<acquired> learned; /* of the block that runs */
bool backwards, stale;         /* the last block runs first; an acquired number of arrivals is old news */

bool is_learned(uint32_t when) {
  for (const acquired &a : learned)
    if (a.of.first <= when && when < a.of.last && (a.when < interval || a.who == (int16_t)self())) return true;
  return false;
}

void acquire(const int32_t *at) {
  range *r = find((const char *)at);
  if (!r || r->shared || (uintptr_t)at % sizeof *at) fail("a semaphore is not in global memory", at, -1);
  for (const release &each : releases[at]) learned.push_back({each, interval, (int16_t)self()});
}

int32_t arrive_at_semaphore(int32_t *at, int32_t most) {
  acquire(at);
  std::vector<release> &known_here = releases[at];
  for (const acquired &a : learned)
    if (a.when < interval || a.who == (int16_t)self()) known_here.push_back(a.of);
  known_here.push_back({first_of_block, interval});
  const int32_t before = *at;
  *at = before >= most ? 0 : before + 1;
  return before;
}
