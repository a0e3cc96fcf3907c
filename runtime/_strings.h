/* Strings between Python and C: an array of str becomes pointers to UTF-8, and pointers become str. */
#ifndef MLC_CALL_STRINGS_H
#define MLC_CALL_STRINGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The first fields of NumPy's arrays: PyArrayObject_fields of its C API, the same in versions 1 and 2. */
typedef struct {
  PyObject_HEAD
  void *data;
  int rank;
  Py_ssize_t *shape, *strides;
  PyObject *base, *dtype;
  int flags;
} Array;

enum { RECENT = 2048 /* pointers whose str is remembered; a power of two */ };

static Py_ssize_t elements_of(const Array *array) {
  Py_ssize_t count = 1;
  for (int n = 0; n < array->rank; n++) count *= array->shape[n];
  return count;
}

/* The UTF-8 of a str; NULL, without an exception, where it is no str or C cannot have it: a surrogate, a zero. */
static const char *utf8_of(PyObject *value, Py_ssize_t *length) {
  const char *text = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, length) : NULL;
  if (!text) PyErr_Clear();
  return text && !memchr(text, 0, (size_t)*length) ? text : NULL;
}

/* Bytes that begin with a pointer to each string of a contiguous array of objects and contain the strings as well;
 * NULL, without an exception, where C cannot have one of them. */
static PyObject *packed(const Array *array) {
  PyObject *const *from = array->data;
  Py_ssize_t count = elements_of(array), room = count * (Py_ssize_t)sizeof(char *), length;
  for (Py_ssize_t n = 0; n < count; n++) {
    if (!utf8_of(from[n], &length)) return NULL;
    room += length + 1;
  }
  PyObject *block = PyBytes_FromStringAndSize(NULL, room);
  if (!block) return PyErr_Clear(), NULL;
  char **pointers = (char **)PyBytes_AS_STRING(block), *end = (char *)(pointers + count);
  for (Py_ssize_t n = 0; n < count; n++) {
    const char *text = PyUnicode_AsUTF8AndSize(from[n], &length); /* which a str remembers */
    pointers[n] = memcpy(end, text, (size_t)length + 1);
    end += length + 1;
  }
  return block;
}

/* Puts the str of each pointer into an array of objects. Equal pointers, such as those of labels and of words of a
 * text, mostly get one str. -1: an exception is set. */
static int unpacked(const char *const *pointers, const Array *array) {
  PyObject **to = array->data;
  Py_ssize_t count = elements_of(array), where[RECENT];
  const char *known[RECENT];
  size_t mask = RECENT - 1;
  while (mask > (size_t)count) mask >>= 1;
  memset(known, 0, (mask + 1) * sizeof *known);
  for (Py_ssize_t n = 0; n < count; n++) {
    const char *text = pointers[n];
    size_t at = (size_t)((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> 40) & mask;
    PyObject *made = text == known[at] ? Py_NewRef(to[where[at]])
                                       : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!made) return -1;
    known[at] = text, where[at] = n;
    Py_XSETREF(to[n], made);
  }
  return 0;
}

#endif
