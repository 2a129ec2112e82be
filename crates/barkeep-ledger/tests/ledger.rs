//! Opens, spends, breaks and heals ledgers, and holds what they accept to a model of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep_accounting::mechanisms::Gaussian;
use barkeep_accounting::{
    Bill, Contract, Cost, Delta, Epsilon, GaussianRun, Neighbours, Ratio, Sampling, Steps, calibration,
};
use barkeep_ledger::{Closing, DataSet, Declared, Error, Event, Ledger, Records, Request, Stamp, Unit, Whom};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const DELTA: f64 = 1e-6;

fn total(epsilon: f64) -> (Epsilon, Delta) {
    (Epsilon::new(epsilon).unwrap(), Delta::new(DELTA).unwrap())
}

fn gaussian(ratio: f64, neighbours: Neighbours) -> Bill {
    let cost = Cost::new(Gaussian { ratio: Ratio::new(ratio).unwrap() }, Sampling::Full, neighbours).unwrap();
    Bill::Contract(Contract::new(vec![(cost, Steps(100))]).unwrap())
}

/// The ratio with which a hundred steps cost ε.
fn ratio(epsilon: f64) -> f64 {
    let (epsilon, delta) = total(epsilon);
    calibration::smallest_ratio(Sampling::Full, Neighbours::Substitute, Steps(100), epsilon, delta)
        .unwrap()
        .get()
}

fn request(run: &str, bill: Bill) -> Request {
    Request {
        account: "people".to_owned(),
        run: run.to_owned(),
        declared: DECLARED,
        neighbours: Neighbours::Substitute,
        analyst: None,
        project: None,
        certificate: "c".to_owned(),
        answers: 0,
        leases: Vec::new(),
        bill,
    }
}

/// How the account's data set is declared.
const DECLARED: Declared = Declared { person: None, most_rows: None, number: Some(2) };

/// A folder with a ledger, records, and an account of this total.
struct Room {
    folder: tempfile::TempDir,
    ledger: Ledger,
}

impl Room {
    fn new(epsilon: f64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("records.csv"), "x\n1\n2\n").unwrap();
        let ledger = Ledger::create(&folder.path().join("books")).unwrap();
        ledger.open_account("people", total(epsilon), Neighbours::Substitute, Unit::Record, None).unwrap();
        let room = Self { folder, ledger };
        room.add("people", "survey", "records.csv", None).unwrap();
        room
    }

    /// Puts a file under an account; the hash of its cells is that of its numbers, wherever its lines end.
    fn add(&self, account: &str, data: &str, name: &str, reason: Option<String>) -> Result<u32, Error> {
        let mut cells = [0; 32];
        let text = std::fs::read(self.at(name)).unwrap_or_default();
        let digits = text.into_iter().filter(u8::is_ascii_digit);
        cells.iter_mut().zip(digits).for_each(|(cell, digit)| *cell = digit);
        let files = [self.at(name)];
        self.ledger.add(account, data, DataSet { declared: &DECLARED, cells, files: &files }, reason)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn reserve(&self, request: &Request) -> Result<(), Error> {
        self.reserve_on(request, "records.csv")
    }

    fn reserve_on(&self, request: &Request, name: &str) -> Result<(), Error> {
        self.ledger.reserve(request, Records::Files(&[self.at(name)]))
    }
}

