/* Inflation (RFC 1950, 1951). */
#include "mlc_prefix.h"

typedef struct {
  mlc_bits in;
  uint8_t *to;
  size_t made, room;
} inflation;

static unsigned take_bits(inflation *z, int n) { return mlc_take_bits(&z->in, n); }

static int copy_plain(inflation *z) {
  take_bits(z, z->in.count % 8);
  unsigned n = take_bits(z, 16);
  if ((take_bits(z, 16) ^ n) != 0xFFFF || n > z->room - z->made) return 1;
  for (; n > 0; n--) z->to[z->made++] = (uint8_t)take_bits(z, 8);
  return mlc_bits_over(&z->in);
}

static const uint16_t LENGTHS[] = {
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint16_t DISTANCES[] = {
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
    6145, 8193, 12289, 16385, 24577};

static int copy_back(inflation *z, int symbol, const mlc_prefix *distances) {
  int n = symbol - 257, extra = n < 8 || n == 28 ? 0 : n / 4 - 1;
  if (n > 28) return 1;
  size_t length = LENGTHS[n] + take_bits(z, extra);
  int d = mlc_take_symbol(&z->in, distances);
  if (d < 0 || d > 29) return 1;
  size_t distance = DISTANCES[d] + take_bits(z, d < 4 ? 0 : d / 2 - 1);
  if (distance > z->made || length > z->room - z->made) return 1;
  for (; length > 0; length--, z->made++) z->to[z->made] = z->to[z->made - distance];
  return 0;
}

static int inflate_block(inflation *z, const mlc_prefix *symbols, const mlc_prefix *distances) {
  while (!mlc_bits_over(&z->in)) {
    int symbol = mlc_take_symbol(&z->in, symbols);
    if (symbol == 256) return 0;
    if (symbol > 256) {
      if (copy_back(z, symbol, distances)) return 1;
    } else {
      if (symbol < 0 || z->made == z->room) return 1;
      z->to[z->made++] = (uint8_t)symbol;
    }
  }
  return 1;
}

static int inflate_fixed(inflation *z) {
  uint8_t length[288];
  uint16_t room[2][288];
  mlc_prefix symbols, distances;
  for (int i = 0; i < 288; i++) length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  mlc_make_prefix(&symbols, length, 288, room[0]);
  memset(length, 5, 30);
  mlc_make_prefix(&distances, length, 30, room[1]);
  return inflate_block(z, &symbols, &distances);
}

static int inflate_dynamic(inflation *z) {
  static const uint8_t ORDER[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t length[320] = {0};
  uint16_t room[2][288];
  mlc_prefix symbols, distances;
  int literals = (int)take_bits(z, 5) + 257, far = (int)take_bits(z, 5) + 1, known = (int)take_bits(z, 4) + 4;
  for (int i = 0; i < known; i++) length[ORDER[i]] = (uint8_t)take_bits(z, 3);
  if (literals > 286 || far > 30 || mlc_make_prefix(&symbols, length, 19, room[0]) < 0) return 1;
  for (int i = 0; i < literals + far;) {
    int symbol = mlc_take_symbol(&z->in, &symbols);
    if (symbol < 0 || mlc_bits_over(&z->in)) return 1;
    if (symbol < 16) {
      length[i++] = (uint8_t)symbol;
      continue;
    }
    if (symbol == 16 && i == 0) return 1;
    uint8_t value = symbol == 16 ? length[i - 1] : 0;
    int bits = symbol == 16 ? 2 : symbol == 17 ? 3 : 7, times = (symbol == 18 ? 11 : 3) + (int)take_bits(z, bits);
    if (i + times > literals + far) return 1;
    for (; times > 0; times--) length[i++] = value;
  }
  if (mlc_make_prefix(&symbols, length, literals, room[0]) < 0) return 1;
  if (mlc_make_prefix(&distances, length + literals, far, room[1]) < 0) return 1;
  return inflate_block(z, &symbols, &distances);
}

int mlc_inflate(mlc_bytes from, uint8_t *to, size_t room) {
  unsigned method = mlc_u8(&from), flags = mlc_u8(&from);
  inflation z = {.in.from = from, .to = to, .room = room};
  if ((method & 15) != 8 || (method << 8 | flags) % 31 || flags & 32) return 1;
  for (int last = 0; !last && z.made < room;) {
    last = (int)take_bits(&z, 1);
    unsigned kind = take_bits(&z, 2);
    if (kind == 3 || mlc_bits_over(&z.in)) return 1;
    if (kind == 0 ? copy_plain(&z) : kind == 1 ? inflate_fixed(&z) : inflate_dynamic(&z)) return 1;
  }
  return z.made < room;
}
