/* A function of driver.so on arrays from the standard input: program LIBRARY FUNCTION ARRAYS BYTES-OF-AN-ELEMENT. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*unary)(const void *, void *, long);
typedef void (*binary)(const void *, const void *, void *, long);

static char *read_all(long *bytes) {
  char *data = NULL;
  long room = 0, got;
  *bytes = 0;
  do {
    data = realloc(data, room += 1 << 22);
    *bytes += got = fread(data + *bytes, 1, room - *bytes, stdin);
  } while (*bytes == room);
  return data;
}

int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW), *function = library ? dlsym(library, words[2]) : NULL;
  if (count != 5 || !function) return fprintf(stderr, "%s\n", dlerror()), 1;
  long bytes, arrays = atol(words[3]);
  char *x = read_all(&bytes), *y = malloc(bytes);
  long each = bytes / arrays, n = each / atol(words[4]);
  if (arrays == 1) ((unary)function)(x, y, n);
  else ((binary)function)(x, x + each, y, n);
  return fwrite(y, 1, each, stdout) != (size_t)each;
}
