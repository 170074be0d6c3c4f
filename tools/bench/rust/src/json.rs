//! Pets as JSON.

use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize)]
pub struct NewPet<'a> {
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(rename = "categoryId")]
    pub category_id: Option<i64>,
    #[serde(borrow)]
    pub status: Option<Cow<'a, str>>,
}

pub struct Pet<'a> {
    pub id: i64,
    pub name: &'a str,
    pub category_id: i64,
    pub status: &'a str,
}

impl Pet<'_> {
    /// Appends the pet. Its status is one of the known ones, which need no escaping.
    pub fn write(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"{\"id\":");
        write_integer(text, self.id);
        text.extend_from_slice(b",\"name\":");
        write_string(text, self.name);
        text.extend_from_slice(b",\"categoryId\":");
        write_integer(text, self.category_id);
        text.extend_from_slice(b",\"status\":\"");
        text.extend_from_slice(self.status.as_bytes());
        text.extend_from_slice(b"\"}");
    }
}

pub fn write_error(text: &mut Vec<u8>, code: &str, message: &str, status: u16) {
    text.extend_from_slice(b"{\"code\":");
    write_string(text, code);
    text.extend_from_slice(b",\"message\":");
    write_string(text, message);
    text.extend_from_slice(b",\"status\":");
    write_integer(text, i64::from(status));
    text.push(b'}');
}

fn write_integer(text: &mut Vec<u8>, value: i64) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn write_string(text: &mut Vec<u8>, value: &str) {
    serde_json::to_writer(text, value).expect("a string can be serialised");
}
