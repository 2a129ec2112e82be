//! Signs, and forges.

use super::*;

#[test]
fn signatures_follow_the_standard() {
    // RFC 8032, section 7.1, test 1: what is signed there is empty, so the key alone is compared.
    let secret = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
    let key = SigningKey(ed25519_dalek::SigningKey::from_bytes(&secret));
    assert_eq!(key.public().digits(), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    let signature = key.0.sign(b"");
    assert!(
        digits(&signature.to_bytes())
            .starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")
    );
}

#[test]
fn a_signature_holds_for_one_text_and_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["key", "other"].map(|name| folder.path().join(name));
    let (key, other) = (SigningKey::create(&path).unwrap(), SigningKey::create(&other).unwrap());
    assert_eq!(PublicKey::read(&public_path(&path)).unwrap(), key.public());
    let signature = SigningKey::read(&path).unwrap().sign(b"text");
    assert!(signature.holds(b"text") && !signature.holds(b"texts"));
    assert!(!Signature { key: other.public().digits(), ..signature.clone() }.holds(b"text"));
    for place in 0..signature.signature.len() {
        let mut forged = signature.signature.clone().into_bytes();
        forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
        let forged = Signature { signature: String::from_utf8(forged).unwrap(), ..signature.clone() };
        assert!(!forged.holds(b"text"));
    }
    let shouted = Signature { key: signature.key.to_uppercase(), ..signature };
    assert!(!shouted.holds(b"text"));
}

#[test]
fn keys_are_never_replaced_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    SigningKey::create(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(SigningKey::create(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let error = PublicKey::read(&path).unwrap_err().to_string();
    assert!(error.contains("no barkeep public key"), "{error}");
    assert!(!error.contains(std::str::from_utf8(&before[20..40]).unwrap()), "{error}");
}