fn said<T>(result: Result<T, Error>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn ten_runs_of_epsilon_one_fit_into_less_than_four_and_the_eleventh_is_refused() {
    let room = Room::new(3.7);
    let bill = gaussian(ratio(1.0), Neighbours::Substitute);
    for run in 0..10 {
        room.reserve(&request(&format!("run{run}"), bill.clone())).unwrap();
    }
    let quote = room.ledger.quote(&request("next", bill.clone())).unwrap();
    assert!((3.5..3.7).contains(&quote.before) && quote.after > 3.7 && quote.refused.is_some(), "{quote:?}");
    let before = room.ledger.entries().unwrap().len();
    let refused = room.reserve(&request("run10", bill)).unwrap_err();
    assert!(matches!(&refused, Error::Budget(words) if words.contains("Nothing was spent")), "{refused}");
    let entries = room.ledger.entries().unwrap();
    assert_eq!(entries.len(), before + 1);
    assert!(matches!(entries.last().unwrap().event, Event::Refuse(_)));
    let books = room.ledger.books().unwrap();
    let account = books.account("people").unwrap();
    assert_eq!((account.runs().len(), account.refusals()), (10, 1));
    let checked = room.ledger.check(None).unwrap();
    assert_eq!((checked.entries, checked.bills), (13, 11));
    // A ledger that was put back is found by a hash noted elsewhere.
    assert!(room.ledger.check(Some(&checked.head)).is_ok());
    assert!(said(room.ledger.check(Some("00"))).contains("earlier state"));
}

#[test]
fn what_does_not_go_with_the_account_is_refused_and_nothing_is_written() {
    let room = Room::new(2.0);
    let (good, entries) =
        (request("run", gaussian(50.0, Neighbours::Substitute)), room.ledger.entries().unwrap());
    let refused = |request: Request, word: &str| {
        let refused = room.reserve(&request).unwrap_err();
        assert!(matches!(refused, Error::Request(_)), "{refused}");
        assert!(refused.to_string().contains(word), "{word}: {refused}");
        assert_eq!(room.ledger.entries().unwrap(), entries, "{word}");
    };
    let declared = Declared { person: Some("visit".to_owned()), ..DECLARED };
    refused(
        Request { declared, ..good.clone() },
        "protects records; the run's is persons by column \"visit\"",
    );
    let declared = Declared { number: Some(3), ..DECLARED };
    refused(Request { declared, ..good.clone() }, "has, as its number of units, 2; the run's is 3");
    let bill = gaussian(50.0, Neighbours::AddRemove);
    refused(Request { neighbours: Neighbours::AddRemove, bill, ..good.clone() }, "add-remove");
    refused(Request { account: "nobody".to_owned(), ..good.clone() }, "there are: people");
    std::fs::write(room.at("records.csv"), "x\n1\n3\n").unwrap();
    refused(good.clone(), "no version that account \"people\" holds");
    // A new version is as good as the first.
    assert_eq!(room.add("people", "survey", "records.csv", None).unwrap(), 2);
    room.reserve(&good).unwrap();
    // One more line break, and the bytes in another account: the same records.
    room.ledger.open_account("more", total(1.0), Neighbours::Substitute, Unit::Record, None).unwrap();
    assert!(said(room.add("more", "again", "records.csv", None)).contains("in account \"people\" already"));
    std::fs::write(room.at("records.csv"), "x\r\n1\r\n3\r\n\r\n").unwrap();
    assert!(said(room.add("more", "again", "records.csv", None)).contains("in account \"people\" already"));
    assert!(said(room.add("people", "survey", "none.csv", None)).contains("cannot be read"));
}

#[test]
fn a_run_continues_its_own_reservation_and_only_that() {
    let room = Room::new(2.0);
    let run = request("run", gaussian(50.0, Neighbours::Substitute));
    room.reserve(&run).unwrap();
    let spent = || room.ledger.books().unwrap().account("people").unwrap().filter().share_spent();
    let once = spent();
    assert!(said(room.reserve(&run)).contains("has reserved already"));
    let run = Request { leases: vec!["first".to_owned()], ..run };
    room.reserve(&run).unwrap();
    assert_eq!(spent(), once, "a continued run is not charged again");
    let other = Request { certificate: "d".to_owned(), ..run.clone() };
    assert!(said(room.reserve(&other)).contains("another spec"));
    // A file that could not be read is corrected; once there are answers it must stay what it is.
    std::fs::write(room.at("fixed.csv"), "x\n1\n2\n3\n").unwrap();
    room.add("people", "survey", "fixed.csv", None).unwrap();
    room.reserve_on(&run, "fixed.csv").unwrap();
    let asked = Request { answers: 1, ..run.clone() };
    assert!(said(room.reserve_on(&asked, "fixed.csv")).contains("other records"));
    assert_eq!(spent(), once, "a continued run is not charged again");
    let note = |answers, ended| {
        let (run, certificate, lease) = ("run".to_owned(), "e".to_owned(), Some("first".to_owned()));
        Closing { run, answers, ended, certificate, lease }
    };
    room.ledger.close(note(7, false)).unwrap();
    assert!(said(room.reserve(&Request { answers: 6, ..run.clone() })).contains("cut or replaced"));
    room.reserve(&Request { answers: 7, ..run.clone() }).unwrap();
    assert!(said(room.ledger.close(note(6, false))).contains("cut or replaced"));
    // What is spent may be used after its account was closed; nothing else may.
    room.ledger.close_account("people", "nobody asks any more").unwrap();
    room.reserve(&Request { answers: 8, ..run.clone() }).unwrap();
    assert!(said(room.reserve(&Request { run: "late".to_owned(), ..run.clone() })).contains("is closed"));
    room.ledger.close(note(9, true)).unwrap();
    assert!(said(room.reserve(&run)).contains("has ended"));
    assert!(said(room.ledger.close(note(10, true))).contains("ended already"));
    assert_eq!(spent(), once, "no refund");
    let state = room.ledger.books().unwrap().run("run").unwrap().closing.clone().unwrap();
    assert_eq!(state.answers, 9);
    room.ledger.check(None).unwrap();
}

/// Two copies of a folder: whoever continues first holds the lease, and nobody else continues or closes.
#[test]
fn a_run_is_continued_once_from_each_state_of_its_journal() {
    let room = Room::new(2.0);
    let run = request("run", gaussian(50.0, Neighbours::Substitute));
    room.reserve(&run).unwrap();
    let with = |leases: &[&str]| Request {
        leases: leases.iter().map(|lease| (*lease).to_owned()).collect(),
        answers: 5,
        ..run.clone()
    };
    let entries = || room.ledger.entries().unwrap().len();
    room.reserve(&with(&["original"])).unwrap();
    let before = entries();
    assert!(said(room.reserve(&with(&["copy"]))).contains("another copy of its folder"));
    assert_eq!(entries(), before, "nothing is written");
    // The machine died after its journal had the next lease, before the ledger had, or after.
    room.reserve(&with(&["original", "lost", "third"])).unwrap();
    room.reserve(&with(&["original", "lost", "third", "fourth"])).unwrap();
    assert!(said(room.reserve(&with(&["original", "lost", "late copy"]))).contains("another copy"));
    let closing = |lease: &str| Closing {
        run: "run".to_owned(),
        answers: 9,
        ended: true,
        certificate: "e".to_owned(),
        lease: Some(lease.to_owned()),
    };
    assert!(said(room.ledger.close(closing("third"))).contains("another copy"));
    room.ledger.close(closing("fourth")).unwrap();
    // Killed before it reserved, and continued: the lease is the first that the ledger hears of.
    let late = Request { run: "late".to_owned(), ..with(&["begun"]) };
    room.reserve(&late).unwrap();
    assert!(said(room.ledger.close(Closing { run: "late".to_owned(), ..closing("late") })).contains("copy"));
    room.ledger.close(Closing { run: "late".to_owned(), ..closing("begun") }).unwrap();
    room.ledger.check(None).unwrap();
}

/// A frame reserves by the name of its data set; what was read is compared afterwards.
#[test]
fn a_frame_is_recognised_by_its_cells() {
    let room = Room::new(2.0);
    let set = |cells| DataSet { declared: &DECLARED, cells, files: &[] };
    let run = |name: &str| request(name, gaussian(50.0, Neighbours::Substitute));
    room.ledger.reserve(&run("a"), Records::Unread(None)).unwrap();
    room.ledger.add("people", "frame", set([7; 32]), None).unwrap();
    assert!(said(room.ledger.reserve(&run("b"), Records::Unread(None))).contains("no version"));
    assert!(said(room.ledger.reserve(&run("b"), Records::Unread(Some("fram")))).contains("no version"));
    room.ledger.reserve(&run("b"), Records::Unread(Some("frame"))).unwrap();
    room.ledger.recognise("b", &[7; 32]).unwrap();
    assert!(said(room.ledger.recognise("b", &[8; 32])).contains("other records"));
    assert!(said(room.ledger.recognise("c", &[7; 32])).contains("other records"));
}

#[test]
fn keys_are_analysts() {
    let room = Room::new(2.0);
    room.ledger.add_analyst("ann", "k1").unwrap();
    room.ledger.add_analyst("ann", "k2").unwrap();
    assert!(said(room.ledger.add_analyst("bob", "k1")).contains("\"ann\" already"));
    let books = room.ledger.books().unwrap();
    assert_eq!((books.analyst("k2"), books.analyst("k3")), (Some("ann"), None));
    room.ledger.check(None).unwrap();
}

#[test]
fn a_stamp_finds_a_changed_declaration_and_changed_bytes() {
    let room = Room::new(2.0);
    let (set, files) = (room.at("clinic.toml"), [room.at("records.csv")]);
    assert!(said(Stamp::check(&set, "a", &files)).contains("has no stamp"));
    Stamp::write(&set, "a", &files, &[1; 32]).unwrap();
    Stamp::check(&set, "a", &files).unwrap();
    assert!(said(Stamp::check(&set, "b", &files)).contains("the declaration changed"));
    std::fs::write(room.at("records.csv"), "x\n1\n2\n\n").unwrap();
    assert!(said(Stamp::check(&set, "a", &files)).contains("the records changed"));
    Stamp::write(&set, "a", &files, &[1; 32]).unwrap();
    Stamp::check(&set, "a", &files).unwrap();
}

#[test]
fn caps_bound_analysts_under_the_total_and_count_what_was_spent_before() {
    let room = Room::new(10.0);
    let bill = gaussian(ratio(1.0), Neighbours::Substitute);
    let of = |run: &str, analyst: Option<&str>| Request {
        analyst: analyst.map(str::to_owned),
        ..request(run, bill.clone())
    };
    room.reserve(&of("a", Some("ann"))).unwrap();
    assert!(said(room.ledger.cap("people", Whom::Analyst, "ann", total(0.9))).contains("more than that"));
    room.ledger.cap("people", Whom::Analyst, "ann", total(1.6)).unwrap();
    room.reserve(&of("b", Some("ann"))).unwrap();
    let refused = room.reserve(&of("c", Some("ann"))).unwrap_err();
    assert!(matches!(&refused, Error::Budget(words) if words.contains("analyst \"ann\"")), "{refused}");
    assert!(said(room.reserve(&of("d", None))).contains("say which one"));
    assert!(said(room.reserve(&of("e", Some("bob")))).contains("no cap for analyst \"bob\""));
    room.ledger.cap("people", Whom::Analyst, "ann", total(3.0)).unwrap();
    room.reserve(&of("f", Some("ann"))).unwrap();
    room.ledger.check(None).unwrap();
}

#[test]
fn a_closed_account_takes_nothing_and_a_new_one_needs_words() {
    let room = Room::new(1.0);
    let open = |name: &str, reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        room.ledger.open_account(name, total(1.0), Neighbours::Substitute, Unit::Record, reason)
    };
    assert!(said(open("people", None)).contains("never used again"));
    assert!(said(room.ledger.close_account("people", "over")).contains("takes words"));
    room.ledger.close_account("people", "the study has ended").unwrap();
    let refused = room.reserve(&request("run", gaussian(50.0, Neighbours::Substitute))).unwrap_err();
    assert!(refused.to_string().contains("is closed: the study has ended"), "{refused}");
    assert!(said(open("more", None)).contains("a reason in words"));
    open("more", Some("consent was given anew")).unwrap();
    let add = |reason: Option<&str>| room.add("more", "survey", "records.csv", reason.map(str::to_owned));
    assert!(said(add(None)).contains("counting anew"));
    add(Some("consent was given anew")).unwrap();
    for name in ["", " a", "a\nb", "a\"b"] {
        assert!(said(open(name, Some("a good reason"))).contains("needs a name"), "{name:?}");
    }
    room.ledger.check(None).unwrap();
}

