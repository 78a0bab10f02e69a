"""Types that JSON can carry, each with ordinary values as Python has them: what people write, and libraries dump."""

# ruff: noqa: E501, SIM905, UP007, UP045, RUF005, RUF036, B905

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import json
import math
import pathlib
import re
import uuid
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import annotated_types
import pydantic
import pydantic.types
from pydantic import Field, TypeAdapter, networks
from typing_extensions import NotRequired, TypedDict

Decimal = decimal.Decimal
T = TypeVar("T")
UTC = dt.timezone.utc
MOMENTS = [dt.datetime(1990 + n, 1 + n % 12, 1 + n, n, 3 * n, 2 * n, n % 3 * 1500) for n in range(20)]
AWARE = [
    moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=n % 9 - 4, minutes=30 * (n % 2))))
    for n, moment in enumerate(MOMENTS)
]
DAYS = [moment.date() for moment in MOMENTS]
TIMES = [moment.time() for moment in MOMENTS]
SPANS = [
    dt.timedelta(days=n % 5, hours=n % 7, minutes=n * 3, milliseconds=n % 3 * 250) * (-1) ** (n % 4) for n in range(20)
]
SPANS[7] = dt.timedelta(days=800, seconds=3)
WORDS = [
    *("a", "word", "and", "another,", "Ångström", "日本", '"quoted"', "back\\slash\nline\ttab", "/", "é", "ü", "😀"),
    *("1", "true", "null", "{}", "[]", ",", ":", "x"),
][:20]
INTS = [0, 1, -1, 7, 42, 100, -273, 1815, 2**31, -(2**31), 2**53, 10**18, 10**25, 3, 5, 9, 12, 99, 1000, -7]
FLOATS = [
    0.0,
    1.0,
    -1.5,
    0.1,
    3.14159,
    1e-5,
    1e22,
    -2.5e-8,
    100.0,
    1e16,
    123456.789,
    1 / 3,
    2.0**70,
    5e-324,
    1e300,
    -0.0,
    7.25,
    1e-4,
    12.0,
    99.9,
]
_DECIMALS = """
0 1 -1 1.50 -0.00 19.99 1E+3 1E-7 1.5E+10 -2.5E-8 100 0.1 3.14159265358979323846 42 -273.15 1000000 0.001 7 12.5
99.95
"""
DECIMALS = [Decimal(text) for text in _DECIMALS.split()]
_PRICES = "0 1 -1 1.50 0.00 19.99 100 0.1 42 -273.15 999.99 0.01 7 12.5 99.95 -999.9 5.5 60 0.5 3"
PRICES = [Decimal(text) for text in _PRICES.split()]
_ADDRESSES = """
a@example.com ada.lovelace@example.org a.b+tag@sub.example.co.uk x_y-z@my-host.io o'neil@example.ie 1@2.de
info@EXAMPLE.com user+mailbox@department.example.com {x}@example.com a=b@example.com first.last@example.museum
q!#$%&'*@example.net test@mail.example.ac.jp ada@analytical-engine.org n0@n0.nl abc.def.ghi@jkl.mno.pqr.st
a-b@c-d.ef root@server1.example.com team@openai.com z@zz.zz
"""
ADDRESSES = _ADDRESSES.split()
URLS = "https://example.com https://example.com/ http://example.com:8080/a/b?c=d&e=f#g https://user:pass@example.com/path https://en.wikipedia.org/wiki/Ada_Lovelace https://api.example.com/v1/items/42?limit=10&offset=20 https://example.com/a%20b https://example.com/search?q=a+b https://127.0.0.1:5000/ http://localhost/ http://localhost:3000/x https://[2001:db8::1]/ https://sub-domain.example.co.uk/~user/ https://example.com/?a[]=1 https://example.com/#top https://example.com/a;b=c,d https://example.com/@name https://my_host/x https://example.com/path/to/file.tar.gz https://xn.example.com/a:b".replace(
    "[]", "%5B%5D"
).split()
NAMES = [f"{a} {b}" for a in ("Ada", "J.", "Mary-Ann", "Tim") for b in ("Smith", "O'Neil", "B. Lee", "de Vries", "2nd")]
UUIDS = [uuid.UUID(int=(n + 1) * 0x1234567890ABCDEF1234567890 % 2**128, version=4) for n in range(20)]
V4 = [f"{n * 12 % 256}.{n}.0.{255 - n}" for n in range(20)]
V6 = [
    "::ffff:192.0.2.128",
    "::",
    "::1",
    "2001:db8::1",
    "fe80::1:2:3:4",
    "1:2:3:4:5:6:7:8",
    "ff02::2",
    "2001:db8:0:1::",
    "::ffff:0:0",
    "a::b",
    "64:ff9b::1",
    *(str(ipaddress.IPv6Address(2**120 + 3**n)) for n in range(0, 80, 8)),
]


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Ratio(enum.Enum):
    HALF = 0.5
    TWO = 2.0


