//! Resolves requests on data sets: what is an analyst's to say, and what is refused by name.

use super::*;
use crate::Spec;

const SET: &str = "path = ['a.csv', 'b.csv']\ndelimiter = ';'\nperson = 'patient'\npersons = 40\nmost_rows = 5\n\
    [columns]\nage = { kind = 'integer', min = 0, max = 120, invalid = 40, typical = [20, 80], scale = 'bounds' }\n\
    city = { kind = 'category', levels = ['Oslo', 'Rome'], invalid = 'Rome' }\n\
    dose = { min = 0, max = 1, invalid = 0.5 }\n";

fn set() -> Dataset {
    Dataset::parse(SET, Path::new("/room"), "clinic").unwrap()
}

fn request(data: &str) -> String {
    format!(
        "[data]\n{data}\n[model]\nformula = 'dose ~ age'\nfamily = 'gaussian'\nsd = 0.3\n[privacy]\nepsilon = 1\ndelta = 1e-6\n"
    )
}

fn refused(data: &str) -> String {
    Spec::parse_request(&request(data), &set()).err().unwrap().to_string()
}

#[test]
fn a_data_set_says_how_it_is_read_and_its_public_part_does_not() {
    let set = set();
    assert_eq!(set.name(), "clinic");
    assert_eq!(set.data().paths(), [Path::new("/room/a.csv"), Path::new("/room/b.csv")]);
    assert_eq!(set.data().csv_options().delimiter, b';');
    assert_eq!(set.data().whose(), "one `patient`'s rows, at most 5");
    let public = set.public();
    assert!(!public.contains("a.csv") && !public.contains("delimiter"), "{public}");
    let again = Dataset::parse(&public, Path::new(""), "other").unwrap();
    assert_eq!((again.name(), &again.facts), ("clinic", &set.facts));
    assert!(again.data().paths().is_empty());
    let refused = |text: &str| Dataset::parse(text, Path::new(""), "x").err().unwrap().to_string();
    assert!(refused(&SET.replace("persons = 40\n", "")).contains("data.persons"));
    assert!(refused(&SET.replace("persons = 40", "persons = '?'")).contains("still"));
    assert!(refused(&format!("memory = '1GB'\n{SET}")).contains("unknown key"));
    assert!(refused(&SET.replace("['a.csv', 'b.csv']", "[1]")).contains("path"));
}

#[test]
fn a_request_chooses_columns_tightens_bounds_and_sets_scales() {
    let spec = Spec::parse_request(
        &request("set = 'clinic'\ncolumns = { dose = {}, age = { min = 50, max = 90, scale = 'none' } }"),
        &set(),
    )
    .unwrap();
    let data = spec.data();
    assert_eq!((data.id(), data.person(), data.records().0), (Some("clinic"), Some("patient"), 40));
    assert_eq!(data.paths().len(), 2);
    let source = data.view().source();
    let age = source.columns().iter().find(|column| column.name() == "age").unwrap();
    assert_eq!((age.bounds(), age.invalid(), age.typical()), (Some((50.0, 90.0)), 50.0, Some((50.0, 80.0))));
    // What a certificate holds plans without a file, and is of this request and of no other.
    let resolved: Table = spec.text().parse().unwrap();
    assert!(Spec::parse_alone(&spec.text()).unwrap().data().paths().is_empty());
    let asked: Table = spec.request_text().unwrap().parse().unwrap();
    assert!(is_of(&resolved, &asked));
    for (from, to) in [("max = 90", "max = 91"), ("1e-6", "1e-5"), ("clinic", "other"), ("dose = {}, ", "")] {
        let other =
            request("set = 'clinic'\ncolumns = { dose = {}, age = { min = 50, max = 90, scale = 'none' } }");
        let other: Table = other.replace(from, to).parse().unwrap();
        assert!(!is_of(&resolved, &other), "{to}");
    }
    // A list chooses, too; without one all columns are there.
    for (columns, count) in [("columns = ['age', 'dose']", 2), ("", 3)] {
        let asked = format!("set = 'clinic'\n{columns}").parse().unwrap();
        let resolved = set().resolve(&asked).unwrap();
        assert_eq!(resolved["columns"].as_table().unwrap().len(), count);
    }
}

#[test]
fn what_is_the_custodians_to_declare_is_refused_by_name() {
    for key in [
        "path = 'a.csv'",
        "delimiter = 'q'",
        "quote = 'q'",
        "person = 'visit'",
        "persons = 1",
        "records = 40",
        "most_rows = 9",
    ] {
        let name = key.split(' ').next().unwrap();
        let said = refused(&format!("set = 'clinic'\n{key}"));
        assert!(
            said.contains(&format!("`data.{name}`")) && said.contains("custodian's to declare"),
            "{said}"
        );
    }
    for (said_of, name) in
        [("kind = 'real'", "kind"), ("invalid = 1", "invalid"), ("typical = [1, 2]", "typical")]
    {
        let said = refused(&format!("set = 'clinic'\ncolumns = {{ age = {{ {said_of} }} }}"));
        assert!(said.contains(&format!("data.columns.age.{name}")) && said.contains("custodian's"), "{said}");
    }
    let said = refused("set = 'clinic'\ncolumns = { city = { levels = ['Rome'] } }");
    assert!(said.contains("data.columns.city.levels"), "{said}");
    for (bounds, word) in [
        ("max = 121", "tightened only"),
        ("min = -1", "tightened only"),
        ("min = 9, max = 3", "less than max"),
    ] {
        let said = refused(&format!("set = 'clinic'\ncolumns = {{ dose = {{}}, age = {{ {bounds} }} }}"));
        assert!(said.contains(word), "{said}");
    }
    assert!(refused("set = 'clinic'\ncolumns = ['agee']").contains("did you mean `age`"));
    assert!(refused("set = 'other'").contains("another data set"));
    assert!(refused("columns = ['age']").contains("names the custodian's data set"));
    let who = request("set = 'clinic'")
        .replace("[privacy]", "[privacy]\nledger = 'b'\naccount = 'a'\nanalyst = 'ann'");
    assert!(Spec::parse_request(&who, &set()).err().unwrap().to_string().contains("privacy.analyst"));
}

#[test]
fn a_secret_number_needs_neighbours_that_keep_it() {
    let secret = SET.replace("persons = 40", "persons = 40\nnumber = 'secret'");
    let set = Dataset::parse(&secret, Path::new(""), "clinic").unwrap();
    let asked = request("set = 'clinic'");
    let said = Spec::parse_request(&asked, &set).err().unwrap().to_string();
    assert!(said.contains("privacy.neighbours") && said.contains("secret"), "{said}");
    let kept = asked.replace("[privacy]", "[privacy]\nneighbours = 'add-remove'");
    assert!(matches!(Spec::parse_request(&kept, &set).unwrap().count(), barkeep_data::Count::About(40)));
}
