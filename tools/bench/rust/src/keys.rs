//! API keys that were accepted recently.

use std::collections::HashMap;
use std::sync::RwLock;
use std::time::{Duration, Instant};

const LIFETIME: Duration = Duration::from_secs(30);

pub type KeyHash = [u8; 32];

#[derive(Default)]
pub struct KeyCache {
    expiries: RwLock<HashMap<KeyHash, Instant>>,
}

impl KeyCache {
    pub fn has(&self, hash: &KeyHash) -> bool {
        let expiries = self.expiries.read().expect("the lock is not poisoned");
        expiries.get(hash).map_or(false, |expiry| Instant::now() < *expiry)
    }

    pub fn add(&self, hash: KeyHash) {
        self.expiries.write().expect("the lock is not poisoned").insert(hash, Instant::now() + LIFETIME);
    }
}
