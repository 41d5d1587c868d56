/* The symbols of Apple's Accelerate that OInfer calls, with Apple's signatures (vDSP.h, vForce.h, cblas.h), in plain C.
   Each call is counted and its arguments checked; what is wrong with them is kept for the test to read. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long stride_t;
typedef unsigned long length_t;

static char problem[200];
static struct { const char *name; int count; } calls[32];

const char *standin_problem(void) { return problem; }
void standin_reset(void) { problem[0] = 0; memset(calls, 0, sizeof calls); }

int standin_calls(const char *name) {
    for (int i = 0; i < 32 && calls[i].name; i++)
        if (!strcmp(calls[i].name, name)) return calls[i].count;
    return 0;
}

static void complain(const char *name, const char *what) {
    strncpy(problem, name, 60);
    strncat(problem, ": ", 3);
    strncat(problem, what, 100);
}

static void called(const char *name) {
    int i = 0;
    while (calls[i].name && strcmp(calls[i].name, name)) i++;
    calls[i].name = name;
    calls[i].count++;
}

static int good_pointer(const char *name, const void *p) {
    if (p && (uintptr_t)p % sizeof(float) == 0) return 1;
    complain(name, p ? "misaligned pointer" : "null pointer");
    return 0;
}

static int overlap(const float *a, length_t an, const float *b, length_t bn) { return a < b + bn && b < a + an; }

/* In place, element by element, is allowed: Apple's functions read each element before they write it. */
static int clash(const float *a, const float *c, length_t n) { return a != c && overlap(a, n, c, n); }

static int good_vectors(const char *name, const float *a, stride_t ia, const float *b, stride_t ib, const float *c,
                        stride_t ic, length_t n) {
    called(name);
    if (!good_pointer(name, a) || !good_pointer(name, b) || !good_pointer(name, c)) return 0;
    if (ia != 1 || ib != 1 || ic != 1) { complain(name, "stride is not 1"); return 0; }
    if (n == 0 || n > 1ul << 40) { complain(name, "bad length"); return 0; }
    if (clash(a, c, n) || (b != a && b != c && overlap(b, 1, c, n))) {
        complain(name, "output overlaps an input");
        return 0;
    }
    return 1;
}

#define BINARY(NAME, FIRST, SECOND, EXPRESSION)                                                                        \
    void NAME(const float *FIRST, stride_t i1, const float *SECOND, stride_t i2, float *c, stride_t ic, length_t n) {  \
        if (!good_vectors(#NAME, a, i1, b, i2, c, ic, n)) return;                                                      \
        for (length_t i = 0; i < n; i++) c[i] = EXPRESSION;                                                            \
    }
BINARY(vDSP_vadd, a, b, a[i] + b[i])
BINARY(vDSP_vmul, a, b, a[i] * b[i])
BINARY(vDSP_vsub, b, a, a[i] - b[i]) /* the right operand comes first in these two */
BINARY(vDSP_vdiv, b, a, a[i] / b[i])

#define SCALAR(NAME, EXPRESSION)                                                                                       \
    void NAME(const float *a, stride_t ia, const float *b, float *c, stride_t ic, length_t n) {                        \
        if (!good_vectors(#NAME, a, ia, b, 1, c, ic, n)) return;                                                       \
        for (length_t i = 0; i < n; i++) c[i] = EXPRESSION;                                                            \
    }
SCALAR(vDSP_vsadd, a[i] + *b)
SCALAR(vDSP_vsmul, a[i] * *b)
SCALAR(vDSP_vsdiv, a[i] / *b)

void vDSP_svdiv(const float *a, const float *b, stride_t ib, float *c, stride_t ic, length_t n) {
    if (!good_vectors("vDSP_svdiv", b, ib, a, 1, c, ic, n)) return;
    for (length_t i = 0; i < n; i++) c[i] = *a / b[i];
}

void vDSP_vsmsa(const float *a, stride_t ia, const float *b, const float *c, float *d, stride_t id, length_t n) {
    if (!good_vectors("vDSP_vsmsa", a, ia, b, 1, d, id, n) || !good_pointer("vDSP_vsmsa", c)) return;
    for (length_t i = 0; i < n; i++) d[i] = a[i] * *b + *c;
}

#define FORCE(NAME, EXPRESSION)                                                                                        \
    void NAME(float *y, const float *x, const int *n) {                                                                \
        if (!n) { complain(#NAME, "null count"); return; }                                                             \
        if (!good_vectors(#NAME, x, 1, x, 1, y, 1, (length_t)*n)) return;                                              \
        for (int i = 0; i < *n; i++) y[i] = EXPRESSION;                                                                \
    }
FORCE(vvexpf, expf(x[i]))
FORCE(vvtanhf, tanhf(x[i]))
FORCE(vvlogf, logf(x[i]))
FORCE(vvsqrtf, sqrtf(x[i]))
FORCE(vvrecf, 1.0f / x[i])

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc) {
    const char *name = "cblas_sgemm";
    called(name);
    if (order != 101) { complain(name, "order is not row-major"); return; }
    if ((ta != 111 && ta != 112) || (tb != 111 && tb != 112)) { complain(name, "bad transpose flag"); return; }
    if (m <= 0 || n <= 0 || k <= 0) { complain(name, "empty matrix"); return; }
    if (!good_pointer(name, a) || !good_pointer(name, b) || !good_pointer(name, c)) return;
    if (lda < (ta == 111 ? k : m) || ldb < (tb == 111 ? n : k) || ldc < n) { complain(name, "ld too small"); return; }
    length_t written = (length_t)(m - 1) * ldc + n;
    if (overlap(a, (length_t)m * k, c, written) || overlap(b, (length_t)k * n, c, written)) {
        complain(name, "output overlaps an input");
        return;
    }
    double *row = malloc(n * sizeof *row);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) row[j] = 0;
        for (int p = 0; p < k; p++) {
            double left = ta == 111 ? a[(size_t)i * lda + p] : a[(size_t)p * lda + i];
            const float *right = tb == 111 ? b + (size_t)p * ldb : b + p;
            for (int j = 0; j < n; j++) row[j] += left * right[tb == 111 ? (size_t)j : (size_t)j * ldb];
        }
        float *out = c + (size_t)i * ldc;
        for (int j = 0; j < n; j++) out[j] = (float)(alpha * row[j] + (beta != 0 ? beta * out[j] : 0));
    }
    free(row);
}
