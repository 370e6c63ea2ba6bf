"""Rows of numbers as protobuf messages, all at once.

A message whose fields are doubles and fixed 64-bit integers has the same length in every row and
its numbers at the same places, each behind the tag of its field: a table of bytes can be filled
column by column, which is some hundred times faster than message by message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

FIXED_64 = 1  # protobuf's name for the way in which both kinds of numbers are stored
PACKAGE = "balance"


class FixedMessage:
    """A kind of message: its name and a field for each column, double or integer."""

    def __init__(self, name: str, columns: Mapping[str, Any]) -> None:
        self.name, self._types = f"{PACKAGE}.{name}", dict(columns)
        template, self._places = bytearray(), list[int]()
        for number in range(1, len(columns) + 1):
            template += _varint(number << 3 | FIXED_64)
            self._places.append(len(template))
            template += bytes(8)
        self._template = np.frombuffer(bytes(template), np.uint8)

    def schema(self) -> FileDescriptorSet:
        """The description of the message that readers go by."""
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet

        described = FileDescriptorSet()
        file = described.file.add(name=f"{self.name}.proto", package=PACKAGE, syntax="proto3")
        message = file.message_type.add(name=self.name.removeprefix(f"{PACKAGE}."))
        for number, (name, dtype) in enumerate(self._types.items(), 1):
            whole = np.issubdtype(dtype, np.integer)
            kind = FieldDescriptorProto.TYPE_SFIXED64 if whole else FieldDescriptorProto.TYPE_DOUBLE
            message.field.add(
                name=name, number=number, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL
            )
        return described

    def encode(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.uint8]:
        """Messages (n, bytes) of columns of n numbers each."""
        rows = len(columns[0])
        table = np.repeat(self._template[None], rows, axis=0)
        for place, dtype, column in zip(self._places, self._types.values(), columns, strict=True):
            kind = "<i8" if np.issubdtype(dtype, np.integer) else "<f8"
            numbers = np.ascontiguousarray(column, dtype=kind)
            table[:, place : place + 8] = numbers.view(np.uint8).reshape(rows, 8)
        return table


def _varint(value: int) -> bytes:
    """A whole number in protobuf's way: seven bits to a byte, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
