"""
What every generated pydantic model stands on.

Law: on JSON text, a model accepts exactly what its schema accepts. Three things that no generator
writes are therefore here: null means absent for an optional field, a tag must stand on the wire, and
`1.0` is an integer. Imports nothing of ours but
constant tables and what a JSON value is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast, get_origin

from eventfold_models.tables import ROLE_BLOCKS
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from .jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fields that tell the members of a union apart.
_TAGS = ("type", "role")


class WireModel(BaseModel):
    """
    A value of the contract. Strict: nothing is coerced. Unknown fields are kept.

    From Python a tag may be left out, since the class says it; on the wire it must be there.
    """

    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=(), use_attribute_docstrings=True)

    _optional: ClassVar[frozenset[str]] = frozenset()
    _tag: ClassVar[str | None] = None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Note which fields are optional and which one is the tag."""
        super().__pydantic_init_subclass__(**kwargs)
        fields = cls.model_fields
        cls._tag = next((name for name in _TAGS if name in fields and get_origin(fields[name].annotation) is Literal), None)
        cls._optional = frozenset(name for name, field in fields.items() if not field.is_required() and name != cls._tag)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any, info: ValidationInfo) -> Any:
        """Leave out optional nulls (DESIGN 3: null and absent mean the same) and insist on the tag."""
        if not isinstance(data, dict):
            return data
        fields = cast("dict[str, Any]", data)
        if info.mode == "json" and cls._tag and cls._tag not in fields:
            error = "missing_tag"
            raise PydanticCustomError(error, "{tag} is required on the wire", {"tag": cls._tag})
        if None in fields.values():
            return {key: value for key, value in fields.items() if value is not None or key not in cls._optional}
        return fields

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is absent."""
        return {key: value for key, value in handler(self).items() if value is not None or key not in self._optional}


class ExactlyOneOfDataUrl(WireModel):
    """The rule of DataCarrier's schema, which is a condition and so no part of a generated class."""

    @model_validator(mode="after")
    def _exactly_one(self) -> ExactlyOneOfDataUrl:
        if (getattr(self, "data", None) is None) == (getattr(self, "url", None) is None):
            error = "data_or_url"
            raise PydanticCustomError(error, "exactly one of data and url must be a string")
        return self


class ReadableMessage(WireModel):
    """Reading helpers of every message, named as AgentScope's users know them; a block that its role forbids is named."""

    @field_validator("content", mode="before", check_fields=False)
    @classmethod
    def _fits_the_role(cls, blocks: Any) -> Any:
        """Say which block is the wrong one, and why: of the union alone, pydantic would say that a tag is not expected."""
        role: str = cls.model_fields["role"].default
        said = "a {kind} block cannot stand in a message of the role {role}, which holds only {kinds}"
        facts = {"role": role, "kinds": ", ".join(ROLE_BLOCKS[role])}
        wrong: list[InitErrorDetails] = []
        for place, block in enumerate(blocks if is_array(blocks) else ()):
            kind = block.get("type") if is_object(block) else getattr(block, "type", None)
            if isinstance(kind, str) and kind not in ROLE_BLOCKS[role]:
                error = PydanticCustomError("role_forbids_block", said, {**facts, "kind": kind})
                wrong.append(InitErrorDetails(type=error, loc=(place,), input=block))
        if wrong:
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return blocks

    def get_content_blocks(self, kind: str | Sequence[str] | None = None) -> list[Any]:
        """Give the blocks of a kind, or of any of several kinds, in order; all blocks without one."""
        blocks: list[Any] = getattr(self, "content", [])
        kinds = (kind,) if isinstance(kind, str) else kind
        return [block for block in blocks if kinds is None or block.type in kinds]

    def has_content_blocks(self, kind: str | Sequence[str] | None = None) -> bool:
        """Tell whether there is a block of the kind, of any of the kinds, or any block at all."""
        return bool(self.get_content_blocks(kind))

    def get_text_content(self, separator: str = "\n") -> str | None:
        """Join the texts of the text blocks; None when there is no text block."""
        texts = [block.text for block in self.get_content_blocks("text")]
        return separator.join(texts) if texts else None


def _integral(value: Any) -> Any:
    """Read `1.0` as 1: JSON Schema has one number type (2020-12 validation, section 6.1.1)."""
    return int(value) if type(value) is float and value.is_integer() else value


#: Field must stand before the validator, else the JSON schema of a model says `ge` instead of `minimum`.
Count = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_integral)]