class Person(pydantic.BaseModel):
    name: str
    age: Annotated[int, Field(ge=0, le=150)]
    email: networks.EmailStr | None = None


class Frozen(pydantic.BaseModel, strict=True, extra="forbid"):
    count: int
    share: float
    day: dt.date
    ids: dict[int, uuid.UUID]


class Open(pydantic.BaseModel, extra="allow"):
    x: int


class OpenInts(pydantic.BaseModel, extra="allow"):
    __pydantic_extra__: dict[str, int]
    x: int


class Aliased(pydantic.BaseModel):
    first: Annotated[str, Field(alias="First-Name")]
    second: Annotated[int, Field(validation_alias=pydantic.AliasChoices("two", "zwei"), serialization_alias="two")] = 2


class Paths(pydantic.BaseModel):
    first: Annotated[str, Field(validation_alias=pydantic.AliasPath("names", 0))]
    last: Annotated[str, Field(validation_alias=pydantic.AliasPath("names", 1))]
    city: Annotated[str, Field(validation_alias=pydantic.AliasPath("address", "city"))] = "?"


class ByName(pydantic.BaseModel, populate_by_name=True):
    x: Annotated[int, Field(alias="X")]


class Node(pydantic.BaseModel):
    value: int
    children: list[Node] = []


class Box(pydantic.BaseModel, Generic[T]):
    content: T
    label: str = ""


class Circle(pydantic.BaseModel):
    kind: Literal["circle"] = "circle"
    radius: float


class Square(pydantic.BaseModel):
    kind: Literal["square", "rectangle"] = "square"
    side: float


class Group(pydantic.BaseModel):
    kind: Literal["group"] = "group"
    members: list[Shape]


Shape = Annotated[Circle | Square | Group, Field(discriminator="kind")]
Group.model_rebuild()


class Renamed(pydantic.BaseModel):
    kind: Annotated[Literal["r"], Field(alias="Kind")] = "r"


class Renamed2(pydantic.BaseModel):
    kind: Annotated[Literal["s"], Field(alias="Kind")] = "s"


class Drawing(pydantic.BaseModel):
    shapes: list[Shape]
    alias: Annotated[Renamed | Renamed2, Field(discriminator="kind")] = Renamed()


class Computed(pydantic.BaseModel):
    side: int

    @pydantic.computed_field
    def area(self) -> int:
        return self.side**2


class Stripped(pydantic.BaseModel, str_strip_whitespace=True, str_min_length=2, str_to_lower=True):
    word: str


class Secrets(pydantic.BaseModel):
    password: pydantic.SecretStr
    pin: Annotated[pydantic.SecretStr, Field(min_length=4, max_length=6)]
    key: pydantic.SecretBytes


class Numbers(pydantic.RootModel[list[int]]):
    pass


class People(pydantic.RootModel[dict[str, Person]]):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[Decimal, Field(max_digits=4, decimal_places=1)]
    tags: set[str] = dataclasses.field(default_factory=set)


@pydantic.dataclasses.dataclass
class Checked:
    when: pydantic.NaiveDatetime
    host: ipaddress.IPv4Address


@pydantic.dataclasses.dataclass
class Given:
    x: int
    y: int = Field(default=1, init=False)


@pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(extra="forbid"))
class GivenAlone:
    x: int
    y: int = Field(default=1, init=False)


class Movie(TypedDict):
    title: str
    year: NotRequired[Annotated[int, Field(gt=1880)]]


class Pair(NamedTuple):
    one: int
    two: networks.HttpUrl = networks.HttpUrl("https://example.com")


def dates(**bounds: Any) -> Any:
    return Annotated[dt.date, Field(**bounds)]


