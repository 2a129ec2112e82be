//! Checks dates against those of another program (`date -u -d @SECONDS`).

use super::utc;

#[test]
fn dates_are_the_calendars() {
    for (seconds, date) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (1_795_000_000, "2026-11-18T11:06:40Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
    ] {
        assert_eq!(utc(seconds), date);
    }
}
