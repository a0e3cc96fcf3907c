/* Runs model.so on files: program THREADS DIM,DIM INPUT... : OUTPUT=BYTES... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { MOST = 64 };

static void *contents(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) perror(path), exit(1);
  size_t bytes = ftell(file);
  char *data = malloc(bytes + 1);
  rewind(file);
  if (fread(data, 1, bytes, file) != bytes) perror(path), exit(1);
  fclose(file);
  return data;
}

static void write_file(const char *path, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) perror(path), exit(1);
}

int main(int count, char **words) {
  int64_t dims[MOST] = {0};
  const void *inputs[MOST];
  void *outputs[MOST];
  size_t bytes[MOST];
  int n = 0, next = 3;
  for (char *dim = strtok(words[2], ","); dim; dim = strtok(NULL, ",")) dims[n++] = atoll(dim);
  for (n = 0; strcmp(words[next], ":"); next++) inputs[n++] = contents(words[next]);
  char **paths = words + next + 1;
  for (n = 0; n < count - next - 1; n++) {
    char *size = strchr(paths[n], '=');
    *size = 0;
    outputs[n] = malloc(bytes[n] = atoll(size + 1));
  }
  model_model *model = model_create(NULL, atoi(words[1]));
  if (!model || model_run(model, inputs, outputs, dims, NULL)) return fprintf(stderr, "%s\n", model_error()), 1;
  for (int i = 0; i < n; i++) write_file(paths[i], outputs[i], bytes[i]);
  model_destroy(model);
  return 0;
}
