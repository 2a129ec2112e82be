use super::*;
use barkeep_data::Count;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn roster(whose: &[u8]) -> Roster {
    let mut roster = Roster::new(Count::About(1));
    assert!(whose.iter().all(|who| roster.push(&[b'a' + *who])));
    roster
}

/// The bands of each reading, in turn: each band's rows by their place in the file, sorted by person as in memory.
fn gathered(bands: &Bands, rows: usize) -> Vec<Vec<Vec<usize>>> {
    let mut readings = Vec::new();
    for mut walk in bands.walks() {
        let (mut found, mut places, mut whose) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows {
            let Next::Own { person, completes } = walk.next() else { continue };
            places.push(row);
            whose.push(person as u32);
            if let Some(band) = completes {
                assert_eq!(walk.lengths(band).sum::<usize>(), places.len());
                let sorted = bands.of(band).places(&whose);
                found.push(sorted.into_iter().map(|place| places[place]).collect());
                (places, whose) = (Vec::new(), Vec::new());
            }
        }
        assert!(places.is_empty() && walk.is_complete());
        readings.push(found);
    }
    readings
}

proptest! {
    /// Whatever the order of rows is: bands one after the other are the table in memory, every row that counts once and every person
    /// in one band.
    #[test]
    fn bands_hold_what_memory_holds(
        whose in prop::collection::vec(0_u8..20, 1..200),
        sorted in any::<bool>(),
        most_rows in prop::option::of(1_u64..6),
        room in 1_usize..40,
        more in 0_usize..100,
    ) {
        let mut whose = whose;
        if sorted {
            whose.sort_unstable();
        }
        let (persons, places) = Persons::sort(&roster(&whose), most_rows);
        let bands = Bands::new(roster(&whose), most_rows, [room, room + more]).unwrap();
        prop_assert_eq!(bands.persons(), persons.len());
        let readings = gathered(&bands, whose.len());
        let all: Vec<Vec<usize>> = readings.concat();
        prop_assert_eq!(all.concat(), places);
        // Stretches of rows as they come would hold a person several times, and clip each part by itself.
        let held = |stretches: &mut dyn Iterator<Item = &[usize]>| -> usize {
            stretches.map(|rows| rows.iter().map(|row| whose[*row]).collect::<BTreeSet<_>>().len()).sum()
        };
        prop_assert_eq!(held(&mut all.iter().map(|band| &band[..])), persons.len());
        let (as_they_come, halves) = ((0..whose.len()).collect::<Vec<_>>(), whose.len().div_ceil(2));
        let split = whose[..halves].iter().any(|who| whose[halves..].contains(who));
        prop_assert_eq!(held(&mut as_they_come.chunks(halves)) > persons.len(), split);
        for band in &all {
            let own = |who| band.iter().filter(|row| whose[**row] == who).count();
            // A band too large is one person.
            prop_assert!(band.len() <= room + more || own(whose[band[0]]) == band.len());
        }
        prop_assert!(!sorted || readings.len() == 1);
        prop_assert_eq!(bands.longest(), all.iter().map(Vec::len).max().unwrap());
    }
}

#[test]
fn a_straggler_costs_one_reading_more() {
    // The first person's last row stands at the end.
    let whose: Vec<u8> = (0..20).flat_map(|who| [who; 5]).chain([0]).collect();
    let count = |rooms| Bands::new(roster(&whose), None, rooms).unwrap().walks().count();
    assert_eq!(count([10, 10]), 2);
    // All of them fit.
    assert_eq!(count([10, 101]), 1);
    // It does not count.
    assert_eq!(Bands::new(roster(&whose), Some(5), [10, 10]).unwrap().walks().count(), 1);
}

/// A file that has become shorter or longer is seen.
#[test]
fn a_walk_is_complete_at_the_last_row_only() {
    let bands = Bands::new(roster(&[0, 0, 1, 1, 0]), Some(2), [2, 2]).unwrap();
    let mut walk = bands.walks().next().unwrap();
    for is_complete in [false, false, false, false, true, false] {
        walk.next();
        assert_eq!(walk.is_complete(), is_complete);
    }
}
