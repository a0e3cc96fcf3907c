/* A call from Python with arrays of the same layouts as before: compare, allocate the outputs, run.
 * Without this module (no C compiler at installation) every call goes through cffi. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, FITS = C_CONTIGUOUS | ALIGNED, MOST = 64 /* arrays */ };

/* The first fields of NumPy's arrays: PyArrayObject_fields of its C API, the same in versions 1 and 2. */
typedef struct {
  PyObject_HEAD
  void *data;
  int rank;
  Py_ssize_t *shape, *strides;
  PyObject *base, *dtype;
  int flags;
} Array;

typedef int (*Run)(void *, const void *const *, void *const *, const int64_t *, void *);

typedef struct {
  PyObject *name, *dtype, *shape; /* the last two as numpy.empty takes them */
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

static PyObject *made(const Call *call, void **written) {
  PyObject *results = call->outputs == 1 ? NULL : PyTuple_New(call->outputs);
  if (call->outputs != 1 && !results) return NULL;
  for (int n = 0; n < call->outputs; n++) {
    const Spec *spec = call->specs[call->inputs + n];
    PyObject *array = PyObject_Vectorcall(call->empty, (PyObject *[]){spec->shape, spec->dtype}, 2, NULL);
    if (!array) {
      Py_XDECREF(results);
      return NULL;
    }
    written[n] = ((Array *)array)->data;
    if (!results) return array;
    PyTuple_SET_ITEM(results, n, array);
  }
  return results;
}

/* The output, or a tuple of several; None where the arrays differ. A run that fails is not run again, as it may have
 * updated state: the library raises the error. */
static PyObject *on(const Call *call, PyObject *const *values) {
  const void *read[MOST];
  void *written[MOST];
  for (int n = 0; n < call->inputs; n++) {
    if (!fits(call, values[n], call->specs[n])) Py_RETURN_NONE;
    read[n] = ((Array *)values[n])->data;
  }
  PyObject *results = made(call, written);
  if (!results) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = call->run(call->model, read, written, call->dims, NULL);
  Py_END_ALLOW_THREADS
  if (!failed) return results;
  Py_DECREF(results);
  return PyObject_CallMethod(PyTuple_GET_ITEM(call->owner, 0), "raise_failure", NULL);
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
    PyObject *result = call->outputs == 1 ? results : PyTuple_GET_ITEM(results, n);
    if (PyDict_SetItem(named, call->specs[call->inputs + n]->name, result)) Py_CLEAR(named);
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
  Py_ssize_t rank = PyTuple_GET_SIZE(shape);
  Spec *spec = PyMem_Malloc(sizeof(Spec) + rank * sizeof(Py_ssize_t));
  if (!spec) return (Spec *)PyErr_NoMemory();
  spec->rank = rank, spec->name = Py_NewRef(name), spec->shape = Py_NewRef(shape), spec->dtype = Py_NewRef(dtype);
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

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_call", .m_size = -1};

PyMODINIT_FUNC PyInit__call(void) {
  PyObject *made_module = PyModule_Create(&module);
  if (!made_module || PyModule_AddType(made_module, &call_type) < 0) return NULL;
  return made_module;
}
