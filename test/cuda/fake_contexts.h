/* Contexts of the fake driver, and the order of work in their streams. */
#pragma once

#include <stdint.h>
#include <unistd.h>

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace {

enum {
  OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, BAD_IMAGE = 200, INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700,
  CAPTURE_UNSUPPORTED = 900, CAPTURE_ISOLATION = 905, CAPTURE_IMPLICIT = 906
};
enum { IN_CONTEXT, IN_POOL, MANAGED, OF_HOST }; /* kinds of memory */

struct Context { int device, retained; unsigned long long id; };

std::recursive_mutex lock;
std::list<Context> all_contexts; /* destroyed ones have no owner, and stay */
std::map<int, Context *> primaries;
thread_local std::vector<Context *> stack;
pid_t started = 0;
int next_kind = IN_CONTEXT, captures = 0;

Context *current() { return stack.empty() ? nullptr : stack.back(); }

Context *new_context(int device) {
  static unsigned long long ids = 0;
  return &all_contexts.emplace_back(Context{device, 0, ++ids});
}

Context *primary(int device) {
  Context *&found = primaries[device];
  return found ? found : found = new_context(device);
}

bool is_context(Context *context) {
  for (Context &each : all_contexts)
    if (&each == context) return each.retained > 0 || primaries[each.device] == context;
  return false;
}

/* Work that is enqueued. `stream` is a key; `blocking`: it is ordered with the legacy stream, whose key is the context. */
struct Item {
  long number;
  std::function<int()> work;
  void *stream;
  bool blocking;
  Context *context;
  std::vector<long> after;
};
std::vector<Item> items;
long items_made = 0;

long last_item() { return items_made - 1; }

void add_item(std::function<int()> work, void *stream, bool blocking, Context *context) {
  std::map<void *, long> last; /* of each stream after which this comes */
  for (const Item &each : items) {
    bool with_legacy = blocking && each.blocking && (stream == context || each.stream == context);
    if (each.context == context && (each.stream == stream || with_legacy)) last[each.stream] = each.number;
  }
  std::vector<long> after;
  for (auto &each : last) after.push_back(each.second);
  items.push_back({items_made++, std::move(work), stream, blocking, context, std::move(after)});
}

/* Does all work; of the streams whose next item is ready, that in which something was enqueued last comes first. */
int run_all(int *sticky) {
  std::vector<Item> work;
  work.swap(items);
  std::map<void *, std::deque<Item *>> streams;
  std::map<long, bool> waiting;
  for (Item &each : work) streams[each.stream].push_back(&each), waiting[each.number] = true;
  for (size_t left = work.size(); left; left--) {
    Item *next = nullptr;
    for (auto &each : streams) {
      if (each.second.empty()) continue;
      bool ready = true;
      for (long before : each.second.front()->after) ready = ready && !(waiting.count(before) && waiting[before]);
      if (ready && (!next || each.second.back()->number > streams[next->stream].back()->number)) next = each.second.front();
    }
    streams[next->stream].pop_front();
    waiting[next->number] = false;
    if (!*sticky) *sticky = next->work();
  }
  return *sticky;
}

} // namespace
