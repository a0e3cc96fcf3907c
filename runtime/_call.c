/* A call from Python with arrays of the same layouts as before: compare, allocate the outputs, run.
 * Without this module (no C compiler at installation) every call goes through cffi. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "_strings.h"

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, FITS = C_CONTIGUOUS | ALIGNED, MOST = 64 /* arrays */ };

typedef int (*Run)(void *, const void *const *, void *const *, const int64_t *, void *);

typedef struct {
  PyObject *name, *dtype, *shape; /* the last two as numpy.empty takes them */
  int words;                      /* of str, which C gets as pointers */
  int hidden;                     /* an output that has the size of others, for the caller of C */
  PyObject *sizes;                /* NULL, or where the extents of an output are: an output's number, or -1: in shape */
  Py_ssize_t rank, extents[];
} Spec;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *owner, *empty; /* (library, what keeps dims alive); numpy.empty or alike */
  PyTypeObject *array;
  Run run;
  void *model;
  const int64_t *dims;
  int inputs, outputs, shown; /* shown: outputs that Python gets */
  Spec *specs[MOST]; /* of inputs, then of outputs */
} Call;

static int fits(const Call *call, PyObject *value, const Spec *spec) {
  const Array *array = (const Array *)value;
  if (Py_TYPE(value) != call->array || array->dtype != spec->dtype || array->rank != spec->rank) return 0;
  for (Py_ssize_t n = 0; n < spec->rank; n++)
    if (array->shape[n] != spec->extents[n]) return 0;
  return (array->flags & FITS) == FITS;
}

/* The arrays of one run as C has them, and the objects that own them: arrays of outputs, NULL for those of strings, and
 * blocks of pointers to strings. */
typedef struct {
  const void *read[MOST];
  void *written[MOST];
  PyObject *results[MOST], *blocks[MOST];
  int made, packed; /* how many of each */
} Arrays;

/* Takes over a block. NULL if there is none. */
static void *pointers_in(Arrays *arrays, PyObject *block) {
  if (!block) return NULL;
  arrays->blocks[arrays->packed++] = block;
  return PyBytes_AS_STRING(block);
}

static int read_all(const Call *call, PyObject *const *values, Arrays *arrays) {
  for (int n = 0; n < call->inputs; n++)
    if (!fits(call, values[n], call->specs[n])) return 0;
  for (int n = 0; n < call->inputs; n++) {
    const Array *array = (const Array *)values[n];
    arrays->read[n] = call->specs[n]->words ? pointers_in(arrays, packed(array)) : array->data;
    if (call->specs[n]->words && !arrays->read[n]) return 0;
  }
  return 1;
}

static PyObject *new_array(const Call *call, const Spec *spec, PyObject *shape) {
  return PyObject_Vectorcall(call->empty, (PyObject *[]){shape, spec->dtype}, 2, NULL);
}

static int make_all(const Call *call, Arrays *arrays) {
  for (; arrays->made < call->outputs; arrays->made++) {
    const Spec *spec = call->specs[call->inputs + arrays->made];
    Py_ssize_t bytes = sizeof(char *);
    for (Py_ssize_t n = 0; n < spec->rank; n++) bytes *= spec->extents[n];
    PyObject *array = spec->words ? NULL : new_array(call, spec, spec->shape);
    arrays->results[arrays->made] = array;
    arrays->written[arrays->made] = spec->words ? pointers_in(arrays, PyBytes_FromStringAndSize(NULL, bytes))
                                                : array ? ((Array *)array)->data : NULL;
    if (spec->words ? !arrays->written[arrays->made] : !array) return 0;
  }
  return 1;
}

/* The shape of an output in this run. */
static PyObject *shape_of(const Spec *spec, const Arrays *arrays) {
  if (!spec->sizes) return Py_NewRef(spec->shape);
  PyObject *shape = PyTuple_New(spec->rank);
  for (Py_ssize_t n = 0; shape && n < spec->rank; n++) {
    Py_ssize_t from = PyLong_AsSsize_t(PyTuple_GET_ITEM(spec->sizes, n));
    PyObject *extent = PyLong_FromLongLong(from < 0 ? spec->extents[n] : *(const int64_t *)arrays->written[from]);
    if (extent) PyTuple_SET_ITEM(shape, n, extent); else Py_CLEAR(shape);
  }
  return shape;
}

