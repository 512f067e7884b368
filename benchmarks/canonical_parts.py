"""Names and check digits that canonical columns draw from."""

import random

from canonical_columns import DIGITS, UPPER, luhn_digit, some

ALNUM = DIGITS + UPPER


def listed(text: str, separator: str = " ") -> list[str]:
    return text.split(separator)


FIRST_NAMES = listed(
    "James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph "
    "Jessica Thomas Sarah Carlos Ana Wei Priya Omar Fatima Ivan Olga Hiroshi Yuki Pierre Claire Hans Greta Luca Giulia"
)
LAST_NAMES = listed(
    "Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Wilson Anderson Thomas "
    "Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Lewis Walker Hall Young Allen King "
    "Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Rivera Campbell Mitchell Carter Roberts"
)
CITIES = listed(
    "New York|Los Angeles|Chicago|Houston|Phoenix|Philadelphia|San Antonio|San Diego|Dallas|Austin|Jacksonville|"
    "Fort Worth|Columbus|Charlotte|Indianapolis|Seattle|Denver|Boston|Nashville|Detroit|Portland|Las Vegas|Memphis|"
    "Baltimore|Milwaukee|Albuquerque|Tucson|Fresno|Sacramento|Mesa|Atlanta|Omaha|Raleigh|Miami|Oakland|Tulsa|Tampa",
    "|",
)
STATE_CODES = listed("AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY")
ZONES = listed(
    "Europe/Berlin Europe/London Europe/Paris Europe/Madrid Europe/Rome America/New_York America/Chicago "
    "America/Los_Angeles America/Denver America/Sao_Paulo Asia/Tokyo Asia/Shanghai Asia/Kolkata Asia/Singapore "
    "Asia/Dubai Africa/Cairo Africa/Lagos Africa/Johannesburg Australia/Sydney Pacific/Auckland"
)
ELEMENTS = listed(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba Pt Au Hg Tl Pb Bi"
)
SPECIES = listed(
    "Homo sapiens|Canis lupus|Felis catus|Mus musculus|Rattus norvegicus|Danio rerio|Drosophila melanogaster|"
    "Escherichia coli|Quercus robur|Pinus sylvestris|Ursus arctos|Panthera leo|Panthera tigris|Gallus gallus|"
    "Equus caballus|Bos taurus|Sus scrofa|Zea mays|Oryza sativa|Rosa canina|Vulpes vulpes|Lynx lynx|Apis mellifera",
    "|",
)


def expanded(text: str) -> str:
    """Letters as the numbers from 10, as ISIN and IBAN count them."""
    return "".join(str(int(c, 36)) for c in text)


def draw_isin(r: random.Random) -> str:
    body = r.choice(["US", "DE", "GB", "FR", "NL", "JP"]) + some(r, ALNUM, 1) + some(r, DIGITS, 8)
    return body + luhn_digit(expanded(body))


def orcid_digit(digits: str) -> str:
    total = 0
    for c in digits:
        total = (total + int(c)) * 2
    found = (12 - total % 11) % 11
    return "X" if found == 10 else str(found)


def draw_orcid(r: random.Random) -> str:
    body = "0000000" + some(r, DIGITS, 8)
    whole = body + orcid_digit(body)
    return "-".join(whole[i : i + 4] for i in range(0, 16, 4))


def issn_digit(digits: str) -> str:
    found = -sum(int(c) * (8 - i) for i, c in enumerate(digits)) % 11
    return "X" if found == 10 else str(found)


def draw_issn(r: random.Random) -> str:
    body = some(r, DIGITS, 7)
    return f"{body[:4]}-{body[4:]}{issn_digit(body)}"


def roman(number: int) -> str:
    found = ""
    for value, sign in zip((50, 40, 10, 9, 5, 4, 1), ("L", "XL", "X", "IX", "V", "IV", "I"), strict=True):
        while number >= value:
            found, number = found + sign, number - value
    return found
