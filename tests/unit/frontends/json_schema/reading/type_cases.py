"""Types that JSON can carry, each with ordinary values as Python has them: what people write, and libraries dump."""

# ruff: noqa: E501, UP007, UP045, RUF005, RUF036, B905

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import annotated_types
import pydantic
import pydantic.types
from pydantic import Field, networks
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
    "a",
    "word",
    "and",
    "another,",
    "Ångström",
    "日本",
    '"quoted"',
    "back\\slash\nline\ttab",
    "/",
    "é",
    "ü",
    "😀",
    "1",
    "true",
    "null",
    "{}",
    "[]",
    ",",
    ":",
    "x",
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
DECIMALS = [
    Decimal(text)
    for text in [
        "0",
        "1",
        "-1",
        "1.50",
        "-0.00",
        "19.99",
        "1E+3",
        "1E-7",
        "1.5E+10",
        "-2.5E-8",
        "100",
        "0.1",
        "3.14159265358979323846",
        "42",
        "-273.15",
        "1000000",
        "0.001",
        "7",
        "12.5",
        "99.95",
    ]
]
PRICES = [
    Decimal(text)
    for text in [
        "0",
        "1",
        "-1",
        "1.50",
        "0.00",
        "19.99",
        "100",
        "0.1",
        "42",
        "-273.15",
        "999.99",
        "0.01",
        "7",
        "12.5",
        "99.95",
        "-999.9",
        "5.5",
        "60",
        "0.5",
        "3",
    ]
]
ADDRESSES = [
    "a@example.com",
    "ada.lovelace@example.org",
    "a.b+tag@sub.example.co.uk",
    "x_y-z@my-host.io",
    "o'neil@example.ie",
    "1@2.de",
    "info@EXAMPLE.com",
    "user+mailbox@department.example.com",
    "{x}@example.com",
    "a=b@example.com",
    "first.last@example.museum",
    "q!#$%&'*@example.net",
    "test@mail.example.ac.jp",
    "ada@analytical-engine.org",
    "n0@n0.nl",
    "abc.def.ghi@jkl.mno.pqr.st",
    "a-b@c-d.ef",
    "root@server1.example.com",
    "team@openai.com",
    "z@zz.zz",
]
URLS = "https://example.com https://example.com/ http://example.com:8080/a/b?c=d&e=f#g https://user:pass@example.com/path https://en.wikipedia.org/wiki/Ada_Lovelace https://api.example.com/v1/items/42?limit=10&offset=20 https://example.com/a%20b https://example.com/search?q=a+b https://127.0.0.1:5000/ http://localhost/ http://localhost:3000/x https://[2001:db8::1]/ https://sub-domain.example.co.uk/~user/ https://example.com/?a[]=1 https://example.com/#top https://example.com/a;b=c,d https://example.com/@name https://my_host/x https://example.com/path/to/file.tar.gz https://xn.example.com/a:b".replace(
    "[]", "%5B%5D"
).split()
UUIDS = [uuid.UUID(int=(n + 1) * 0x1234567890ABCDEF1234567890 % 2**128, version=4) for n in range(20)]
V4 = [f"{n * 12 % 256}.{n}.0.{255 - n}" for n in range(20)]
V6 = [
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
] * 2


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
    "bounded int": (Annotated[int, Field(gt=-5, le=1000, multiple_of=5)], [0, 5, 10, 995, 1000, 45]),
    "float": (float, FLOATS),
    "finite float": (pydantic.FiniteFloat, FLOATS[:14]),
    "positive float": (pydantic.PositiveFloat, [1.0, 0.1, 3.14, 1e-3, 100.0, 1e22, 0.3333333333333333]),
    "share": (Annotated[float, Field(gt=0, lt=1, multiple_of=0.01)], [0.5, 0.25, 0.01, 0.99]),
    "str": (str, WORDS),
    "constrained str": (Annotated[str, Field(min_length=2, max_length=4, pattern="^[a-zé]+$")], ["ab", "éé", "abcd"]),
    "stripped str": (pydantic.constr(strip_whitespace=True, min_length=2), ["ab", "a b", "日本", "x  y"]),
    "upper str": (pydantic.constr(to_upper=True, strip_whitespace=True, pattern=r"^\w+$"), ["AB", "A1"]),
    "pattern beyond ascii": (pydantic.constr(pattern=r"^\W\S\D$"), ["-a.", "??!"]),
    "pattern with flags": (pydantic.constr(pattern=re.compile("^ab.c$", re.I)), ["ABxC", "ab-c"]),
    "configured str": (Stripped, [Stripped(word="ab"), Stripped(word="a b c")]),
    "bytes": (bytes, [b"", b"abc", "é".encode()]),
    "short bytes": (pydantic.conbytes(min_length=1, max_length=3), [b"a", b"abc"]),
    "decimal": (Decimal, DECIMALS),
    "price": (pydantic.condecimal(max_digits=5, decimal_places=2), PRICES),
    "digits": (pydantic.condecimal(max_digits=3), [Decimal(text) for text in ["1", "10", "100", "999", "1.5", "12.5", "0.05", "-7"]]),
    "places": (Annotated[Decimal, Field(decimal_places=3, ge=-1, lt=Decimal("100.5"))], [Decimal(text) for text in ["-1", "-0.5", "0", "1.125", "99.999", "100.499", "100.4", "12"]]),
    "decimal from to": (Annotated[Decimal, Field(gt=Decimal("12.34"), le=Decimal("1234.5"))], [Decimal(text) for text in ["12.35", "12.341", "13", "99.999", "100", "999", "1000.1", "1234.5", "1234.50", "1234.4999"]]),
    "negative decimal": (Annotated[Decimal, Field(lt=Decimal("-2.5"))], [Decimal(text) for text in ["-2.51", "-3", "-10", "-1000.5"]]),
    "quarters": (pydantic.condecimal(multiple_of=Decimal("0.25")), [Decimal(text) for text in ["0.25", "1.5", "-2.75", "3", "0", "10.00"]]),
    "complex": (complex, [1 + 2j, 1j, complex(1.5, -2), 0j, -1e20j, 1e-5 + 0j]),
    "fraction": (fractions.Fraction, [fractions.Fraction(3, 4), fractions.Fraction(-1, 3), fractions.Fraction(5)]),
    "byte size": (pydantic.ByteSize, [pydantic.ByteSize(5), pydantic.ByteSize(2**30)]),
    "date": (dt.date, DAYS + [dt.date(2000, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "past date": (pydantic.PastDate, DAYS),
    "future date": (pydantic.FutureDate, [dt.date(2999, 1, 1)]),
    "date from to": (dates(gt=dt.date(1995, 6, 7), le=dt.date(2008, 12, 31)), [dt.date(1995, 6, 8), dt.date(2008, 12, 31), dt.date(1999, 1, 1), dt.date(2004, 2, 29)]),
    "date until": (dates(lt=dt.date(2000, 1, 1)), [dt.date(1999, 12, 31), dt.date(20, 1, 1)]),
    "time": (dt.time, [*TIMES, dt.time(12, tzinfo=UTC)]),
    "time from": (Annotated[dt.time, Field(ge=dt.time(9), lt=dt.time(17, 30))], [dt.time(9), dt.time(17, 29, 59, 5), dt.time(12, 30)]),
    "datetime": (dt.datetime, MOMENTS + AWARE),
    "naive datetime": (pydantic.NaiveDatetime, MOMENTS),
    "aware datetime": (pydantic.AwareDatetime, AWARE),
    "past datetime": (pydantic.PastDatetime, MOMENTS + AWARE),
    "datetime from": (Annotated[dt.datetime, Field(ge=dt.datetime(2000, 5, 6, 7, 8, 9))], [dt.datetime(2000, 5, 6, 7, 8, 9), dt.datetime(2000, 5, 6, 7, 8, 10, 5), dt.datetime(2024, 1, 1)]),
    "datetime until": (Annotated[dt.datetime, Field(lt=dt.datetime(2000, 5, 6, 7, 8, 9, 500, tzinfo=UTC))], [dt.datetime(2000, 5, 6, 7, 8, 8, 7, tzinfo=UTC), dt.datetime(1999, 1, 1, tzinfo=UTC)]),
    "timedelta": (dt.timedelta, SPANS),
    "timedelta from to": (Annotated[dt.timedelta, Field(ge=dt.timedelta(hours=1, seconds=5), lt=dt.timedelta(days=400))], [dt.timedelta(hours=1, seconds=5), dt.timedelta(hours=1, seconds=5, microseconds=1), dt.timedelta(hours=2), dt.timedelta(hours=1, minutes=1), dt.timedelta(days=399, hours=23, minutes=59), dt.timedelta(days=365), dt.timedelta(days=1)]),
    "timedelta until": (Annotated[dt.timedelta, Field(le=dt.timedelta(days=1))], [dt.timedelta(days=1), dt.timedelta(hours=23, seconds=1), dt.timedelta(0), -dt.timedelta(days=500), dt.timedelta(minutes=5)]),
    "timedelta above": (Annotated[dt.timedelta, Field(gt=-dt.timedelta(hours=2))], [-dt.timedelta(hours=1, minutes=59), dt.timedelta(0), dt.timedelta(days=9), -dt.timedelta(seconds=1)]),
    "uuid": (uuid.UUID, UUIDS),
    "uuid4": (pydantic.UUID4, UUIDS),
    "uuid1": (pydantic.UUID1, [uuid.uuid1()]),
    "email": (networks.EmailStr, [address.replace("EXAMPLE", "Example") for address in ADDRESSES]),
    "short email": (Annotated[networks.EmailStr, Field(max_length=20)], ["a@example.com"]),
    "name and email": (networks.NameEmail, ["Ada Lovelace <ada@example.com>", "ada@example.com"]),
    "http url": (networks.HttpUrl, URLS),
    "any url": (networks.AnyUrl, [*URLS, "ftp://example.com/a", "redis://localhost:6379/0", "file:///etc/hosts", "wss://a.b/c", "https://example.com/é"]),
    "file url": (networks.FileUrl, ["file:///etc/hosts", "file:///a/b%20c.txt"]),
    "postgres": (networks.PostgresDsn, DSNS),
    "redis": (networks.RedisDsn, ["redis://localhost:6379/0", "rediss://:password@example.com:6380/1", "redis://localhost"]),
    "mongo": (networks.MongoDsn, ["mongodb://mongodb0.example.com:27017", "mongodb://u:p@a:1,b:2/db?replicaSet=x"]),
    "websocket": (networks.WebsocketUrl, ["ws://example.com/chat", "wss://example.com:8080/"]),
    "short url": (Annotated[networks.AnyUrl, networks.UrlConstraints(max_length=30, allowed_schemes=["s3", "gs"])], ["s3://bucket/key", "gs://a/b/c.txt"]),
    "ipv4": (ipaddress.IPv4Address, V4),
    "ipv6": (ipaddress.IPv6Address, V6),
    "ipv4 network": (ipaddress.IPv4Network, ["10.0.0.0/8", "192.168.0.0/16", "192.168.1.0/24", "172.16.0.0/12", "0.0.0.0/0", "1.2.3.4/32", "10.0.0.128/25"]),
    "ipv6 network": (ipaddress.IPv6Network, ["2001:db8::/32", "::/0", "fe80::/64", "::1/128", "2001:db8:1:2::/64"]),
    "ipv4 interface": (ipaddress.IPv4Interface, ["192.168.1.5/24", "10.0.0.1/8"]),
    "ipv6 interface": (ipaddress.IPv6Interface, ["2001:db8::1/64", "fe80::1/10"]),
    "any address": (networks.IPvAnyAddress, V4 + V6),
    "any network": (networks.IPvAnyNetwork, ["10.0.0.0/8", "2001:db8::/32"]),
    "any interface": (networks.IPvAnyInterface, ["10.0.0.1/8", "2001:db8::1/32"]),
    "path": (pathlib.Path, [pathlib.Path("a/b.txt"), pathlib.Path("/etc"), pathlib.Path("C:\\x")]),
    "file": (pydantic.FilePath, []),
    "new path": (pydantic.NewPath, []),
    "import": (pydantic.ImportString, []),
    "regular expression": (re.Pattern, [re.compile("a+b")]),
    "class with code": (Annotated[int, pydantic.AfterValidator(abs)], [3, -3]),
    "predicate": (Annotated[str, annotated_types.Predicate(str.isascii)], ["a"]),
    "base64": (pydantic.Base64Bytes, [b"", b"a", b"ab", b"abc", b"\xff\xfe", b"hello world"]),
    "base64 str": (pydantic.Base64Str, ["", "a", "ab", "abc", "Hello, world!"]),
    "base64 for urls": (pydantic.Base64UrlBytes, [b"ab?>", b"\xff\xef", b""]),
    "base64 str for urls": (pydantic.Base64UrlStr, ["ab?>", "Hello", "~~~"]),
    "secrets": (Secrets, []),
    "secret date": (pydantic.Secret[dt.date], []),
    "json": (pydantic.Json, []),
    "json of list": (pydantic.Json[list[int]], []),
    "json of model": (pydantic.Json[Person], []),
    "json of map": (pydantic.Json[dict[str, dt.date | None | bool]], []),
    "json value": (pydantic.JsonValue, [1, "a", None, [1, {"a": [True]}], {"x": 1.5}]),
    "any": (Any, [1, "a", None, [1, {"a": [True]}], {"x": 1.5}]),
    "object": (object, [1, "a", None, [1]]),
    "hashable": (Hashable, [1, "a", None, True]),
    "enum": (Color, [*Color]),
    "int enum": (Level, [*Level]),
    "float enum": (Ratio, [*Ratio]),
    "literal": (Literal["a", 1, None, True], ["a", 1, None, True]),
    "literal of enum": (Literal[Level.LOW], [Level.LOW]),
    "list": (list[int], [INTS, []]),
    "short list": (Annotated[list[int], Field(min_length=1, max_length=3)], [[1], [1, 2, 3]]),
    "sequence": (Annotated[Sequence[int], Field(min_length=2)], [[1, 2]]),
    "deque": (collections.deque[int], [collections.deque([1, 2])]),
    "iterable": (Iterable[int], []),
    "set": (Annotated[set[int], Field(min_length=2)], [{1, 2}, {3, 4, 5}]),
    "frozen set": (frozenset[Color], [frozenset(Color), frozenset()]),
    "tuple": (tuple[int, str, dt.date], [(1, "a", DAYS[0])]),
    "long tuple": (tuple[int, ...], [(), (1, 2, 3)]),
    "named tuple": (Pair, [Pair(1), Pair(2, networks.HttpUrl(URLS[2]))]),
    "dict": (dict[str, Any], [{}, {"a": 1, "b": [2]}]),
    "dict of int": (dict[int, str], [{}, {1: "a", -5: "b", 0: ""}, dict(zip(INTS, WORDS))]),
    "dict of bounded int": (dict[Annotated[int, Field(ge=1, lt=100)], str], [{1: "a", 99: "b"}]),
    "dict of float": (dict[float, int], [{1.5: 1, -2.0: 2, 1e22: 3}]),
    "dict of bool": (dict[bool, int], [{True: 1}, {False: 0, True: 1}]),
    "dict of date": (dict[dt.date, int], [dict.fromkeys(DAYS, 1)]),
    "dict of decimal": (dict[Decimal, int], [dict.fromkeys(DECIMALS[3:8], 1)]),
    "dict of uuid": (dict[uuid.UUID, int], [dict.fromkeys(UUIDS, 1)]),
    "dict of enum": (dict[Color, int], [{Color.RED: 1}, {}]),
    "dict of literal": (dict[Literal["a", "b"], int], [{"a": 1}, {"a": 1, "b": 2}]),
    "dict of words": (dict[Annotated[str, Field(pattern="^[a-z]+$")], int], [{"a": 1, "bc": 2}]),
    "short dict": (Annotated[dict[str, int], Field(min_length=1, max_length=2)], [{"a": 1}, {"a": 1, "b": 2}]),
    "mapping": (Mapping[str, int], [{"a": 1}]),
    "default dict": (collections.defaultdict[str, list[int]], [collections.defaultdict(list, a=[1])]),
    "counter": (collections.Counter[str], [collections.Counter("abca")]),
    "ordered dict": (collections.OrderedDict[str, int], [collections.OrderedDict(a=1)]),
    "model": (Person, PEOPLE),
    "strict model": (Frozen, [Frozen(count=1, share=0.5, day=DAYS[0], ids={1: UUIDS[0]})]),
    "open model": (Open, [Open(x=1), Open(x=1, y="a", z=[1])]),
    "open model of int": (OpenInts, [OpenInts(x=1), OpenInts(x=1, y=2)]),
    "aliases": (Aliased, ['{"First-Name":"a"}', '{"First-Name":"a","two":3}']),
    "alias paths": (Paths, ['{"names":["a","b"]}', '{"names":["a","b"],"address":{"city":"c"}}']),
    "by name": (ByName, [ByName(X=1)]),
    "recursive": (Node, [Node(value=1), Node(value=1, children=[Node(value=2, children=[Node(value=3)])])]),
    "generic": (Box[networks.EmailStr], [Box[networks.EmailStr](content=ADDRESSES[n]) for n in range(6)]),
    "discriminated": (Shape, SHAPES),
    "drawing": (Drawing, [Drawing(shapes=SHAPES), Drawing(shapes=[])]),
    "computed": (Computed, ['{"side":3}']),
    "root model": (Numbers, [Numbers([1, 2])]),
    "root of models": (People, [People({"a": PEOPLE[0]})]),
    "dataclass": (Point, [Point(1, Decimal("2.5")), Point(0, Decimal("-99.9"), {"a"})]),
    "dataclass of pydantic": (Checked, [Checked(MOMENTS[1], ipaddress.IPv4Address("1.2.3.4"))]),
    "typed dict": (Movie, [{"title": "a"}, {"title": "b", "year": 1999}]),
    "optional": (Optional[dt.date], [None, *DAYS]),
    "union": (Union[int, networks.HttpUrl, dt.date, None], [1, networks.HttpUrl(URLS[0]), DAYS[0], None]),
    "bounded union": (Annotated[int | float, Field(ge=2)], [2, 2.5]),
}  # fmt: skip
# What only code, the machine or the day can tell.
UNTOLD = ("future date", "file", "new path", "import", "regular expression", "class with code", "predicate")
# Documents that the types read, where they write no document that they read.
READ: dict[str, list[str]] = {
    "secrets": ['{"password":"hunter2","pin":"1234","key":"abc"}'],
    "secret date": ['"2024-02-29"'],
    "json": [r'"{\"a\": [1, 2.5, null], \"b\": \"x\"}"', r'"[]"', r'"{\"a\":{\"b\":[\"c\",true]}}"', r'"1"', r'"\"x\""'],
    "json of list": ['"[]"', '"[1, 2]"', '"[1,-2,3]"'],
    "json of model": [r'"{\"name\": \"Ada\", \"age\": 36}"', r'"{\"name\":\"A b\",\"age\":0,\"email\":\"a@example.com\"}"', r'"{\"name\":\"A\",\"age\":150,\"email\":null}"'],
    "json of map": [r'"{\"a\": \"2024-02-29\", \"b\": null, \"c\": true}"', '"{}"'],
    "iterable": ["[]", "[1, 2]"],
    "time": ['"12:30"', '"12:30:15.123Z"', '"23:59:59+05:30"'],
    "datetime": ['"2024-02-29T12:00:00Z"', '"2024-02-29 12:00"'],
    "decimal": ["1.5", "12", '"1.5"'],
    "fraction": ['"0.75"', '"3/4"'],
    "complex": ['"1+2j"'],
    "byte size": ['"1.5 GiB"', '"10MB"', "1024"],
    "timedelta": ['"P1Y2M"', '"P3W"', '"PT1H30M"'],
    "import": ['"math.pi"'],
}  # fmt: skip