/* Makes the arrays of strings of a run that has ended. 0: an exception is set. */
static int make_words(const Call *call, Arrays *arrays) {
  for (int n = 0; n < call->outputs; n++) {
    const Spec *spec = call->specs[call->inputs + n];
    if (!spec->words) continue;
    PyObject *shape = shape_of(spec, arrays);
    arrays->results[n] = shape ? new_array(call, spec, shape) : NULL;
    Py_XDECREF(shape);
    if (!arrays->results[n] || unpacked(arrays->written[n], (Array *)arrays->results[n])) return 0;
  }
  return 1;
}

/* {name: output}, the output, or a tuple of several. */
static PyObject *collected(const Call *call, const Arrays *arrays, int by_name) {
  PyObject *all = by_name ? PyDict_New() : PyTuple_New(call->shown);
  for (int n = 0, at = 0; all && n < call->outputs; n++) {
    const Spec *spec = call->specs[call->inputs + n];
    if (spec->hidden) continue;
    if (!by_name && call->shown == 1) return Py_DECREF(all), Py_NewRef(arrays->results[n]);
    if (!by_name) PyTuple_SET_ITEM(all, at++, Py_NewRef(arrays->results[n]));
    else if (PyDict_SetItem(all, spec->name, arrays->results[n])) Py_CLEAR(all);
  }
  return all;
}

enum { FAILED = 1 /* more: an output whose size only a run knows does not fit; the library repeats that with room */ };

/* The results of a run; None where the arrays differ or do not fit. A run that fails is not run again, as it may have
 * updated state: the library raises the error. */
static PyObject *results_of(const Call *call, PyObject *const *values, Arrays *arrays, int by_name) {
  if (!read_all(call, values, arrays) || !make_all(call, arrays)) return PyErr_Clear(), Py_NewRef(Py_None);
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = call->run(call->model, arrays->read, arrays->written, call->dims, NULL);
  Py_END_ALLOW_THREADS
  if (failed > FAILED) return Py_NewRef(Py_None);
  if (failed) return PyObject_CallMethod(PyTuple_GET_ITEM(call->owner, 0), "raise_failure", NULL);
  return make_words(call, arrays) ? collected(call, arrays, by_name) : NULL;
}

static PyObject *on(const Call *call, PyObject *const *values, int by_name) {
  Arrays arrays;
  arrays.made = arrays.packed = 0;
  PyObject *results = results_of(call, values, &arrays, by_name);
  while (arrays.packed) Py_DECREF(arrays.blocks[--arrays.packed]);
  while (arrays.made) Py_XDECREF(arrays.results[--arrays.made]);
  return results;
}

static PyObject *run(PyObject *self, PyObject *const *values, size_t flagged, PyObject *names) {
  const Call *call = (const Call *)self;
  if (names || PyVectorcall_NARGS(flagged) != call->inputs) Py_RETURN_NONE;
  return on(call, values, 0);
}

/* The same of {name: array}, which gives {name: output}. The dictionary may change during the run: it keeps nothing. */
static PyObject *named(PyObject *self, PyObject *inputs) {
  const Call *call = (const Call *)self;
  PyObject *values[MOST];
  if (!PyDict_CheckExact(inputs) || PyDict_GET_SIZE(inputs) != call->inputs) Py_RETURN_NONE;
  int count = 0;
  for (; count < call->inputs; count++) {
    if (!(values[count] = PyDict_GetItemWithError(inputs, call->specs[count]->name))) break;
    Py_INCREF(values[count]);
  }
  PyErr_Clear();
  PyObject *results = count == call->inputs ? on(call, values, 1) : Py_NewRef(Py_None);
  while (count) Py_DECREF(values[--count]);
  return results;
}

