"""The few factorisations that steps of laws and plants need, by LAPACK and BLAS.

Formulas call these by name, compiled or not.  Compiled functions cannot call SciPy's
wrappers, so they call the routines behind them: the same numbers, at a fraction of the overhead.

Triangular systems are BLAS's ``dtrsm``: LAPACK's ``dtrtrs`` wakes OpenBLAS's threads however small
a system is, which on a busy machine takes milliseconds wherever nobody has pinned them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dgeqp3, dgesv, dorgqr, dposv, dpotrf

from balance.dynamics.compiled import COMPILED, compiled, library_function

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

RANK_TOLERANCE = 1e-10  # of a diagonal entry of R, relative to the largest
# The same for contacts at rest.  Hips that turn about one axis while feet and thighs are held do so
# only as long as both axes are in line; off by what is measured, a rule to the letter blocks them.
CLOSED_CHAIN = 1e-3

dot_into: Callable[[Array, Array, Array], Array] = np.dot if COMPILED else np.ndarray.dot
"""A B into an array for it.  The function ``np.dot``, which alone can be compiled, takes as long to
find its method as a small product takes."""


def solve_square(A: Array, B: Array) -> tuple[Array, bool]:
    """X with A X = B, and whether A is regular."""
    if not len(A):
        return B, True
    _, _, X, failed = dgesv(A, B)
    return X, failed == 0


def solve_positive(H: Array, g: Array) -> tuple[Array, Array, bool]:
    """Upper U with H = U^T U, x with H x = g, and whether H is positive definite.

    What stands below the diagonal of U is of no meaning.
    """
    if not len(g):  # which LAPACK would not take
        return H, g, True
    U, x, failed = dposv(H, g)
    return U, x, failed == 0


def divide_right(Z: Array, U: Array) -> Array:
    """Z U^-1 for an upper U."""
    return np.asarray(dtrsm(1.0, U, Z, side=1))


def divide_upper(U: Array, x: Array) -> Array:
    """U^-1 x for a vector ``x`` and the upper U of its size at the beginning of ``U``."""
    return np.asarray(dtrsv(U[: len(x), : len(x)], x)) if len(x) else x


def divide_transposed(U: Array, B: Array) -> Array:
    """U^-T B for an upper U; ``B`` (n, m)."""
    return np.asarray(dtrsm(1.0, U, B, trans_a=1))


def rotate(A: Array, i: int, c: float, s: float) -> None:
    """Turn the rows i and i + 1 of ``A`` by the angle with this cosine and sine."""
    A[i], A[i + 1] = c * A[i] + s * A[i + 1], c * A[i + 1] - s * A[i]


# Of plants, whose compiled steps give the same numbers as others to the last bit: these make the
# same calls on the same memory.  Symmetric matrices are in C order, U is in LAPACK's own.
def cholesky(H: Array) -> tuple[Array, bool]:
    """Upper U with H = U^T U, and whether ``H`` is positive definite.

    What stands below the diagonal of U is of no meaning.
    """
    U, failed = dpotrf(H.T)
    return U, failed == 0


def solve_symmetric(H: Array, g: Array) -> tuple[Array, Array, bool]:
    """The same U, x with H x = g, and whether ``H`` is positive definite."""
    U, x, failed = dposv(H.T, g)
    return U, x, failed == 0


def divide_rows(Z: Array, U: Array) -> Array:
    """Z U^-1 for a ``Z`` in C order."""
    return np.asarray(dtrsm(1.0, U, Z.T, trans_a=1)).T


def divide_left(U: Array, x: Array) -> Array:
    """U^-1 x for a vector ``x``."""
    return np.asarray(dtrsv(U, x))


def contiguous(array: Array) -> Array:
    """``array`` as products of compiled functions need it; NumPy's take what lies apart as well."""
    return array


def gram(Y: Array) -> Array:
    """Y Y^T for a ``Y`` in C order."""
    return Y.dot(Y.T)