/// Every byte of the ledger file and of its seal in turn, and bytes cut off and added.
#[test]
fn any_changed_byte_is_found() {
    let room = Room::new(2.0);
    room.reserve(&request("run", gaussian(50.0, Neighbours::Substitute))).unwrap();
    room.ledger.check(None).unwrap();
    for name in ["books", "books.seal"] {
        let (path, whole) = (room.at(name), std::fs::read(room.at(name)).unwrap());
        // Each byte of the first pages' headers and of the seal; a prime stride elsewhere.
        let places = (0..whole.len()).filter(|place| whole.len() < 1000 || *place < 128 || place % 41 == 0);
        for place in places {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            std::fs::write(&path, &bytes).unwrap();
            assert!(room.ledger.check(None).is_err(), "{name}: byte {place}");
            assert!(Ledger::open(&room.at("books")).is_err());
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(room.ledger.check(None).is_err(), "{name} cut");
        std::fs::write(&path, [&whole[..], b" "].concat()).unwrap();
        assert!(room.ledger.check(None).is_err(), "{name} longer");
        std::fs::write(&path, &whole).unwrap();
    }
    room.ledger.check(None).unwrap();
}

/// Whoever edits the tables by SQLite, hashes computed anew or not, lacks the key.
#[test]
fn entries_removed_moved_inserted_or_edited_are_found() {
    let room = Room::new(2.0);
    for run in ["a", "b", "c"] {
        room.reserve(&request(run, gaussian(80.0, Neighbours::Substitute))).unwrap();
    }
    let saved = std::fs::read(room.at("books")).unwrap();
    let attack = |statement: &str| {
        let file = rusqlite::Connection::open(room.at("books")).unwrap();
        file.execute_batch("DROP TRIGGER entries_stay; DROP TRIGGER entries_remain;").unwrap();
        file.execute_batch(statement).unwrap();
        file.close().unwrap();
        let found = room.ledger.check(None).unwrap_err();
        assert!(matches!(found, Error::Edited { .. }), "{statement}: {found}");
        let refused = room.reserve(&request("d", gaussian(80.0, Neighbours::Substitute)));
        assert!(refused.is_err(), "{statement}");
        std::fs::write(room.at("books"), &saved).unwrap();
        room.ledger.check(None).unwrap();
    };
    attack("DELETE FROM entries WHERE number = 5");
    attack("DELETE FROM entries WHERE number = 4; UPDATE entries SET number = 4 WHERE number = 5");
    attack(
        "UPDATE entries SET number = 99 WHERE number = 4; UPDATE entries SET number = 4 WHERE number = 3;
            UPDATE entries SET number = 3 WHERE number = 99",
    );
    attack("INSERT INTO entries SELECT 6, body, hash FROM entries WHERE number = 5");
    attack("UPDATE entries SET body = replace(body, '80.0', '90.0') WHERE number = 4");
    // Triggers alone keep an honest hand from it.
    let file = rusqlite::Connection::open(room.at("books")).unwrap();
    assert!(file.execute_batch("DELETE FROM entries").is_err());
}

#[test]
fn a_machine_that_died_amid_writing_is_healed_and_an_edit_beside_it_is_not() {
    let room = Room::new(2.0);
    let names = ["books", "books.seal"];
    let state = || names.map(|name| std::fs::read(room.at(name)).unwrap());
    let put = |state: &[Vec<u8>; 2]| {
        names.iter().zip(state).for_each(|(name, bytes)| std::fs::write(room.at(name), bytes).unwrap());
    };
    let before = state();
    // The seal as it stands while an entry is on its way: another ledger's write that cannot append, the file being locked by SQLite.
    let hold = rusqlite::Connection::open(room.at("books")).unwrap();
    hold.busy_timeout(std::time::Duration::ZERO).unwrap();
    hold.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = std::thread::scope(|scope| {
        let waits = scope.spawn(|| room.reserve(&request("run", gaussian(80.0, Neighbours::Substitute))));
        let pending = loop {
            let seal = std::fs::read(room.at("books.seal")).unwrap();
            if !String::from_utf8_lossy(&seal).contains("\"pending\":null") {
                break seal;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        hold.execute_batch("ROLLBACK").unwrap();
        hold.close().unwrap();
        waits.join().unwrap().unwrap();
        pending
    });
    let after = state();
    // Died before the commit: nothing is spent. Died after it: all is.
    for (file, entries) in [(&before[0], 2), (&after[0], 3)] {
        put(&[file.clone(), waiting.clone()]);
        assert_eq!(room.ledger.check(None).unwrap().entries, entries);
        assert!(
            String::from_utf8_lossy(&std::fs::read(room.at("books.seal")).unwrap())
                .contains("\"pending\":null")
        );
        let again = room.reserve(&request("run", gaussian(80.0, Neighbours::Substitute)));
        assert_eq!(again.is_ok(), entries == 2);
        assert_eq!(room.ledger.check(None).unwrap().entries, 3);
    }
    // Another entry than the one on its way, and an earlier seal on a later file.
    put(&before);
    room.reserve(&request("other", gaussian(70.0, Neighbours::Substitute))).unwrap();
    put(&[state()[0].clone(), waiting]);
    assert!(matches!(room.ledger.check(None), Err(Error::Edited { .. })));
    put(&[after[0].clone(), before[1].clone()]);
    assert!(matches!(room.ledger.check(None), Err(Error::Edited { .. })));
}

#[test]
fn what_is_no_ledger_is_called_by_its_name() {
    let room = Room::new(1.0);
    let open = |name: &str| said(Ledger::open(&room.at(name)));
    assert!(open("nowhere").contains("there is no ledger here"));
    assert!(open("records.csv").contains("no ledger of barkeep's"));
    rusqlite::Connection::open(room.at("foreign")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(open("foreign").contains("no ledger of barkeep's"));
    assert!(said(Ledger::create(&room.at("books"))).contains("never replaced"));
    let path = room.at("books");
    let (whole, seal) =
        (std::fs::read(&path).unwrap(), std::fs::read_to_string(room.at("books.seal")).unwrap());
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(open("books").contains("truncated"));
    std::fs::write(&path, b"").unwrap();
    assert!(Ledger::open(&path).is_err());
    std::fs::write(&path, &whole).unwrap();
    std::fs::write(room.at("books.seal"), seal.replace("\"format\":1", "\"format\":2")).unwrap();
    assert!(open("books").contains("newer version"));
    std::fs::remove_file(room.at("books.seal")).unwrap();
    assert!(open("books").contains("seal is missing"));
    let mut newer = whole.clone();
    newer[63] = 2;
    std::fs::write(&path, &newer).unwrap();
    assert!(open("books").contains("layout 2"));
    std::fs::write(&path, &whole).unwrap();
    std::fs::write(room.at("books.seal"), &seal).unwrap();
    std::fs::rename(room.at("books.key"), room.at("kept")).unwrap();
    assert!(open("books").contains("key is missing"));
    std::fs::write(room.at("books.key"), "barkeep-ledger-key 12").unwrap();
    assert!(open("books").contains("no custodian's key"));
    std::fs::rename(room.at("kept"), room.at("books.key")).unwrap();
    let mut shut = std::fs::metadata(&path).unwrap().permissions();
    shut.set_readonly(true);
    std::fs::set_permissions(&path, shut).unwrap();
    let run = request("run", gaussian(80.0, Neighbours::Substitute));
    assert!(said(room.reserve(&run)).contains("read-only; nothing was spent"));
    assert_eq!(room.ledger.books().unwrap().accounts().count(), 1, "reading works");
}

#[cfg(unix)]
#[test]
fn the_key_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new(1.0);
    assert_eq!(std::fs::metadata(room.at("books.key")).unwrap().permissions().mode() & 0o777, 0o600);
    // The identity is keyed: another ledger knows the same file by another name.
    let text = |ledger: &Ledger| match ledger.entries().unwrap().remove(1).event {
        Event::Add(addition) => addition.identity,
        other => unreachable!("{other:?}"),
    };
    assert_ne!(text(&room.ledger), text(&Room::new(1.0).ledger));
}

/// What a ledger accepted, by the exact accountant of Gaussian runs: a model that knows no filter.
fn accepted(ledger: &Ledger) -> f64 {
    let books = ledger.books().unwrap();
    let account = books.account("people").unwrap();
    let mut sum = GaussianRun::nothing();
    for bill in books.bills(account) {
        let Bill::Contract(contract) = bill else { unreachable!("only contracts here") };
        for (cost, steps) in contract.parts() {
            let once = GaussianRun::from_mu(cost.mu().unwrap()).unwrap();
            sum = sum.and(once.repeated(*steps).unwrap()).unwrap();
        }
    }
    sum.delta(account.filter().epsilon()).upper
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    /// Eight hands at once on one account: what is accepted is within the total, and each hand's word is in the books.
    #[test]
    fn eight_at_once_never_overspend(
        epsilon in 0.5..3.0_f64,
        ratios in proptest::collection::vec(proptest::collection::vec(15.0..120.0_f64, 2), 8),
    ) {
        let room = Room::new(epsilon);
        let hands: Vec<Vec<(String, bool)>> = std::thread::scope(|scope| {
            let spawned: Vec<_> = ratios
                .iter()
                .enumerate()
                .map(|(hand, ratios)| {
                    let room = &room;
                    scope.spawn(move || {
                        let ask = |(turn, ratio): (usize, &f64)| {
                            let run = format!("{hand}-{turn}");
                            let bill = gaussian(*ratio, Neighbours::Substitute);
                            match room.reserve(&request(&run, bill)) {
                                Ok(()) => (run, true),
                                Err(Error::Budget(_)) => (run, false),
                                Err(other) => unreachable!("{other}"),
                            }
                        };
                        ratios.iter().enumerate().map(ask).collect()
                    })
                })
                .collect();
            spawned.into_iter().map(|hand| hand.join().unwrap()).collect()
        });
        let books = room.ledger.books().unwrap();
        let account = books.account("people").unwrap();
        for (run, taken) in hands.iter().flatten() {
            prop_assert_eq!(books.run(run).is_some(), *taken);
        }
        prop_assert_eq!(account.runs().len() as u64 + account.refusals(), 16);
        prop_assert!(accepted(&room.ledger) <= DELTA);
        prop_assert!(room.ledger.check(None).is_ok());
    }
}

#[test]
fn a_held_lock_is_waited_for() {
    let room = Room::new(1.0);
    let lock = std::fs::File::open(room.at("books.lock")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| room.ledger.books().map(|books| books.accounts().count()));
        std::thread::sleep(std::time::Duration::from_millis(120));
        assert!(!waits.is_finished());
        lock.unlock().unwrap();
        assert_eq!(waits.join().unwrap().unwrap(), 1);
    });
    let _: &Path = room.ledger.path();
}