static Spec *spec_of(PyObject *item) {
  PyObject *name, *shape, *dtype, *sizes = NULL;
  int hidden = 0;
  PyTypeObject *tuple = &PyTuple_Type;
  if (!PyArg_ParseTuple(item, "UO!O|pO!", &name, tuple, &shape, &dtype, &hidden, tuple, &sizes)) return NULL;
  PyObject *words = PyObject_GetAttrString(dtype, "hasobject");
  if (!words) return NULL;
  Py_DECREF(words); /* True and False live on */
  Py_ssize_t rank = PyTuple_GET_SIZE(shape);
  Spec *spec = PyMem_Malloc(sizeof(Spec) + rank * sizeof(Py_ssize_t));
  if (!spec) return (Spec *)PyErr_NoMemory();
  spec->rank = rank, spec->words = words == Py_True, spec->hidden = hidden;
  spec->sizes = Py_XNewRef(sizes);
  spec->name = Py_NewRef(name), spec->shape = Py_NewRef(shape), spec->dtype = Py_NewRef(dtype);
  for (Py_ssize_t n = 0; n < rank; n++) spec->extents[n] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, n));
  return spec;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(names)) {
  PyObject *owner, *empty, *array, *inputs, *outputs;
  Py_ssize_t function, model, dims;
  if (!PyArg_ParseTuple(args, "O!nnnOO!O!O!", &PyTuple_Type, &owner, &function, &model, &dims, &empty, &PyType_Type, &array,
                        &PyTuple_Type, &inputs, &PyTuple_Type, &outputs))
    return NULL;
  Py_ssize_t count = PyTuple_GET_SIZE(inputs), all = count + PyTuple_GET_SIZE(outputs);
  if (all > MOST) return PyErr_Format(PyExc_ValueError, "more than %d arrays", MOST);
  Call *call = (Call *)type->tp_alloc(type, 0);
  if (!call) return NULL;
  call->vectorcall = run;
  call->owner = Py_NewRef(owner), call->empty = Py_NewRef(empty), call->array = (PyTypeObject *)Py_NewRef(array);
  call->run = (Run)function, call->model = (void *)model, call->dims = (const int64_t *)dims;
  for (Py_ssize_t n = 0; n < all; n++) {
    PyObject *item = n < count ? PyTuple_GET_ITEM(inputs, n) : PyTuple_GET_ITEM(outputs, n - count);
    call->specs[n] = spec_of(item);
    if (n < count) call->inputs++; else call->outputs++;
    if (n >= count && call->specs[n] && !call->specs[n]->hidden) call->shown++;
  }
  if (!PyErr_Occurred()) return (PyObject *)call;
  Py_DECREF(call);
  return NULL;
}

static void destroy(PyObject *self) {
  Call *call = (Call *)self;
  for (int n = 0; n < call->inputs + call->outputs; n++) {
    if (!call->specs[n]) continue;
    Py_DECREF(call->specs[n]->name);
    Py_DECREF(call->specs[n]->shape);
    Py_DECREF(call->specs[n]->dtype);
    Py_XDECREF(call->specs[n]->sizes);
    PyMem_Free(call->specs[n]);
  }
  Py_XDECREF(call->owner);
  Py_XDECREF(call->empty);
  Py_XDECREF(call->array);
  Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"named", named, METH_O, "named({name: array}) -> {name: output}, or None as a call"},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject call_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mlc.runtime._call.Call",
    .tp_doc = "Call(owner, run, model, dims, empty, ndarray, inputs, outputs): runs on arrays of these shapes and dtypes.",
    .tp_basicsize = sizeof(Call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Call, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_methods = methods,
    .tp_new = create,
    .tp_dealloc = destroy,
};

static PyObject *packed_bytes(PyObject *Py_UNUSED(self), PyObject *array) {
  PyObject *block = packed((const Array *)array);
  return block ? block : Py_NewRef(Py_None);
}

static PyObject *unpacked_into(PyObject *Py_UNUSED(self), PyObject *const *arrays, Py_ssize_t count) {
  if (count != 2 || elements_of((Array *)arrays[0]) != elements_of((Array *)arrays[1]))
    return PyErr_Format(PyExc_ValueError, "two arrays of one size");
  return unpacked(((Array *)arrays[0])->data, (Array *)arrays[1]) ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"packed", packed_bytes, METH_O, "packed(objects) -> bytes of pointers and strings, or None"},
    {"unpacked", (PyCFunction)(void (*)(void))unpacked_into, METH_FASTCALL, "unpacked(pointers, objects): fills those"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_call", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__call(void) {
  PyObject *made_module = PyModule_Create(&module);
  if (!made_module || PyModule_AddType(made_module, &call_type) < 0) return NULL;
  return made_module;
}
