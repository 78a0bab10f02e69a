r"""Sets of characters as patterns name them: general categories, white space, ranges, and their complements.

All sets are over *runs*: stretches of neighbouring code points with one category each, about 4,100 of them, cut further
where a pattern's own ranges begin and end. A set is then a boolean array with one entry a run, and joining, taking away
and comparing sets costs microseconds where a set of 1,114,112 code points costs milliseconds.

Categories are those of Unicode 16, the version that tiktoken and Hugging Face tokenizers split by. The running Python
knows another version (3.10: 13, 3.11: 14, 3.13: 15.1), and then a letter that is newer, such as U+1C8A, was split as
none: ids must not depend on who runs Python. `\s` is the set White_Space: Python's own `\s` also has U+001C to U+001F.

In: set descriptions. Out: boolean arrays over runs. Cost: 1 ms once for the categories.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
    "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
)  # fmt: skip
N_RUNS = 4099
_PACKED = (
    "c-qxhTc{*Q89x7Cm#(hqo|)?Do^y82)|}b1m+WTGW=}S|*;Qk*C<z9|%Y%v{Uho25KpzA_UzRBP5=0SS6a+8$tRQN93gQJ(A%X@UM1n6qDB_a}"
    "iu(OkJ#%Kyp4>E%*fm|#RrU9OzxA<cn1p&5notFYd7}=)cF<DY44Y#(>q6V<Q8Vk>uJJ8}*6Xnk8_fnawDAHTT7FFZ@976W*YruX%VA_gwHp)_"
    "g^k#5V8WnuKjmniDY?!R8}z~-5L*QbRqQ6wR3@Ymb<`ow8aQKT!YpW|jSJdn+_TOo(;4k_CotFqxY5yRqq?A?ncyLf7;qp{)UA%QXtXjjW3{nH"
    "TTE8og_{Gp6`<9S<7gwmVmdHDKJnc|gR?`R00vylLzYf(#-k7#!Puh<6Zty=swdnZ0kYE`2l3Wn1z*N!qXTzc6v0-waD2d(V2Z(a*bRpW_Ixer"
    "MJ+q|os}9o?0Pu`hMT$Wr3VMmin;+bftsP!b!LrDjKMfUAnGn)m=5TSjCxoP6G;dV1ciy%jsg|4r9?6~fE7emC&Q&Z>#XTg=tK&Nj?&Xj8V(-B"
    "1vpk<LQi!)gr}9lqLn*&OqNUcbb|_$q!=HO6yZRSKpn`Gm=+~L4_ypyNy_;s+J^sStM=F;UWX+VT%?fAB^8Jdok8k=$ECol!zGdc+D;>0Qrv6+"
    "Niaz#Vk#X;$uR#9VgI}(lhuFBZjqM6Y2c7sYWsi8v89bR=5?ITsxTVY@(Y_=vndu~5SmmC2VpvkGq0k@TFC@wo`?-$#cl&5=iH61+31!d<$TOY"
    "*<I67=gSQ$eHWYV)*&H~{`xh1$#?#y<AZ_yde|JSo36PTV0F+>E1cb}I#d4(!z8+JOyr<IqHxIu;i$xBpmr!e|Ef^sr=>s$9NDXp8J1gB?DCj~"
    "PU-SM_?6NsJeS5+sw<Taoe*i2u5?hDB=n4=Ah)PI4-^-i0#*h2A*`Qeu{Q+@*;DFP8C{}Ow9*DVcS9Xsw|(#PY$GX|sb5A2qLE&gsm69Driz0K"
    "Ea^%TlN4u^XC$qlQ^q>TZXqh<Jd|b8W8O>oQ>up4_D=W3xF1RD@}5@Ktoa7DNN<SOoFIeks|m*T@pLYJWpuOVPi@r0x=U7$dV*#GJ_H}D28TmM"
    "4h8`!zF#&~6VZMoEVKCJU2%RBLZ}0(lcq&CBM~?24!L(g8R<&#u<W#bwLw|JuheC(KT@MZ2^*k}q+FI>?Gsw0xD25@R2nx?@w)RGq-5cNI_T5~"
    "$)iv8by>TFG){aF`Y2e@hfLq6Ur0EFWGesYgOuJtpQb1_>Bv-lC*j4i^0Em@mY7V6_g%7RU)9jd8K_glN+mo>QI|Kv5(GUK4C}<1GXH%QHhRqy"
    "Ld-88*+EImlA0oI5Bi^sDdt0)izcis$9=VxmL(Xy)^G%!+98wRgI<BA{jh2ffX5|AT$Xs}L)YU8u%Yv7EJT~SG!Zpq@6Ejdh}j$yI`zMaLm`#S"
    "5%nQpX)i+VzH&6>?k!t(6&AJ!NODLRnxyQdL{8pIVGLAdZj>?2R;mV2#w1~yMN9_n6tbx6-3y+N=-;5^I7Vo~8-waQ$|K!#Ii$CbokJX?mM;%9"
    "bas~7!Y*}zULpo}F68MGX;s?eGD$5X<KXa6Hf!Vq^{9!^Vw--1#0QEtu$t9S$%i17lio3XZ8+3^bh)Bc?c#c?>kZgSutBQH#LFD@e?6L|dSY%3"
    ")|c%~tEV6C2>dhoK8nXN7O9I&7kgGb%g^cW1VK4#7pETqev^tVa`c~F{50!l^19;mq*%+WxJSbMPb6YIDg8{DSneqLkFSCg%@xV}X}i(Y&=hzM"
    "A37id5}Gq5ra<LMV)bNXO@4>(+J6QN7=8{6!t{J!XPE4{Y@Z8>ARgSd);zFcNFG2p3ql}4OYekQi7a3>dz=mh!F-$FG@zkBQHnD0%2ZQ{C&ME;"
    "CY~`cTV#n%d5*SdL3by^I&qc4Gkc;D9vw4J1-nYt&{zs1VjBe@X4~r?^mPVJ-xUJP*nrIn*cupNJda&rAw!8Fl*z8hG~z_F0849Rd1<apxZovW"
    "ki$(D_;q%31zM`YvCtHOEreHAyhDLu3CD4EcDzyu780Dk5b1<u0`WaTlepr7Z36RHRm{TtInFr58PWe0!cCdEZqyd!BQAs~Id>KsqG}&o8XyiD"
    "IL!(B7G@wVp??Vq9B3q&k!a0&zvgI;PU#_DU^Adoz#taWeEK{KLeYu0FgzGhAggQ27V%KP8KJ}Hf$}G!wjycq9PSgV)rek%`Q@z2R*k)VgGl>F"
    "m@7zXQ?FFY6^){D0v(hMSGDN1x(quw;z3pcdkYRk6X4_|T`3Ijg75==N4!P6#)`Vw&mqB{p22Ktcaue{SCZsONa%?K5zNm+8sDkuVzPk|1;9qW"
    "EMc#?xPjo>6MKuUoId5?E6RAK{M<sHWX`j4PEk!s=i*yt@4lLLPhY1O;#EHX6r6=&9j^4h+;(o5Hl2f(B_G3O@h>rs*%<^BrOGidmiwIN#3ZG-"
    "j@W*XoY>$dwko?FQLRplYG9~FaJy7~auPQ=RY>aBa=>tXozRX?$`)&55<U1A?MMcporg2Kt@!KfXnyRheZ_Rp-Sg_{cSLb_yARUe4hcKogWK#J"
    "tj9O_<4>ZO`(#=WJ;eJR+uL|S@7>?;t7hgC&dcigcY&NlLCEN3*j|IcL)t7QJFSleAJpG6mmyv+gg#laUgLUqMsKPfr`h;$)#mlbQcJ4MhI&Iz"
    "@^6-6ah~1^!}!ISlEypa=Z;1Tf7|F$e)O*EpZ^-sU!A&Ip0)fi>^%0|K3mZh`KQqhKj7KA&5{qj_upOa77aWVV$-)62bW&f<h85I>MNwckfb;S"
    "fkckItQ}t(vqP?IBu<d)jyv8Qpom8V-9<{3vPS%9DF>xDbk2$qN~v7Za_TXq0HaIdpPXvc7U&OB31G>+2yL6(<veM4hJNiy?l}b6uf4I_)OYF|"
    ";~SU$#QeT9MP-b{Zk+@Zun&asA0!m7^WE^W3f7d=Y{#jT-{Lq@-t>XSlHl6Vrzo{-Pu42;yL5qfRN|La-=gNmg)6{KQZq2z{g_euf-0}*0Jp56"
    "r3>^B)OF{Gw)H}nEi_}!7&9jnNIc$t_Ux-6=qY_lpLLf9$W5cvKlK0Va`hc9r`~N@x}D1V#V&hNM0gX<u*t=aEB8U#m?;!JGj#nLY%=CMq~sYb"
    "1wW#iQCXBlWbm<YbQ~fV<=v{7vYQy!6uK&2`{32P>bnZ?;ZV<@qA6M&nmT?AN$K{~Q;gMBd=rtI4z!szTA%5Pc2larl~JKvFA9g<FQi@zO2)>q"
    "!drF9NdF-D(VdilW!hIIYpqif7PYs72A!Q~l%?+7n`%77_hc_hLif@ku60()?m|ULvxMY}4#Et4vInw|ve`0AF9)>acttr$6WT~KM{2$=U^;hv"
    "&VQXQf^S)FYTn%kY^u})Z|lkVRi;CsZ;x*$%WLF3=?#lVXirH(d)H#&%gS*o{Ir#OoZit&|A6D$a)FX-oBUa!?xZhbbw@3<O#NWtzm3nbp|>TS"
    "&K)Hg?<b1q5IuLO56XNd2V)_eTT$7<EQ1;-c*4>EBAe1Ko8+jqr`OY{b2`-Yh2lLQBs2H{{j7Zl*WYl6(2@V*j`^{E<jTB4JMyFY5nb#^Ouq)<"
    "iS~#5ej%<zXz&W^%;XzNon-*hVzH^;{Yso%Ep&ZdC=Gb{w~Oxa@|^$u{W`JyRdj1nntSaYR-b6zZ)#PdtriphX8vbT_?CLr9lTk7_@2Lzzm4xf"
    "Y+3Y1#azF%dzqq-wpClbu{`!En$2bfHM3dj+F5kzbn3(gvzhpV!=pS%YEXrMudd^KjE<2#Y67-PH}q9~$)Rqs85tTq<~+65{tEa4Cyz7to}dq1"
    "P({HK8jtdv!k$L9drWPU_K(w?#lxQfRq?tJ{SbX;ac*}PYpC(F_9c>9Uv+^--v_{U{~_yhCbG+fq*kBc2Os33LQOeTf`OAzxXhpCJ^e0pDI-ui"
    "?dvbowOH@zvf!cp0{xxLuZ<3>Rv*!CvlZf~(%0Z7XWg9fm2vMcxf*h<yt!74@J&`0pCfvU|D=23=e+pd!v2={p$o%rzIgN}{gug=^zQ~gJ!76&"
    "{NlUkY5w*b^k@3aKh!_}rC9EN1FKI@(*"
)
N_CODE_POINTS = 0x110000
WHITE_SPACE = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
# the script Han of Unicode 15; `unicodedata` knows no scripts
HAN = (
    (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029),
    (0x3038, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FE2, 0x16FE3),
    (0x16FF0, 0x16FF1), (0x20000, 0x2A6DF), (0x2A700, 0x2B739), (0x2B740, 0x2B81D), (0x2B820, 0x2CEA1),
    (0x2CEB0, 0x2EBE0), (0x2F800, 0x2FA1D), (0x30000, 0x3134A), (0x31350, 0x323AF),
)  # fmt: skip

Ranges = tuple[tuple[int, int], ...]


@cache
def category_runs() -> tuple[np.ndarray, np.ndarray]:
    """First code point of each run, ascending from 0, and the number of its category in CATEGORIES."""
    data = np.frombuffer(zlib.decompress(base64.b85decode(_PACKED)), np.uint8)
    kinds, packed = data[:N_RUNS], data[N_RUNS:].astype(np.int64)
    is_last = packed < 0x80
    first_bytes = np.flatnonzero(np.append(True, is_last[:-1]))
    place = np.arange(len(packed)) - np.repeat(first_bytes, np.diff(first_bytes, append=len(packed)))
    lengths = np.add.reduceat((packed & 0x7F) << 7 * place, first_bytes)
    return np.append(0, np.cumsum(lengths)[:-1]), kinds.copy()


class CharacterSet:
    """A set of characters, described: categories and ranges, perhaps with sets inside, perhaps negated.

    Attributes
    ----------
    categories : names such as "L" or "Lu".
    ranges : pairs (first, last) of code points.
    parts : sets that belong to this one.
    is_negated : all other characters.
    """

    __slots__ = ("categories", "is_negated", "parts", "ranges")

    def __init__(
        self,
        categories: Sequence[str] = (),
        ranges: Iterable[tuple[int, int]] = (),
        parts: Sequence[CharacterSet] = (),
        is_negated: bool = False,
    ) -> None:
        self.categories = tuple(categories)
        self.ranges = tuple(ranges)
        self.parts = tuple(parts)
        self.is_negated = is_negated

    def all_ranges(self) -> Ranges:
        """Ranges of this set and of its parts."""
        return self.ranges + tuple(pair for part in self.parts for pair in part.all_ranges())


def one_character(code_point: int) -> CharacterSet:
    """The set of one character."""
    return CharacterSet(ranges=((code_point, code_point),))


class Partition:
    """The classes of characters that some sets tell apart.

    Attributes
    ----------
    n_classes : classes, numbered from 0.
    members : for each set, in order, a bit mask of its classes.
    """

    def __init__(self, sets: Sequence[CharacterSet]) -> None:
        firsts, kinds = category_runs()
        cuts = {bound for entry in sets for low, high in entry.all_ranges() for bound in (low, high + 1)}
        bounds = np.union1d(firsts, np.array(sorted(cuts | {0}), np.int64))
        bounds = bounds[bounds < N_CODE_POINTS]
        kind_of_run = kinds[np.searchsorted(firsts, bounds, side="right") - 1]
        member = np.stack([_evaluate(entry, bounds, kind_of_run) for entry in sets] or [np.zeros(len(bounds), bool)])
        classes: dict[bytes, int] = {}
        columns = np.packbits(member, axis=0).T
        self._class_of_run = np.array([classes.setdefault(column.tobytes(), len(classes)) for column in columns])
        self.n_classes = len(classes)
        run_of_class = np.unique(self._class_of_run, return_index=True)[1]
        self.members = [
            sum(1 << number for number, is_member in enumerate(row[run_of_class]) if is_member)
            for row in member[: len(sets)]
        ]
        self._lengths = np.diff(bounds, append=N_CODE_POINTS)

    def class_of_code_point(self) -> np.ndarray:
        """uint8[N_CODE_POINTS]: class of every code point."""
        return np.repeat(self._class_of_run.astype(np.uint8), self._lengths)


def _evaluate(entry: CharacterSet, bounds: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    member = np.zeros(len(bounds), bool)
    for name in entry.categories:
        member |= np.isin(kinds, [i for i, category in enumerate(CATEGORIES) if category.startswith(name)])
    for low, high in entry.ranges:
        member[np.searchsorted(bounds, low) : np.searchsorted(bounds, high + 1)] = True
    for part in entry.parts:
        member |= _evaluate(part, bounds, kinds)
    return ~member if entry.is_negated else member


def two_level(class_of_code_point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Table of 256 code points a block, equal blocks once: uint16 number of each block, and uint8 blocks.

    Block 0 has the first 256 code points, so the class of an ASCII character is one look-up.
    """
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(row.tobytes(), len(numbers)) for row in class_of_code_point.reshape(-1, 256)]
    return np.array(index, np.uint16), np.frombuffer(b"".join(numbers), np.uint8)
