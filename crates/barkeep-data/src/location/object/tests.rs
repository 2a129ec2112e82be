//! Reads an object by ranges from a server on this machine that speaks as much of S3 as is needed.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Answers HEAD and GET of ranges of one object, and counts what it sends.
struct Server {
    address: String,
    sent: Arc<Mutex<Vec<(u64, u64)>>>,
}

fn answer(stream: TcpStream, bytes: &[u8], tag: &str, sent: &Mutex<Vec<(u64, u64)>>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut out = stream;
    loop {
        let mut request = String::new();
        if lines.read_line(&mut request).ok()? == 0 {
            return None;
        }
        let mut range = None;
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok()?;
            if let Some(of) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                let (from, to) = of.trim().split_once('-')?;
                range = Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?));
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let is_there = request.split(' ').nth(1)? == "/bucket/folder/records.parquet";
        let common = format!("ETag: \"{tag}\"\r\nLast-Modified: Tue, 17 Nov 2026 12:00:00 GMT\r\n");
        let head = match (is_there, range) {
            (false, _) => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
            (true, None) => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{common}\r\n", bytes.len()),
            (true, Some((from, to))) => format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {from}-{to}/{}\r\n{common}\r\n",
                to - from + 1,
                bytes.len()
            ),
        };
        out.write_all(head.as_bytes()).ok()?;
        if let (true, Some((from, to))) = (is_there && request.starts_with("GET"), range) {
            sent.lock().unwrap().push((from, to));
            out.write_all(&bytes[from as usize..=to as usize]).ok()?;
        }
    }
}

impl Server {
    fn start(bytes: Vec<u8>, tag: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (bytes, noted) = (Arc::new(bytes), Arc::clone(&sent));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (bytes, noted) = (Arc::clone(&bytes), Arc::clone(&noted));
                std::thread::spawn(move || answer(stream, &bytes, tag, &noted));
            }
        });
        Self { address, sent }
    }

    fn object(&self, key: &str) -> Result<Object, Error> {
        let store = AmazonS3Builder::new()
            .with_bucket_name("bucket")
            .with_region("here")
            .with_endpoint(&self.address)
            .with_allow_http(true)
            .with_access_key_id("who")
            .with_secret_access_key("a secret that no message says");
        let path = format!("s3://bucket/{key}");
        Object::of(Path::new(&path), Arc::new(store.build().unwrap()), &Key::from(key))
    }
}

fn bytes() -> Vec<u8> {
    (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn ranges_are_those_of_the_object_fetched_ahead_or_not() {
    let server = Server::start(bytes(), "one");
    let object = server.object("folder/records.parquet").unwrap();
    assert_eq!(object.length(), 100_000);
    let check = |start: u64, length: u64| {
        let expected = &bytes()[start as usize..(start + length) as usize];
        assert!(object.bytes(start, length).unwrap() == expected, "{start} {length}");
    };
    check(99_000, 1000);
    let groups = [[(0, 3000), (50_000, 2000)], [(3000, 10), (52_000, 9000)], [(3010, 90), (61_000, 1)]];
    for (place, group) in groups.iter().enumerate() {
        let after = groups.get(place + 1);
        object.expect(group, after.map_or(&[][..], |after| &after[..]));
        if after.is_none() {
            server.sent.lock().unwrap().clear();
        }
        for (start, length) in group {
            check(*start, *length);
            check(*start + length / 2, length / 2);
        }
    }
    // What was expected is not fetched a second time; what was not is.
    assert_eq!(*server.sent.lock().unwrap(), []);
    check(7, 5);
    assert_eq!(*server.sent.lock().unwrap(), [(7, 11)]);
    for (start, length) in [(99_999, 2), (u64::MAX, 2)] {
        assert_eq!(object.bytes(start, length).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}

#[test]
fn a_changed_object_has_another_seal_and_refusals_say_nothing_of_the_store() {
    let (one, other) = (Server::start(bytes(), "one"), Server::start(bytes(), "other"));
    let of = |server: &Server| server.object("folder/records.parquet").unwrap().seal();
    assert!(of(&one) == of(&one) && of(&one) != of(&other));
    let missing = one.object("folder/other.parquet").err().unwrap();
    assert!(matches!(&missing, Error::Missing { .. }), "{missing}");
    assert!(!missing.to_string().contains("secret"));
    // A path without a key, and a store that nobody can reach.
    assert!(matches!(Object::open(Path::new("s3://bucket")), Err(Error::Unreadable { .. })));
}
