"""Privacy: keeps credentials out of the store and people out of exports.

``secrets`` finds credentials in a text; ``screening`` checks everything that is written. ``personal_data`` finds
personal data by its format; ``anonymizer`` replaces it, and people's names, with placeholders.
"""
