"""Messages of the library in the words of the function that was called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._errors import FieldError

# What a function calls a matrix of any shape, in place of the field `normal_equations`.
_RECTANGULAR = "normal_equations finds its singular values, or least-squares solutions"
NEARLY_SYMMETRIC = 1e-2  # of the largest entry, as in the library: what printing may leave
_AVERAGE = "symmetrize: average takes (A + A^T)/2"


def in_callers_words(text: str, names: dict[str, str]) -> str:
    """A message or a reason with the caller's names for fields of the library that it mentions."""
    if names:
        text = text.replace(_RECTANGULAR, "svds finds its singular values, lstsq solves with it")
    if names.get("B") == "A":  # as in the mode 'buckling'
        text = text.replace("the mass matrix", "the stiffness matrix")
    for field in ("nev", "normal_equations"):
        if field in names:
            text = re.sub(rf"\b{field}\b", names[field], text)
    if names.get("tolerance") in ("tol", "rtol"):
        text = text.replace("not auto or a number above 0 and", "not a number from 0 and")
    return text


def entries_in(name: str, text: str) -> str:
    """A message with the entries of the matrix `name` as in Python, counted from 0."""

    def entry(found: re.Match[str]) -> str:
        before = "diagonal entry " if found[1] else ""
        return f"{before}{name}[{int(found[2]) - 1}, {int(found[3]) - 1}]"

    return re.sub(r"\b(diagonal )?entry \((\d+), (\d+)\)", entry, text)


def _error(error: FieldError, names: dict[str, str], way_out: Callable[[str], str]) -> str:
    """The sentence of an error. `way_out`: what to do about a field's matrix that is not symmetric."""
    field = error.field
    name = names.get(field, field)
    if names and field == "preconditioner.type":
        name = "preconditioner"
    message = entries_in(name, error.message)
    if re.search("the matrix is not (symmetric|Hermitian)", message):
        message = message.replace(f"; {_AVERAGE}", "") + way_out(field)
    return name + in_callers_words(message, names)


@contextmanager
def callers_names(
    names: dict[str, str], way_out: Callable[[str], str] = lambda field: ""
) -> Iterator[None]:
    """Errors of the library with the caller's names for its fields."""
    try:
        yield
    except FieldError as error:
        raise ValueError(_error(error, names, way_out)) from None


def way_to_symmetry(triangle: str | None, asymmetry: float, is_complex: bool = False) -> str:
    """What to do about a matrix of which one triangle alone has entries, or whose entries differ from
    those of its adjoint by `asymmetry`, relative to the largest one."""
    if asymmetry <= NEARLY_SYMMETRIC:
        adjoint = "A.conj().T" if is_complex else "A.T"
        return (
            f"; they differ by {asymmetry:.1e} of the largest entry at most: symmetrize='average' "
            f"takes (A + {adjoint}) / 2"
        )
    if triangle is not None:
        return (
            f"; all entries lie in the {triangle} triangle: if they stand for both triangles, "
            "symmetrize='triangle' mirrors them"
        )
    return "" if is_complex else "; svds and lstsq take unsymmetric matrices"


def renamed_reason(result: Any, names: dict[str, str]) -> None:
    """The reason of a result with the caller's names."""
    result.reason = in_callers_words(result.reason, names)
