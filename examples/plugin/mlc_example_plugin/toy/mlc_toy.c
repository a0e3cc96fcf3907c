/* The simulator of the toy accelerator: a scratchpad of 32 tiles of 8 x 8 floats, and 10 loop registers, of which the
 * last two are always 0. The text of an instruction is a name and numbers; what is between the numbers is for readers. */
#include "mlc_toy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, TILES = 32, LOOPS = 10, MOST = 24, BUFFERS = 64 };
enum { ARGUMENTS, BUFFER, LOOP, END, LOAD, STORE, FILL, MATMUL, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN,
       ADD, MUL, MAX, MIN, SUB, DIV, EQ, NE, LT, LE, GT, GE, SELECT, NEG, ABS, EXP, LOG, SQRT, TANH, ERF, CODES };
static const char *const NAMES[CODES] = {
    "arguments", "buffer", "loop", "end", "load", "store", "fill", "matmul8x8", "reduce_add", "reduce_mul",
    "reduce_max", "reduce_min", "add", "mul", "max", "min", "sub", "div", "eq", "ne", "lt", "le", "gt", "ge",
    "select", "neg", "abs", "exp", "log", "sqrt", "tanh", "erf"};
typedef float tile[SIDE][SIDE];

typedef struct {
  int code, count;
  int64_t n[MOST];
  float value;
} instruction;

typedef struct {
  float *memory[BUFFERS];
  tile t[TILES];
  int64_t r[LOOPS], end[LOOPS];
} machine;

static const char *parse(const char *at, instruction *made) {
  size_t length = strcspn(at, " \n");
  while (strlen(NAMES[made->code]) != length || strncmp(NAMES[made->code], at, length))
    if (++made->code == CODES) abort();
  for (at += length; *at && *at != '\n';) {
    char *after;
    if (made->code == FILL && made->count == 1) {
      made->value = strtof(at, &after);
      at = after;
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
      made->n[made->count++] = strtoll(at, &after, 10);
      at = after;
    } else at++;
  }
  return *at ? at + 1 : at;
}

/* The elements of a tile in memory. The numbers of the instruction are the tile, the buffer and the base, then pairs of
 * a register and its stride, the last two of them those of rows and columns. */
static void move(machine *m, const instruction *i) {
  const int64_t *n = i->n, *rows = n + i->count - 4, *cols = n + i->count - 2;
  float *base = m->memory[n[1]] + n[2];
  for (const int64_t *pair = n + 3; pair < n + i->count; pair += 2) base += m->r[pair[0]] * pair[1];
  for (int64_t y = 0; y < SIDE; y++)
    for (int64_t x = 0; x < SIDE; x++) {
      int inside = m->r[rows[0]] + y < m->end[rows[0]] && m->r[cols[0]] + x < m->end[cols[0]];
      float *element = base + y * rows[1] + x * cols[1], *kept = &m->t[n[0]][y][x];
      if (i->code == LOAD) *kept = inside ? *element : 0.0f;
      else if (inside) *element = *kept;
    }
}

static float element(int code, float a, float b, float c) {
  switch (code) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case DIV: return a / b;
    case MAX: return a != a || a > b ? a : b;
    case MIN: return a != a || a < b ? a : b;
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    case SELECT: return a != 0 ? b : c;
    case NEG: return -a;
    case ABS: return fabsf(a);
    case EXP: return expf(a);
    case LOG: return logf(a);
    case SQRT: return sqrtf(a);
    case TANH: return tanhf(a);
    case ERF: return erff(a);
    default: abort();
  }
}

static void compute(machine *m, const instruction *i) {
  float(*to)[SIDE] = m->t[i->n[0]], (*a)[SIDE] = m->t[i->n[1] % TILES];
  int reduces = i->code >= REDUCE_ADD && i->code <= REDUCE_MIN;
  int64_t width = reduces ? m->end[i->n[2]] - m->r[i->n[2]] : SIDE;
  float(*b)[SIDE] = i->count > 2 && !reduces ? m->t[i->n[2]] : a, (*c)[SIDE] = i->count > 3 ? m->t[i->n[3]] : a;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE && x < width; x++)
      if (i->code == FILL) to[y][x] = i->value;
      else if (i->code == MATMUL)
        for (int k = 0; k < SIDE; k++) to[y][x] += a[y][k] * b[k][x];
      else if (reduces) to[y][0] = element(i->code - REDUCE_ADD + ADD, to[y][0], a[y][x], 0);
      else to[y][x] = element(i->code, a[y][x], b[y][x], c[y][x]);
}

/* Runs the instructions from `at` to the end of the loop that they are in, and returns what follows it. */
static const instruction *run(machine *m, const instruction *at, const instruction *last) {
  for (; at < last && at->code != END; at++)
    if (at->code == LOOP) {
      const instruction *after = at;
      int64_t which = at->n[0];
      m->end[which] = at->n[1];
      for (m->r[which] = 0; m->r[which] < at->n[1]; m->r[which] += at->n[2]) after = run(m, at + 1, last);
      at = after;
    } else if (at->code == LOAD || at->code == STORE) move(m, at);
    else if (at->code == BUFFER) m->memory[at->n[0]] = calloc((size_t)at->n[1], sizeof(float));
    else compute(m, at);
  return at;
}

/* The first instruction says how many buffers are given; the kernel's own ones follow. */
void mlc_toy_run(const char *program, void *const *buffers) {
  size_t lines = 0;
  for (const char *at = program; *at; at++) lines += *at == '\n';
  instruction *code = calloc(lines, sizeof *code), *made = code;
  machine *m = calloc(1, sizeof *m);
  for (const char *at = program; *at;) at = parse(at, made++);
  for (int64_t b = 0; b < code->n[0]; b++) m->memory[b] = buffers[b];
  m->end[LOOPS - 2] = m->end[LOOPS - 1] = 1;
  run(m, code + 1, made);
  for (int64_t b = code->n[0]; b < BUFFERS; b++) free(m->memory[b]);
  free(m);
  free(code);
}
