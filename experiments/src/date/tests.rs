//! Days become dates.

use super::*;

#[test]
fn days_become_dates() {
    // Counted by hand: 2000-03-01 is 10957 + 31 + 29 days in; 2026-11-16 follows 2026-01-01 (20454) by 319.
    for (days, date) in
        [(0, "1970-01-01"), (10_957, "2000-01-01"), (11_017, "2000-03-01"), (20_773, "2026-11-16")]
    {
        assert_eq!(civil(days), date);
    }
}
