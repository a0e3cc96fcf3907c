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
  int inputs, outputs;
  Spec *specs[MOST]; /* of inputs, then of outputs */
} Call;

static int fits(const Call *call, PyObject *value, const Spec *spec) {
  const Array *array = (const Array *)value;
  if (Py_TYPE(value) != call->array || array->dtype != spec->dtype || array->rank != spec->rank) return 0;
  for (Py_ssize_t n = 0; n < spec->rank; n++)
    if (array->shape[n] != spec->extents[n]) return 0;
  return (array->flags & FITS) == FITS;
}

/* The arrays of one run as C has them. Of strings those are blocks of pointers, to be freed. */
typedef struct {
  const void *read[MOST];
  void *written[MOST];
  PyObject *blocks[MOST];
  int count; /* of blocks */
} Run_arrays;

/* Takes over a block. NULL if there is none. */
static void *pointers_in(Run_arrays *arrays, PyObject *block) {
  if (!block) return NULL;
  arrays->blocks[arrays->count++] = block;
  return PyBytes_AS_STRING(block);
}

static int read_all(const Call *call, PyObject *const *values, Run_arrays *arrays) {
  for (int n = 0; n < call->inputs; n++)
    if (!fits(call, values[n], call->specs[n])) return 0;
  for (int n = 0; n < call->inputs; n++) {
    const Array *array = (const Array *)values[n];
    arrays->read[n] = call->specs[n]->words ? pointers_in(arrays, packed(array)) : array->data;
    if (call->specs[n]->words && !arrays->read[n]) return 0;
  }
  return 1;
}

/* One output. */
static PyObject *made_one(const Call *call, const Spec *spec, Run_arrays *arrays, int n) {
  PyObject *array = PyObject_Vectorcall(call->empty, (PyObject *[]){spec->shape, spec->dtype}, 2, NULL);
  if (!array || !spec->words) return arrays->written[n] = array ? ((Array *)array)->data : NULL, array;
  Py_ssize_t bytes = elements_of((Array *)array) * (Py_ssize_t)sizeof(char *);
  arrays->written[n] = pointers_in(arrays, PyBytes_FromStringAndSize(NULL, bytes));
  if (!arrays->written[n]) Py_CLEAR(array);
  return array;
}

static PyObject *made(const Call *call, Run_arrays *arrays) {
  PyObject *results = call->outputs == 1 ? NULL : PyTuple_New(call->outputs);
  if (call->outputs != 1 && !results) return NULL;
  for (int n = 0; n < call->outputs; n++) {
    PyObject *array = made_one(call, call->specs[call->inputs + n], arrays, n);
    if (!results) return array;
    if (!array) return Py_DECREF(results), NULL;
    PyTuple_SET_ITEM(results, n, array);
  }
  return results;
}

static PyObject *result(const Call *call, PyObject *results, int n) {
  return call->outputs == 1 ? results : PyTuple_GET_ITEM(results, n);
}

/* The results of a run that has ended, or NULL and an exception; takes them over. */
static PyObject *ended(const Call *call, PyObject *results, const Run_arrays *arrays, int failed) {
  for (int n = 0; !failed && n < call->outputs; n++) {
    if (!call->specs[call->inputs + n]->words) continue;
    if (!unpacked(arrays->written[n], (Array *)result(call, results, n))) continue;
    return Py_DECREF(results), NULL;
  }
  if (!failed) return results;
  Py_DECREF(results);
  return PyObject_CallMethod(PyTuple_GET_ITEM(call->owner, 0), "raise_failure", NULL);
}

/* The output, or a tuple of several; None where the arrays differ. A run that fails is not run again, as it may have
 * updated state: the library raises the error. */
static PyObject *on(const Call *call, PyObject *const *values) {
  Run_arrays arrays;
  arrays.count = 0;
  PyObject *results = read_all(call, values, &arrays) ? made(call, &arrays) : NULL;
  if (results) {
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = call->run(call->model, arrays.read, arrays.written, call->dims, NULL);
    Py_END_ALLOW_THREADS
    results = ended(call, results, &arrays, failed);
  } else {
    PyErr_Clear();
    results = Py_NewRef(Py_None);
  }
  while (arrays.count) Py_DECREF(arrays.blocks[--arrays.count]);
  return results;
}

static PyObject *run(PyObject *self, PyObject *const *values, size_t flagged, PyObject *names) {
  const Call *call = (const Call *)self;
  if (names || PyVectorcall_NARGS(flagged) != call->inputs) Py_RETURN_NONE;
  return on(call, values);
}

/* {name: output} of what ``on`` gives; takes that over. */
static PyObject *by_name(const Call *call, PyObject *results) {
  PyObject *named = PyDict_New();
  for (int n = 0; named && n < call->outputs; n++) {
    if (PyDict_SetItem(named, call->specs[call->inputs + n]->name, result(call, results, n))) Py_CLEAR(named);
  }
  Py_DECREF(results);
  return named;
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
  PyObject *results = count == call->inputs ? on(call, values) : Py_NewRef(Py_None);
  while (count) Py_DECREF(values[--count]);
  return !results || results == Py_None ? results : by_name(call, results);
}

static Spec *spec_of(PyObject *item) {
  PyObject *name, *shape, *dtype;
  if (!PyArg_ParseTuple(item, "UO!O", &name, &PyTuple_Type, &shape, &dtype)) return NULL;
  PyObject *words = PyObject_GetAttrString(dtype, "hasobject");
  if (!words) return NULL;
  Py_DECREF(words); /* True and False live on */
  Py_ssize_t rank = PyTuple_GET_SIZE(shape);
  Spec *spec = PyMem_Malloc(sizeof(Spec) + rank * sizeof(Py_ssize_t));
  if (!spec) return (Spec *)PyErr_NoMemory();
  spec->rank = rank, spec->words = words == Py_True;
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
