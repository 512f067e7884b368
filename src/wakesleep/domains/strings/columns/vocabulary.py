"""Words that belong together: closed lists that people fill columns with, known before a column is seen."""

from collections.abc import Sequence
from functools import cache

from wakesleep.domains.strings.columns import codes
from wakesleep.domains.strings.columns.dates import MONTHS, WEEKDAYS

AS_WRITTEN: dict[str, str] = {
    "size of clothes": "XXS XS S M L XL XXL XXXL 2XL 3XL 4XL",
    "compass point": "N NE E SE S SW W NW",
    "compass direction": "N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW",
    "blood group": "A+ A- B+ B- AB+ AB- O+ O-",
    "blood group without rhesus": "A B AB O",
    "HTTP method": "GET POST PUT DELETE PATCH HEAD OPTIONS TRACE CONNECT",
    "HTTP status": (
        "100 101 200 201 202 204 206 301 302 303 304 307 308 400 401 402 403 404 405 406 408 409 410 411 412 413 414 "
        "415 416 418 422 423 424 425 426 428 429 431 451 500 501 502 503 504 505 507 508 511"
    ),
    "chemical element": (
        "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr "
        "Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir "
        "Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl "
        "Mc Lv Ts Og"
    ),
    "unit of data": "B KB MB GB TB PB kB KiB MiB GiB TiB",
    "unit of a dose": "mg µg mcg g kg ml mL l L IU IE U mmol %",
    "incoterm": "EXW FCA FAS FOB CFR CIF CPT CIP DAP DPU DDP DAT",
    "priority": "P0 P1 P2 P3 P4 P5",
    "blood group in words": "A pos,A neg,B pos,B neg,AB pos,AB neg,O pos,O neg,0 pos,0 neg",
    "weekday of two letters": "Mo Tu We Th Fr Sa Su",
    "German weekday of two letters": "Mo Di Mi Do Fr Sa So",
    "ordinal ending": "st nd rd th",
    "unit of resistance": "mΩ Ω kΩ MΩ GΩ",
    "unit of capacitance": "pF nF µF uF mF F",
    "unit of frequency": "Hz kHz MHz GHz THz",
    "unit of power": "W kW MW GW mW hp PS",
    "unit of energy": "J kJ MJ Wh kWh MWh GWh cal kcal",
    "unit of pressure": "Pa hPa kPa MPa bar mbar psi mmHg",
    "unit of speed": "km/h m/s mph kn kt",
    "unit of time": "ns µs us ms s min h d",
    "unit of temperature": "°C °F K",
    "unit of length": "mm cm dm m km in ft yd mi nm um",
    "unit of weight": "mg g kg t lb lbs oz",
    "unit of volume": "ml mL cl dl l L gal qt pt",
    "title of a person": "Mr Mrs Ms Miss Dr Prof Sir Rev Mr. Mrs. Ms. Dr. Prof. Rev. Don Master Mme Col Major Capt",
    "street ending": "St Ave Rd Blvd Ln Dr Ct Pl Sq Ter Way Pkwy Hwy Cir St. Ave. Rd. Blvd. Ln. Dr. Ct. Pl.",
    "SQL statement": "SELECT INSERT UPDATE DELETE CREATE DROP ALTER MERGE",
    "network protocol": "TCP UDP ICMP HTTP HTTPS FTP SSH SMTP DNS TLS SFTP IMAP POP3 SNMP LDAP NTP DHCP",
    "kind of MIME type": "text image application audio video font model message multipart",
    "file extension": (
        "txt csv tsv pdf doc docx xls xlsx ppt pptx jpg jpeg png gif bmp svg webp tif tiff mp3 mp4 wav avi mov mkv zip "
        "gz tar bz2 rar 7z json xml yaml yml html htm css js ts py java c cpp h rb go rs sh sql log md parquet db exe "
        "dll ini cfg conf bak tmp eps ps tex rtf odt ods flac ogg m4a webm avro orc feather ipynb"
    ),
    "top-level domain": (
        "com org net edu gov mil int info biz io co dev app ai me tv us uk de fr es it nl be ch at se no fi dk pl cz "
        "pt ie gr ru ua cn jp kr in br mx ca au nz za eu hu ro bg hr si sk tr il ar cl sg hk tw th my id vn ph"
    ),
}
"""Words separated by spaces, in the only way they are written."""
IN_ANY_CASE: dict[str, str] = {
    "yes or no": "yes,no",
    "truth value": "true,false",
    "on or off": "on,off",
    "log level": "trace,debug,info,notice,warn,warning,error,critical,fatal,alert,emergency",
    "sex or gender": "male,female,other,unknown,non-binary,nonbinary,diverse,undisclosed",
    "marital status": "single,married,divorced,widowed,separated,engaged,unmarried,domestic partner",
    "degree": "lowest,very low,low,medium,moderate,normal,high,very high,highest,urgent,critical,minor,major",
    "size": "tiny,extra small,small,medium,large,extra large,huge",
    "season": "spring,summer,autumn,fall,winter",
    "continent": "africa,antarctica,asia,europe,north america,south america,oceania,australia",
    "suit of cards": "hearts,diamonds,clubs,spades",
    "planet": "mercury,venus,earth,mars,jupiter,saturn,uranus,neptune",
    "sign of the zodiac": ("aries,taurus,gemini,cancer,leo,virgo,libra,scorpio,sagittarius,capricorn,aquarius,pisces"),
    "direction": "north,northeast,east,southeast,south,southwest,west,northwest,up,down,left,right",
    "colour": (
        "black,white,grey,gray,red,green,blue,yellow,orange,purple,pink,brown,silver,gold,beige,navy,teal,turquoise,"
        "violet,maroon,cyan,magenta,ivory,khaki,olive"
    ),
    "answer": "agree,strongly agree,disagree,strongly disagree,neutral,somewhat agree,somewhat disagree",
    "frequency": "never,rarely,seldom,sometimes,often,usually,always,daily,weekly,monthly,quarterly,yearly,annually",
    "state of work": (
        "new,open,opened,todo,to do,pending,waiting,queued,active,inactive,in progress,started,running,paused,blocked,"
        "on hold,done,completed,complete,closed,resolved,cancelled,canceled,failed,rejected,approved,accepted,archived,"
        "draft,submitted,reviewed,published,expired,processing,confirmed,shipped,delivered,returned,refunded,paid,"
        "unpaid,overdue,backordered,success,succeeded,skipped,aborted,enabled,disabled,suspended,deleted"
    ),
    "state of a ticket": (
        "new,open,reopened,assigned,in progress,in review,waiting,waiting for customer,waiting for support,on hold,"
        "pending,escalated,blocked,resolved,closed,done,cancelled,duplicate,won't fix,backlog,to do,ready,testing"
    ),
    "yes, no or unknown": "yes,no,unknown,maybe,n/a",
    "environment": "dev,development,test,testing,qa,staging,stage,prod,production,sandbox,uat,local,ci",
    "way of paying": "cash,card,credit card,debit card,cheque,check,bank transfer,paypal,invoice,voucher",
    "member role": "admin,administrator,owner,editor,viewer,guest,member,user,moderator,manager,author,contributor",
    "employment": "full-time,part-time,contract,temporary,intern,freelance,permanent,self-employed,unemployed,retired",
    "ordinal": "first,second,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth",
    "number word": "zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve",
    "street": "street,road,avenue,lane,drive,court,place,square,boulevard,way,terrace,close,crescent,highway,parkway",
    "part of the day": "morning,noon,afternoon,evening,night,midnight",
    "state of the United States in full": (
        "alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,georgia,hawaii,idaho,"
        "illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,minnesota,mississippi,missouri,"
        "montana,nebraska,nevada,new hampshire,new jersey,new mexico,new york,north carolina,north dakota,ohio,"
        "oklahoma,oregon,pennsylvania,rhode island,south carolina,south dakota,tennessee,texas,utah,vermont,virginia,"
        "washington,west virginia,wisconsin,wyoming,district of columbia,puerto rico"
    ),
}
"""Words separated by commas; they are also written in capitals, or each with a capital."""


