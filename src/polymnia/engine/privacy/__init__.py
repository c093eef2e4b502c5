"""Privacy: credentials kept out of the store, and people out of what is exported.

``secrets`` finds credentials in a text; ``screening`` looks through everything that is written. ``personal_data`` finds
what is personal by its form; ``anonymizer`` replaces it, and people, by stand-ins.
"""
