"""Step 3: statistics. Arrays in, small frozen results out; no files, no records, no globals.

Three universes are kept apart. U1: this suite under these very schedules. U2: this suite under
further schedules of the same kind, which is what every interval here covers unless it says
otherwise; it takes hand-written schedules as exchangeable. U3: further tasks of the same kind,
covered by `beyond` alone. One run per schedule cannot separate U1 from U2.
"""