PEOPLE = [Person(name=word, age=7 * n, email=ADDRESSES[n] if n % 2 else None) for n, word in enumerate(WORDS)]
SHAPES = [Circle(radius=1.5), Square(kind="rectangle", side=2), Group(members=[Circle(radius=0.1), Group(members=[])])]
DSNS = [
    "postgres://user:pass@localhost:5432/foobar",
    "postgresql://a@b/c",
    "postgresql+asyncpg://u:p@h1:5432,h2:5433/db",
    "postgres://localhost/x?sslmode=require",
    "postgresql://user:p%40ss@db.example.com/app",
]
# name -> the type, and ordinary values
CASES: dict[str, tuple[Any, Sequence[Any]]] = {
    "bool": (bool, [True, False]),
    "none": (type(None), [None]),
    "int": (int, INTS),
    "strict int": (pydantic.StrictInt, INTS),
    "bounded int": (Annotated[int, Field(gt=-5, le=1000, multiple_of=5)], [5 * n for n in range(0, 201, 10)]),
    "float": (float, FLOATS),
    "finite float": (pydantic.FiniteFloat, FLOATS),
    "positive float": (pydantic.PositiveFloat, [abs(value) or 0.5 for value in FLOATS] + [1 / 8, 17.0]),
    "share": (Annotated[float, Field(gt=0, lt=1, multiple_of=0.01)], [n / 100 for n in range(1, 100, 5)]),
    "str": (str, WORDS),
    "constrained str": (Annotated[str, Field(min_length=2, max_length=4, pattern="^[a-zé]+$")], [a + b for a in ("é", "ab", "z", "zé", "éé") for b in ("a", "é", "bc", "éz")]),
    "stripped str": (pydantic.constr(strip_whitespace=True, min_length=2), [f"{word} {n}" for n, word in enumerate(WORDS)]),
    "upper str": (pydantic.constr(to_upper=True, strip_whitespace=True, pattern=r"^\w+$"), [f"A{n}_{chr(65 + n)}" for n in range(20)]),
    "pattern beyond ascii": (pydantic.constr(pattern=r"^\W\S\D$"), [a + b + c for a in "-?" for b in "a!1~Z" for c in "b."]),
    "space of a pattern": (pydantic.constr(pattern=r"^\w+\s\d+$"), [f"a{n} {n}" for n in range(20)]),
    "lines of a pattern": (pydantic.constr(pattern=r"(?m)^a\d+$"), [f"b\na{n}" for n in range(20)]),
    "inexact multiples": (pydantic.confloat(multiple_of=0.3), [n * 3 / 10 for n in range(20)]),
    "pattern with flags": (pydantic.constr(pattern=re.compile("^ab.c$", re.I)), [f"{a}{b}c" for a in ("ab", "AB", "aB", "Ab") for b in "x-1 ."]),
    "configured str": (Stripped, [Stripped(word=f"a{chr(97 + n)} {n}") for n in range(20)]),
    "bytes": (bytes, [word.encode() for word in WORDS]),
    "short bytes": (pydantic.conbytes(min_length=1, max_length=3), [b"a"[: n % 2] + bytes([97 + n, 45]) for n in range(20)]),
    "decimal": (Decimal, DECIMALS),
    "price": (pydantic.condecimal(max_digits=5, decimal_places=2), PRICES),
    "digits": (pydantic.condecimal(max_digits=3), [Decimal(n * 37 % 1999 - 999).scaleb(-(n % 3)) for n in range(20)]),
    "places": (Annotated[Decimal, Field(decimal_places=3, ge=-1, lt=Decimal("100.5"))], [Decimal(n * 5321 - 1000).scaleb(-3) for n in range(19)] + [Decimal(100)]),
    "decimal from to": (Annotated[Decimal, Field(gt=Decimal("12.34"), le=Decimal("1234.5"))], [Decimal("12.35") + Decimal(n**3).scaleb(-(n % 4)) for n in range(11)] + [Decimal("12.341"), *map(Decimal, range(1226, 1235)), Decimal("1234.5"), Decimal("1234.50"), Decimal("1234.4999")]),
    "negative decimal": (Annotated[Decimal, Field(lt=Decimal("-2.5"))], [Decimal("-2.51") - Decimal(n**4).scaleb(-(n % 5)) for n in range(20)]),
    "quarters": (pydantic.condecimal(multiple_of=Decimal("0.25")), [Decimal("0.25") * n for n in range(-9, 10)] + [Decimal("10.00")]),
    "complex": (complex, [1 + 2j, 1j, complex(1.5, -2), 0j, -1e20j, 1e-5 + 0j, *(complex(n / 4, -(n**2) / 8) for n in range(15))]),
    "fraction": (fractions.Fraction, [fractions.Fraction(n - 7, n % 5 + 1) for n in range(20)]),
    "byte size": (pydantic.ByteSize, [pydantic.ByteSize(3**n) for n in range(20)]),
    "date": (dt.date, DAYS + [dt.date(2000, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "past date": (pydantic.PastDate, DAYS),
    "future date": (pydantic.FutureDate, [dt.date(2999, 1 + n % 12, 1 + n) for n in range(20)]),
    "date from to": (dates(gt=dt.date(1995, 6, 7), le=dt.date(2008, 12, 31)), [dt.date(1995, 6, 8) + dt.timedelta(days=261 * n) for n in range(19)] + [dt.date(2008, 12, 31), dt.date(2004, 2, 29)]),
    "date until": (dates(lt=dt.date(2000, 1, 1)), [dt.date(1999, 12, 31) - dt.timedelta(days=n**4 * 4) for n in range(20)]),
    "time": (dt.time, [*TIMES, dt.time(12, tzinfo=UTC)]),
    "time from": (Annotated[dt.time, Field(ge=dt.time(9), lt=dt.time(17, 30))], [dt.time(9 + n % 8, 3 * n, 2 * n, n % 3 * 1500) for n in range(20)] + [dt.time(17, 29, 59, 5)]),
    "datetime": (dt.datetime, MOMENTS + AWARE),
    "naive datetime": (pydantic.NaiveDatetime, MOMENTS),
    "aware datetime": (pydantic.AwareDatetime, AWARE),
    "past datetime": (pydantic.PastDatetime, MOMENTS + AWARE),
    "datetime from": (Annotated[dt.datetime, Field(ge=dt.datetime(2000, 5, 6, 7, 8, 9))], [dt.datetime(2000, 5, 6, 7, 8, 9) + dt.timedelta(days=n**3, microseconds=n * 500) for n in range(20)]),
    "datetime until": (Annotated[dt.datetime, Field(lt=dt.datetime(2000, 5, 6, 7, 8, 9, 500, tzinfo=UTC))], [dt.datetime(2000, 5, 6, 7, 8, 8, 7, tzinfo=UTC) - dt.timedelta(days=n**4, seconds=n) for n in range(20)]),
    "timedelta": (dt.timedelta, SPANS),
    "timedelta from to": (Annotated[dt.timedelta, Field(ge=dt.timedelta(hours=1, seconds=5), lt=dt.timedelta(days=400))], [dt.timedelta(hours=1, seconds=5) + dt.timedelta(days=n**2, seconds=7 * n, microseconds=n % 3) for n in range(20)] + [dt.timedelta(hours=1, seconds=5, microseconds=1), dt.timedelta(hours=2), dt.timedelta(hours=1, minutes=1), dt.timedelta(days=399, hours=23, minutes=59), dt.timedelta(days=365), dt.timedelta(days=1)]),
    "timedelta until": (Annotated[dt.timedelta, Field(le=dt.timedelta(days=1))], [dt.timedelta(days=1) - dt.timedelta(days=n**2, seconds=n, milliseconds=n % 4) for n in range(20)] + [dt.timedelta(0), dt.timedelta(minutes=5)]),
    "timedelta above": (Annotated[dt.timedelta, Field(gt=-dt.timedelta(hours=2))], [dt.timedelta(days=n**2, seconds=1) - dt.timedelta(hours=2) for n in range(20)] + [dt.timedelta(0), -dt.timedelta(seconds=1)]),
    "uuid": (uuid.UUID, UUIDS),
    "uuid4": (pydantic.UUID4, UUIDS),
    "uuid1": (pydantic.UUID1, [uuid.UUID(int=n * 0x1234567890ABCDEF1234567890 % 2**128, version=1) for n in range(20)]),
    "email": (networks.EmailStr, [address.replace("EXAMPLE", "Example") for address in ADDRESSES]),
    "short email": (Annotated[networks.EmailStr, Field(max_length=20)], [f"{name}+{n}@{n}a.io" for n, name in enumerate("ada bob.c d_e x-y O'x".split() * 4)]),
    "name and email": (networks.NameEmail, ["Ada Lovelace <ada@example.com>", "ada@example.com", *(f"{name} <{address}>" for name, address in zip(NAMES, ADDRESSES))]),
    "http url": (networks.HttpUrl, [*URLS, "https://example.de/stra%C3%9Fe", "http://user@example.com:81/?a={b}&c=|d|", "https://a.b/c//d/../e"]),
    "any url": (networks.AnyUrl, [*URLS, "ftp://example.com/a", "redis://localhost:6379/0", "file:///etc/hosts", "wss://a.b/c", "https://example.com/é", "https://example.com/ä?ö#ü", "mailto:a@example.com", "data:text/plain,a", "urn:isbn:1"]),
    "file url": (networks.FileUrl, [f"file:///{path}" for path in "etc/hosts a/b%20c.txt C:/x.txt tmp/a-b_c.tar.gz ~/x.y".split() for path in (path, f"{path}/é", f"var/{path}", f"{path}?x#y")]),
    "postgres": (networks.PostgresDsn, [*DSNS, *(f"{scheme}://user{n}:p-{n}@db-{n}.example.com:{5432 + n}/a_{n}" for n, scheme in enumerate("postgres postgresql postgresql+asyncpg postgresql+pg8000 postgresql+psycopg".split() * 3))]),
    "redis": (networks.RedisDsn, ["redis://localhost", *(f"redis{letter}://{user}{host}:{n + 6379}/{n}" for letter in ("", "s") for user in ("", ":password@") for n, host in enumerate(["localhost", "example.com", "127.0.0.1", "[::1]", "redis.a-b.io"]))]),
    "mongo": (networks.MongoDsn, ["mongodb://mongodb0.example.com:27017", "mongodb://u:p@a:1,b:2/db?replicaSet=x", "mongodb+srv://u:p%40q@cluster0.abc12.mongodb.net/x?retryWrites=true&w=majority", *(f"mongodb://h{n}.example.com/db{n}?x={n}" for n in range(17))]),
    "websocket": (networks.WebsocketUrl, [f"{scheme}://{host}/{path}" for scheme in ("ws", "wss") for host in ("example.com", "example.com:8080") for path in ("", "chat", "a?b=c", "a/b/", "?x=1")]),
    "short url": (Annotated[networks.AnyUrl, networks.UrlConstraints(max_length=30, allowed_schemes=["s3", "gs"])], [f"{scheme}://bucket-{n}/a/{n}.txt" for n in range(10) for scheme in ("s3", "gs")]),
    "ipv4": (ipaddress.IPv4Address, V4),
    "ipv6": (ipaddress.IPv6Address, V6),
    "ipv4 network": (ipaddress.IPv4Network, ["10.0.0.128/25", *(str(ipaddress.ip_network((0xAC1BDEF5, n), strict=False)) for n in range(33))]),
    "ipv6 network": (ipaddress.IPv6Network, [str(ipaddress.ip_network((0x20010DB8000100020003000400050006, n), strict=False)) for n in range(0, 129, 4)]),
    "ipv4 interface": (ipaddress.IPv4Interface, [f"{address}/{n}" for n, address in enumerate(V4)]),
    "ipv6 interface": (ipaddress.IPv6Interface, [f"{address}/{6 * n}" for n, address in enumerate(V6)]),
    "any address": (networks.IPvAnyAddress, V4 + V6),
    "any network": (networks.IPvAnyNetwork, ["10.0.0.0/8", "2001:db8::/32", *(f"{address}/32" for address in V4)]),
    "any interface": (networks.IPvAnyInterface, [f"{address}/{n}" for n, address in enumerate([*V4[:10], *V6[:10]])]),
    "path": (pathlib.Path, [pathlib.Path(path) for path in ["a/b.txt", "/etc", "C:\\x", ".", "..", "~/x", "a b", "é", *(f"/tmp/{word}" for word in WORDS[:12])]]),
    "file": (pydantic.FilePath, []),
    "new path": (pydantic.NewPath, []),
    "import": (pydantic.ImportString, []),
    "regular expression": (re.Pattern, [re.compile(text) for text in ["a+b", "^x$", "[a-z]", ".", "(a|b)*", *(f"a{{{n}}}" for n in range(15))]]),
    "class with code": (Annotated[int, pydantic.AfterValidator(abs)], range(20)),
    "predicate": (Annotated[str, annotated_types.Predicate(str.isascii)], [chr(97 + n) * n for n in range(20)]),
    "base64": (pydantic.Base64Bytes, [bytes(range(250 - n, 250)) for n in range(20)]),
    "base64 str": (pydantic.Base64Str, ["Hello, world! What a day"[:n] for n in range(20)] + ["~~~???>>>"]),
    "base64 for urls": (pydantic.Base64UrlBytes, [bytes(range(255 - n, 255)) for n in range(20)]),
    "base64 str for urls": (pydantic.Base64UrlStr, ["~~~???>>>ab?>Hello, world"[:n] for n in range(20)]),
    "secrets": (Secrets, []),
    "secret date": (pydantic.Secret[dt.date], []),
    "json": (pydantic.Json, []),
    "json of list": (pydantic.Json[list[int]], []),
    "json of model": (pydantic.Json[Person], []),
    "json of map": (pydantic.Json[dict[str, dt.date | None | bool]], []),
    "json of addresses": (pydantic.Json[list[networks.EmailStr]], []),
    "json of urls": (pydantic.Json[set[networks.HttpUrl]], []),
    "json of shapes": (pydantic.Json[list[Shape]], []),
    "json of ages": (pydantic.Json[Annotated[list[pydantic.PositiveInt], Field(min_length=2, max_length=20)]], []),
    "json of words": (pydantic.Json[dict[pydantic.constr(pattern="^[a-z_]+$", max_length=5), pydantic.constr(strip_whitespace=True, min_length=1)]], []),
    "json of enum": (pydantic.Json[frozenset[Color]], []),
    "json with keys of enum": (pydantic.Json[dict[Color, dict[Decimal, int]]], []),
    "json of bytes": (pydantic.Json[pydantic.Base64Bytes], []),
    "json value": (pydantic.JsonValue, [1, "a", None, [1, {"a": [True]}], {"x": 1.5}, *INTS]),
    "any": (Any, [1, "a", None, [1, {"a": [True]}], {"x": 1.5}, *FLOATS[:15]]),
    "object": (object, [1, "a", None, [1], *WORDS]),
    "hashable": (Hashable, [1, "a", None, True, *FLOATS[:16]]),
    "enum": (Color, [*Color]),
    "int enum": (Level, [*Level]),
    "float enum": (Ratio, [*Ratio]),
    "literal": (Literal["a", 1, None, True], ["a", 1, None, True]),
    "literal of enum": (Literal[Level.LOW], [Level.LOW]),
    "list": (list[int], [INTS[:n] for n in range(20)]),
    "short list": (Annotated[list[int], Field(min_length=1, max_length=3)], [INTS[n : n + n % 3 + 1] for n in range(18)] + [[7], [7, 7], [0] * 3]),
    "sequence": (Annotated[Sequence[int], Field(min_length=2)], [INTS[n:] + [n, 1] for n in range(20)]),
    "deque": (collections.deque[int], [collections.deque(INTS[n:]) for n in range(20)]),
    "iterable": (Iterable[int], []),
    "set of float": (Annotated[set[float], Field(min_length=2)], [{n / 4, -n, n + 0.001} for n in range(1, 21)]),
    "set of anything": (Annotated[set[Any], Field(min_length=2)], [{n, word, None} for n, word in enumerate(WORDS)]),
    "set of enum": (Annotated[set[Color], Field(min_length=2)], [{*Color}]),
    "set of literal": (Annotated[frozenset[Literal[1, True, "a"]], Field(min_length=2)], [{1, "a"}]),
    "set": (Annotated[set[int], Field(min_length=2)], [{n, n + 1, -n} for n in range(1, 21)]),
    "frozen set": (frozenset[Color], [frozenset(Color), frozenset()]),
    "tuple": (tuple[int, str, dt.date], [*zip(INTS, WORDS, DAYS)]),
    "long tuple": (tuple[int, ...], [tuple(INTS[:n]) for n in range(20)]),
    "named tuple": (Pair, [Pair(1), *(Pair(n, networks.HttpUrl(url)) for n, url in enumerate(URLS))]),
    "dict": (dict[str, Any], [{}, {"a": 1, "b": [2]}, *({word: n} for n, word in enumerate(WORDS))]),
    "dict of int": (dict[int, str], [{}, {1: "a", -5: "b", 0: ""}, dict(zip(INTS, WORDS)), *({n: word} for n, word in zip(INTS, WORDS))]),
    "dict of bounded int": (dict[Annotated[int, Field(ge=1, lt=100)], str], [{1: "a", 99: "b"}, *({n: "a", n + 1: "b"} for n in range(1, 99, 5))]),
    "dict of float": (dict[float, int], [{1.5: 1, -2.0: 2, 1e22: 3}, *({value: 1} for value in FLOATS)]),
    "dict of bool": (dict[bool, int], [{True: 1}, {False: 0, True: 1}]),
    "dict of date": (dict[dt.date, int], [{}, dict.fromkeys(DAYS, 1), *({day: 1} for day in DAYS)]),
    "dict of decimal": (dict[Decimal, int], [{number: 1} for number in DECIMALS]),
    "dict of uuid": (dict[uuid.UUID, int], [{}, dict.fromkeys(UUIDS, 1), *({one: 1} for one in UUIDS)]),
    "dict of enum": (dict[Color, int], [{Color.RED: 1}, {}]),
    "dict of literal": (dict[Literal["a", "b"], int], [{"a": 1}, {"a": 1, "b": 2}]),
    "dict of words": (dict[Annotated[str, Field(pattern="^[a-z]+$")], int], [{}, *({"a" * n: n, "b": 2} for n in range(2, 22))]),
    "short dict": (Annotated[dict[str, int], Field(min_length=1, max_length=2)], [{word: n, **({"b": n} if n % 2 else {})} for n, word in enumerate(WORDS)]),
    "mapping": (Mapping[str, int], [{word: n} for n, word in enumerate(WORDS)]),
    "default dict": (collections.defaultdict[str, list[int]], [collections.defaultdict(list, {word: INTS[:n]}) for n, word in enumerate(WORDS)]),
    "counter": (collections.Counter[str], [collections.Counter("abcabracadabra"[:n]) for n in range(14)] + [collections.Counter(WORDS[n:]) for n in range(9)]),
    "ordered dict": (collections.OrderedDict[str, int], [collections.OrderedDict(zip(WORDS[:n], INTS)) for n in range(20)]),
    "model": (Person, PEOPLE),
    "strict model": (Frozen, [Frozen(count=n, share=n / 8, day=day, ids={n: one}) for n, (day, one) in enumerate(zip(DAYS, UUIDS))]),
    "open model": (Open, [Open(x=1), Open(x=1, y="a", z=[1]), *(Open(x=n, **{f"y{n}": word}) for n, word in enumerate(WORDS))]),
    "open model of int": (OpenInts, [OpenInts(x=1), *(OpenInts(x=1, **{f"y{n}": n}) for n in INTS)]),
    "aliases": (Aliased, ['{"First-Name":"a"}', *(f'{{"First-Name":"a{n}","two":{n}}}' for n in range(20))]),
    "alias paths": (Paths, ['{"names":["a","b"]}', *(f'{{"names":["a","b{n}"],"address":{{"city":"c{n}"}}}}' for n in range(20))]),
    "by name": (ByName, [ByName(X=n) for n in INTS]),
    "recursive": (Node, [Node(value=1), Node(value=1, children=[Node(value=2, children=[Node(value=3)])]), *(Node(value=n, children=[Node(value=n)] * (n % 4)) for n in range(20))]),
    "generic": (Box[networks.EmailStr], [Box[networks.EmailStr](content=address) for address in ADDRESSES]),
    "discriminated": (Shape, [*SHAPES, *(Circle(radius=value) for value in FLOATS if value < 1e300), *(Group(members=SHAPES[:n]) for n in range(4))]),
    "drawing": (Drawing, [Drawing(shapes=SHAPES), Drawing(shapes=[]), *(Drawing(shapes=SHAPES[:n % 3], alias=Renamed2()) for n in range(3)), *(Drawing(shapes=[Circle(radius=n)]) for n in range(16))]),
    "computed": (Computed, [f'{{"side":{n}}}' for n in range(20)]),
    "root model": (Numbers, [Numbers(INTS[:n]) for n in range(20)]),
    "root of models": (People, [People({one.name: one}) for one in PEOPLE]),
    "dataclass": (Point, [Point(1, Decimal("2.5")), Point(0, Decimal("-99.9"), {"a"}), *(Point(n, Decimal(n * 101 - 900).scaleb(-1), set(WORDS[:n])) for n in range(20))]),
    "dataclass with a field of its own": (Given, [Given(n) for n in range(20)]),
    "strict dataclass with a field of its own": (GivenAlone, ['{"x":1}']),
    "dataclass of pydantic": (Checked, [Checked(moment, ipaddress.IPv4Address(address)) for moment, address in zip(MOMENTS, V4)]),
    "typed dict": (Movie, [{"title": "a"}, *({"title": word, "year": 1999 + n} for n, word in enumerate(WORDS))]),
    "optional": (Optional[dt.date], [None, *DAYS]),
    "union": (Union[int, networks.HttpUrl, dt.date, None], [1, DAYS[0], None, *INTS[:8], *(networks.HttpUrl(url) for url in URLS)]),
    "bounded union": (Annotated[int | float, Field(ge=2)], [2, 2.5, *(n / 4 for n in range(9, 30))]),
}  # fmt: skip
# What only code, the machine or the day can tell.
UNTOLD = ("future date", "file", "new path", "import", "regular expression", "class with code", "predicate")
# Types of fewer than 20 values, or of the files of the machine.
FEW = {"bool": 2, "none": 1, "file": 0, "new path": 0, "enum": 2, "int enum": 2, "float enum": 2, "literal": 4, "literal of enum": 1, "frozen set": 2, "strict dataclass with a field of its own": 1, "set of enum": 1, "set of literal": 1, "json of enum": 3, "dict of bool": 2, "dict of enum": 2, "dict of literal": 2}  # fmt: skip
# Documents that the types read, where they write no document that they read.
READ: dict[str, list[str]] = {
    "secrets": [json.dumps({"password": word, "pin": str(1234 * (n + 1)), "key": word}) for n, word in enumerate(WORDS)],
    "secret date": [f'"{day}"' for day in DAYS],
    "json": [json.dumps(json.dumps(one)) for one in [{"a": [1, 2.5, None], "b": "x"}, [], {"a": {"b": ["c", True]}}, 1, "x", *INTS, *WORDS]],
    "json of list": ["\"[1,-2,3]\"", *(json.dumps(json.dumps(INTS[:n])) for n in range(20))],
    "json of model": [json.dumps(text) for one in PEOPLE for text in (json.dumps(one.model_dump()), one.model_dump_json())],
    "json of addresses": [json.dumps(json.dumps(ADDRESSES[:n])) for n in range(20)],
    "json of urls": ["\"[]\"", *(json.dumps(json.dumps([url])) for url in URLS)],
    "json of shapes": [json.dumps(TypeAdapter(list[Shape]).dump_json([*SHAPES[: n % 3], Circle(radius=n)]).decode()) for n in range(20)],
    "json of ages": [json.dumps(json.dumps([*range(1, n + 1)], separators=(",", ":"))) for n in range(2, 21)] + ["\"[5, 6]\""],
    "json of words": [json.dumps(json.dumps({"a_b": f"x{n} y"})) for n in range(20)],
    "json of enum": [json.dumps(text) for text in ("[]", '["red"]', '["green"]')],
    "json with keys of enum": [json.dumps(json.dumps({"red": {str(one): 1}})) for one in DECIMALS],
    "json of bytes": [json.dumps(json.dumps("YWJj" * n + "YQ==")) for n in range(20)],
    "json of map": ["\"{}\"", *(json.dumps(json.dumps({"a": str(day), word: None, "c": True})) for day, word in zip(DAYS, WORDS))],
    "iterable": [str(INTS[:n]) for n in range(20)],
    "time": ['"12:30"', '"12:30:15.123Z"', '"23:59:59+05:30"'],
    "datetime": ['"2024-02-29T12:00:00Z"', '"2024-02-29 12:00"'],
    "decimal": ["1.5", "12", '"1.5"'],
    "fraction": ['"0.75"', '"3/4"'],
    "complex": ['"1+2j"'],
    "byte size": ['"1.5 GiB"', '"10MB"', "1024"],
    "timedelta": ['"P1Y2M"', '"P3W"', '"PT1H30M"'],
    "import": [f'"math.{name}"' for name in dir(math) if name[0] != "_"],
}  # fmt: skip
