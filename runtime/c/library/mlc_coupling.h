/* Class probabilities of the probabilities of pairs of classes (dialects/graph/coupling.py). */
#ifndef MLC_COUPLING_H
#define MLC_COUPLING_H

#include "mlc_kernel.h"

/* r[i][j]: of class i against class j; q[i][j] = -r[j][i] r[i][j], and q[i][i] the sum of r[j][i]² of the others. A row of
 * the result is p, then q[i][i], then the products of the rows of q with p. */
MLC_INLINE void mlc_coupling(const void *pairs, void *result, int64_t rows, int64_t classes, int64_t tid, int64_t threads) {
  for (int64_t row = rows * tid / threads, end = rows * (tid + 1) / threads; row < end; row++) {
    const double *r = (const double *)pairs + row * classes * classes;
    double *p = (double *)result + row * 3 * classes, *own = p + classes, *qp = own + classes;
    for (int64_t i = 0; i < classes; i++) {
      p[i] = 1.0 / (double)classes;
      own[i] = 0;
      for (int64_t j = 0; j < classes; j++) own[i] += j == i ? 0 : r[j * classes + i] * r[j * classes + i];
    }
    for (int iteration = 0; iteration < 100; iteration++) {
      double total = 0, error = 0;
      for (int64_t i = 0; i < classes; i++) {
        qp[i] = own[i] * p[i];
        for (int64_t j = 0; j < classes; j++) qp[i] -= j == i ? 0 : r[j * classes + i] * r[i * classes + j] * p[j];
        total += p[i] * qp[i];
      }
      for (int64_t i = 0; i < classes; i++) error = __builtin_fmax(error, __builtin_fabs(qp[i] - total));
      if (error < 0.005 / (double)classes) break;
      for (int64_t n = 0; n < classes; n++) {
        const double step = (total - qp[n]) / own[n];
        total = (total + step * (step * own[n] + 2 * qp[n])) / (1 + step) / (1 + step);
        p[n] += step;
        for (int64_t j = 0; j < classes; j++) {
          qp[j] = (qp[j] + step * (j == n ? own[n] : -r[j * classes + n] * r[n * classes + j])) / (1 + step);
          p[j] /= 1 + step;
        }
      }
    }
  }
}

#endif
