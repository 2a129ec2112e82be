"""Writes the Parquet files that tests/parquet.rs reads, with pyarrow, so that another program's files are read.

Run in this folder: python3 make.py   (pyarrow 16 or later)

Every file holds the same 2500 records, in row groups of 1000: `income` (i mod 300)/2 - 10, `age` i mod 130, `city` Oslo,
Rome, Paris in turn, `member` true for every third, and for i mod 7 = 3 all of them missing. 2500 crosses two blocks
and two row groups.
"""

import pyarrow as pa
import pyarrow.parquet as pq

N = 2500


def column(values, kind):
    return pa.array([None if i % 7 == 3 else value for i, value in enumerate(values)], kind)


income = [(i % 300) / 2 - 10 for i in range(N)]
age = [i % 130 for i in range(N)]
city = [["Oslo", "Rome", "Paris"][i % 3] for i in range(N)]
member = [i % 3 == 0 for i in range(N)]


def table(income_kind=pa.float64(), age_kind=pa.int64(), city_kind=pa.string()):
    cities = column(city, pa.string())
    if city_kind != pa.string():
        cities = cities.dictionary_encode()
    return pa.table(
        {
            "note": pa.array(["x"] * N),
            "age": column(age, age_kind),
            "city": cities,
            "income": column(income, income_kind),
            "member": column(member, pa.bool_()),
        }
    )


def write(name, data, **options):
    pq.write_table(data, f"{name}.parquet", row_group_size=1000, write_statistics=False, **options)


write("plain", table(), compression="none", use_dictionary=False)
write("snappy", table(), compression="snappy")
write("gzip", table(pa.float32(), pa.int32()), compression="gzip")
write("zstd", table(age_kind=pa.uint8(), city_kind=pa.dictionary(pa.int32(), pa.string())), compression="zstd")
write("pages_v2", table(age_kind=pa.int16()), compression="snappy", data_page_version="2.0", data_page_size=500)
write(
    "encodings",
    table(),
    compression="none",
    use_dictionary=False,
    column_encoding={"age": "DELTA_BINARY_PACKED", "city": "DELTA_BYTE_ARRAY", "income": "BYTE_STREAM_SPLIT"},
)
text = table()
text = text.set_column(3, "income", column([str(value) for value in income], pa.string()))
text = text.set_column(1, "age", column([float(value) for value in age], pa.float64()))
write("text", text, compression="snappy")
decimal = table().set_column(3, "income", column(income, pa.float64()).cast(pa.decimal128(9, 1)))
write("decimal", decimal, compression="snappy", store_decimal_as_integer=True)
write("brotli", table(), compression="brotli")
when = table().set_column(1, "age", column(age, pa.int64()).cast(pa.timestamp("ms")))
write("dates", when, compression="snappy")
lists = table().set_column(1, "age", pa.array([[i] for i in range(N)]))
write("lists", lists, compression="snappy")
