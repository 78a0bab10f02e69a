"""General categories of all characters in Unicode 16, the version that tiktoken and Hugging Face tokenizers split by.

The running Python knows another version (3.10: 13, 3.11: 14, 3.13: 15.1), and then a letter that is newer, such as
U+1C8A, was split as none: ids must not depend on who runs Python.

    zlib, base 85:  one byte a run, its category by CATEGORIES | length of each run, seven bits a byte, low ones first

In: nothing. Out: runs of characters of one category. Cost: 1 ms.
"""

from __future__ import annotations

import base64
import zlib
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