def _titled(word: str) -> str:
    return " ".join(w[:1].upper() + w[1:] for w in word.split(" "))


@cache
def vocabularies() -> dict[str, tuple[str, ...]]:
    """Returns the words of each list, by its name; a name says how the words are written where that varies."""
    found = {name: tuple(words.split("," if "," in words else None)) for name, words in AS_WRITTEN.items()}
    for name, words in IN_ANY_CASE.items():
        small = tuple(words.split(","))
        found[name] = small
        found[f"{name} in capitals"] = tuple(map(str.upper, small))
        found[f"{name} with capitals"] = tuple(map(_titled, small))
        if any(" " in word for word in small):
            found[f"{name} with one capital"] = tuple(map(str.capitalize, small))
    for name, full in (("month", MONTHS), ("weekday", WEEKDAYS)):
        for kind, listed in ((name, full), (f"{name} of three letters", tuple(w[:3] for w in full))):
            found |= {kind: listed, f"{kind} in capitals": tuple(map(str.upper, listed))}
            found |= {f"{kind} in small letters": tuple(map(str.lower, listed))}
    for name, abroad in (("month", codes.MONTHS_ABROAD), ("weekday", codes.WEEKDAYS_ABROAD)):
        for language, words in abroad.items():
            found[f"{language} {name}"] = tuple(words.split())
            found[f"{language} {name} with {'small letters' if language == 'German' else 'a capital'}"] = tuple(
                w.swapcase() if len(w) == 1 else (w.lower() if language == "German" else w.capitalize())
                for w in words.split()
            )
    found |= {
        "country code": codes.COUNTRIES, "country code of three letters": codes.COUNTRIES_3,
        "currency code": codes.CURRENCIES, "language code": codes.LANGUAGES,
        "state of the United States": codes.STATES, "half of the day": ("AM", "PM"),
        "half of the day in small letters": ("am", "pm"),
    }  # fmt: skip
    return found


@cache
def _lists_of() -> dict[str, frozenset[str]]:
    """The names of the lists that each word is in."""
    found: dict[str, set[str]] = {}
    for name, words in vocabularies().items():
        for word in words:
            found.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


MOST_FOUND = 2


def holding(words: Sequence[str]) -> list[str]:
    """Returns the names of the shortest lists that hold all the words."""
    lists, kept = _lists_of(), None
    for word in words:
        names = lists.get(word)
        if names is None:
            return []
        kept = names if kept is None else kept & names
        if not kept:
            return []
    own = vocabularies()
    return sorted(sorted(kept or ()), key=lambda name: len(own[name]))[:MOST_FOUND]
