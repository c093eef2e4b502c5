"""Words around names: titles, what makes a name an organisation's, and words whose capital says nothing."""

from __future__ import annotations

__all__ = ["NOBODY", "OFFICES", "ORGANISED", "PLACES", "TITLES"]

_NOBODY = """
    i monday tuesday wednesday thursday friday saturday sunday mondays fridays january february march april may
    june july august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug
    sep sept oct nov dec english german french spanish italian portuguese dutch korean chinese japanese russian
    arabic american british european asian african indian canadian greek turkish polish swedish latin christmas
    easter god mom dad mum ok okay yes no hi hello hey dear thanks thank please sorry wow oh great good sure
    todo note notes fixme warning important nota achtung wichtig figure table section chapter part step appendix
    version lunes martes miercoles jueves viernes sabado domingo lundi mardi mercredi jeudi vendredi samedi
    dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar marz mai juni juli
    oktober dezember enero febrero marzo mayo junio julio agosto octubre noviembre diciembre janvier fevrier
    mars avril juin juillet aout septembre octobre novembre decembre pm am utc gmt cet est pst kst faq diy asap
    fyi tbd tba api apis http https url urls json html css xml csv pdf sql rest gpu cpu ram ssd usb ui ux id ids
    ai ml it hr pr ceo cto cfo usa us uk eu dna rna tv cd dvd vs etc re bc ad
"""
_ORGANISED = """
    inc corp corporation ltd limited llc llp plc gmbh ag se kg ohg sa sarl sas spa srl bv nv oy ab kk co company
    group holding holdings university universitat universite universidad institute institut college school bank
    ministry department agency association foundation council committee commission union labs laboratories
    technologies systems partners airlines hospital museum press club party court authority federation society
    consortium e.v ev stiftung verlag bundesamt ministerium verein team studios software consulting media pharma
    motors energy
"""
_OFFICES = """
    university bank ministry department institute museum college school house court council church
"""
_TITLES = """
    mr mrs ms mx dr prof professor herr herrn frau senor senora sr sra madame monsieur mme mlle sir lady miss
    dame
"""

_PLACES = """
    street avenue road lane drive boulevard square park bridge station airport district county borough province
    river lake island islands bay beach falls valley hills heights forest harbor harbour port terminal stadium tower
    plaza springs desert canyon cathedral castle palace memorial
"""

NOBODY = frozenset(_NOBODY.split())
"""Days, months, languages, common abbreviations and openers, folded: they have a capital and name nobody."""

ORGANISED = frozenset(_ORGANISED.split())
"""What the name of an organisation ends with, folded."""

OFFICES = frozenset(_OFFICES.split())
"""What the name of an organisation begins with, before `of`."""

TITLES = frozenset(_TITLES.split())
"""What stands before the name of a person, folded."""

PLACES = frozenset(_PLACES.split())
"""What the name of a place ends with, folded: Victoria Station is nobody."""