def pivoted_qr(matrix: Array, tolerance: float) -> tuple[Array, Array, Integers, int]:
    """Q (m, m), R, the order of the columns and the rank of ``matrix`` (m, n).

    Diagonal entries of R below ``tolerance`` times the first do not count.
    """
    m, n = matrix.shape
    factors, order, reflectors, _, _ = dgeqp3(matrix)
    size = min(m, n)
    full = np.zeros((m, m), order="F")
    full[:, :size] = factors[:, :size]
    Q = dorgqr(full, reflectors)[0]
    diagonal = np.abs(factors.diagonal())
    rank = int((diagonal > tolerance * diagonal[0]).sum())
    return Q, factors, order - 1, rank


if COMPILED:
    # The same by address.  Arrays in C order are the transposes of what LAPACK reads.
    _dgesv, _dposv = library_function("lapack", "dgesv", 8), library_function("lapack", "dposv", 8)
    _dpotrf = library_function("lapack", "dpotrf", 5)
    _dtrsm, _dtrsv = library_function("blas", "dtrsm", 11), library_function("blas", "dtrsv", 8)
    _dgeqp3 = library_function("lapack", "dgeqp3", 9)
    _dorgqr = library_function("lapack", "dorgqr", 9)
    _dsyrk = library_function("blas", "dsyrk", 10)
    _L, _R, _N, _T, _U = (np.uint8(ord(letter)) for letter in "LRNTU")

    @compiled
    def solve_square(A: Array, B: Array) -> tuple[Array, bool]:
        n, m = B.shape
        factors, X = np.ascontiguousarray(A.T).copy(), np.ascontiguousarray(B.T).copy()
        if n == 0:
            return X.T, True
        swaps, sizes = np.empty(n, np.int32), np.array([n, m, 0], np.int32)
        size = sizes.ctypes.data
        _dgesv(
            size, size + 4, factors.ctypes.data, size, swaps.ctypes.data, X.ctypes.data, size,
            size + 8,
        )  # fmt: skip
        return X.T, sizes[2] == 0

    @compiled
    def solve_positive(H: Array, g: Array) -> tuple[Array, Array, bool]:
        U, x, letters = H.copy(), g.copy(), np.array([_L])
        n = len(g)
        if n == 0:
            return U, x, True
        sizes = np.array([n, 1, 0], np.int32)
        size = sizes.ctypes.data
        _dposv(
            letters.ctypes.data, size, size + 4, U.ctypes.data, size, x.ctypes.data, size, size + 8
        )
        return U, x, sizes[2] == 0

    @compiled
    def divide_right(Z: Array, U: Array) -> Array:
        X, m, n = Z.copy(), Z.shape[0], Z.shape[1]
        letters, sizes = np.array([_L, _L, _N, _N]), np.array([n, m], np.int32)
        letter, size, one = letters.ctypes.data, sizes.ctypes.data, np.ones(1)
        if X.size:
            _dtrsm(
                letter, letter + 1, letter + 2, letter + 3, size, size + 4, one.ctypes.data,
                U.ctypes.data, size, X.ctypes.data, size,
            )  # fmt: skip
        return X

    @compiled
    def divide_upper(U: Array, x: Array) -> Array:
        y, letters = x.copy(), np.array([_L, _T, _N])
        sizes = np.array([len(x), 1, U.shape[1]], np.int32)
        letter, size = letters.ctypes.data, sizes.ctypes.data
        if len(x):
            _dtrsv(
                letter, letter + 1, letter + 2, size, U.ctypes.data, size + 8, y.ctypes.data,
                size + 4,
            )  # fmt: skip
        return y

    @compiled
    def divide_transposed(U: Array, B: Array) -> Array:
        X, n, m = B.copy(), B.shape[0], B.shape[1]
        letters, sizes = np.array([_R, _L, _T, _N]), np.array([m, n], np.int32)
        letter, size, one = letters.ctypes.data, sizes.ctypes.data, np.ones(1)
        if X.size:
            _dtrsm(
                letter, letter + 1, letter + 2, letter + 3, size, size + 4, one.ctypes.data,
                U.ctypes.data, size + 4, X.ctypes.data, size,
            )  # fmt: skip
        return X

    @compiled
    def rotate(A: Array, i: int, c: float, s: float) -> None:
        for j in range(A.shape[1]):  # without arrays in between
            upper, lower = A[i, j], A[i + 1, j]
            A[i, j], A[i + 1, j] = c * upper + s * lower, c * lower - s * upper

    @compiled
    def cholesky(H: Array) -> tuple[Array, bool]:
        U, letters, sizes = H.copy(), np.array([_U]), np.array([len(H), 0], np.int32)
        size = sizes.ctypes.data
        _dpotrf(letters.ctypes.data, size, U.ctypes.data, size, size + 4)
        return U.T, sizes[1] == 0

    @compiled
    def solve_symmetric(H: Array, g: Array) -> tuple[Array, Array, bool]:
        U, x, letters = H.copy(), g.copy(), np.array([_U])
        sizes = np.array([len(g), 1, 0], np.int32)
        size = sizes.ctypes.data
        _dposv(
            letters.ctypes.data, size, size + 4, U.ctypes.data, size, x.ctypes.data, size, size + 8
        )
        return U.T, x, sizes[2] == 0

    @compiled
    def divide_rows(Z: Array, U: Array) -> Array:
        X, letters = Z.copy(), np.array([_L, _U, _T, _N])
        sizes, one = np.array([Z.shape[1], Z.shape[0]], np.int32), np.ones(1)
        letter, size = letters.ctypes.data, sizes.ctypes.data
        _dtrsm(
            letter, letter + 1, letter + 2, letter + 3, size, size + 4, one.ctypes.data,
            U.ctypes.data, size, X.ctypes.data, size,
        )  # fmt: skip
        return X

    @compiled
    def divide_left(U: Array, x: Array) -> Array:
        y, letters, sizes = x.copy(), np.array([_U, _N]), np.array([len(x), 1], np.int32)
        letter, size = letters.ctypes.data, sizes.ctypes.data
        _dtrsv(letter, letter + 1, letter + 1, size, U.ctypes.data, size, y.ctypes.data, size + 4)
        return y

    @compiled
    def contiguous(array: Array) -> Array:
        return np.ascontiguousarray(array)

    @compiled
    def gram(Y: Array) -> Array:
        n, k = Y.shape
        products, letters, numbers = np.empty((n, n)), np.array([_L, _T]), np.array([1.0, 0.0])
        sizes = np.array([n, k], np.int32)
        letter, size, number = letters.ctypes.data, sizes.ctypes.data, numbers.ctypes.data
        _dsyrk(
            letter, letter + 1, size, size + 4, number, Y.ctypes.data, size + 4, number + 8,
            products.ctypes.data, size,
        )  # fmt: skip
        for i in range(n):
            for j in range(i):
                products[i, j] = products[j, i]
        return products

    @compiled
    def pivoted_qr(matrix: Array, tolerance: float) -> tuple[Array, Array, Integers, int]:
        m, n = matrix.shape
        size = min(m, n)
        factors = np.ascontiguousarray(matrix.T).copy()
        order, reflectors = np.zeros(n, np.int32), np.empty(size)
        work = np.empty(32 * (m + n) + 3 * n + 1)
        sizes = np.array([m, n, len(work), 0, size], np.int32)
        at = sizes.ctypes.data
        _dgeqp3(
            at, at + 4, factors.ctypes.data, at, order.ctypes.data, reflectors.ctypes.data,
            work.ctypes.data, at + 8, at + 12,
        )  # fmt: skip
        full = np.zeros((m, m))
        full[:size] = factors[:size]
        _dorgqr(
            at, at, at + 16, full.ctypes.data, at, reflectors.ctypes.data, work.ctypes.data,
            at + 8, at + 12,
        )  # fmt: skip
        rank = 0
        for i in range(size):
            if abs(factors[i, i]) > tolerance * abs(factors[0, 0]):
                rank += 1
        return full.T, factors.T, (order - 1).astype(np.intp), rank
