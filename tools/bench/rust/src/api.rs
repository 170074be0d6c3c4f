//! The three operations of the catalogue.

use futures_util::{pin_mut, TryStreamExt};
use hyper::body::{Bytes, HttpBody};
use hyper::header::{HeaderName, HeaderValue, AUTHORIZATION, CONTENT_TYPE, LINK, LOCATION};
use hyper::{Body, Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};
use tokio_postgres::{Error, Row};

use crate::database::Database;
use crate::json::{write_error, NewPet, Pet};
use crate::keys::{KeyCache, KeyHash};

const PETS_PATH: &str = "/v1/pets";
const BEARER: &[u8] = b"Bearer ";
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const STATUSES: [&str; 3] = ["available", "pending", "sold"];
const DEFAULT_STATUS: &str = "available";
const DEFAULT_LIMIT: i64 = 20;
const MAX_LIMIT: i64 = 100;
const MAX_NAME_LENGTH: usize = 255;
const MAX_BODY: usize = 64 * 1024;
/// Expected length of a pet as JSON.
const PET_LENGTH: usize = 128;

/// An error response.
struct Rejection {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Rejection {
        reject(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", error.to_string())
    }
}

type Outcome = Result<Response<Body>, Rejection>;

pub struct Api {
    database: Database,
    keys: KeyCache,
}

impl Api {
    pub fn new(database: Database) -> Api {
        Api { database, keys: KeyCache::default() }
    }

    pub async fn respond(&self, request: Request<Body>) -> Response<Body> {
        match self.route(request).await {
            Ok(response) => response,
            Err(Rejection { status, code, message }) => {
                let mut text = Vec::with_capacity(PET_LENGTH);
                write_error(&mut text, code, &message, status.as_u16());
                json(status, text)
            }
        }
    }

    async fn route(&self, request: Request<Body>) -> Outcome {
        let path = match request.uri().path().strip_prefix(PETS_PATH) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            _ => return Err(reject(StatusCode::NOT_FOUND, "not_found", "There is no such path.")),
        };
        self.authenticate(&request).await?;
        match (request.method(), path.strip_prefix('/')) {
            (&Method::GET, None) => self.list(request.uri().query().unwrap_or_default()).await,
            (&Method::POST, None) => self.create(request.into_body()).await,
            (&Method::GET, Some(id)) => self.get(id).await,
            _ => Err(reject(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "Only GET and POST.")),
        }
    }

    async fn get(&self, id: &str) -> Outcome {
        let row = match id.parse() {
            Ok(id) => self.database.find_pet(id).await?,
            Err(_) => None,
        };
        let row = row.ok_or_else(|| reject(StatusCode::NOT_FOUND, "pet_not_found", "There is no such animal."))?;
        let mut text = Vec::with_capacity(PET_LENGTH);
        pet(&row)?.write(&mut text);
        Ok(json(StatusCode::OK, text))
    }

    async fn list(&self, query: &str) -> Outcome {
        let limit = match parameter(query, "limit") {
            None => DEFAULT_LIMIT,
            Some(text) => match text.parse() {
                Ok(limit) if (1..=MAX_LIMIT).contains(&limit) => limit,
                _ => return Err(invalid("limit must be an integer from 1 to 100.")),
            },
        };
        let after = match parameter(query, "after") {
            None => i64::MIN,
            Some(text) => text.parse().map_err(|_| invalid("after must be an integer."))?,
        };
        let status = parameter(query, "status");
        if !status.map_or(true, is_status) {
            return Err(invalid("status must be available, pending or sold."));
        }
        let rows = self.database.list_pets(status, after, limit + 1).await?;
        pin_mut!(rows);
        let mut text = Vec::with_capacity(PET_LENGTH * limit as usize);
        text.push(b'[');
        let mut last = 0;
        let mut has_more = false;
        let mut count = 0;
        while let Some(row) = rows.try_next().await? {
            count += 1;
            if count > limit {
                has_more = true;
                continue;
            }
            if count > 1 {
                text.push(b',');
            }
            let pet = pet(&row)?;
            pet.write(&mut text);
            last = pet.id;
        }
        text.push(b']');
        let mut response = json(StatusCode::OK, text);
        if has_more {
            let filter = status.map(|status| format!("&status={status}")).unwrap_or_default();
            set_header(&mut response, LINK, format!("<{PETS_PATH}?limit={limit}{filter}&after={last}>; rel=\"next\""));
        }
        Ok(response)
    }

    async fn create(&self, body: Body) -> Outcome {
        let malformed = || reject(StatusCode::BAD_REQUEST, "malformed_json", "The body must be a JSON object.");
        let body = read_body(body).await.ok_or_else(malformed)?;
        let NewPet { name, category_id, status } = serde_json::from_slice(&body).map_err(|_| malformed())?;
        let (name, category_id) = match (&name, category_id) {
            (Some(name), Some(category_id)) if is_name(name) => (name.as_ref(), category_id),
            _ => return Err(invalid("name and categoryId are required.")),
        };
        let status = status.as_deref().unwrap_or(DEFAULT_STATUS);
        if !is_status(status) {
            return Err(invalid("status must be available, pending or sold."));
        }
        let id = self.database.insert_pet(name, category_id, status).await?;
        let mut text = Vec::with_capacity(PET_LENGTH);
        Pet { id, name, category_id, status }.write(&mut text);
        let mut response = json(StatusCode::CREATED, text);
        set_header(&mut response, LOCATION, format!("{PETS_PATH}/{id}"));
        Ok(response)
    }

    async fn authenticate(&self, request: &Request<Body>) -> Result<(), Rejection> {
        let key = request.headers().get(AUTHORIZATION).and_then(|header| header.as_bytes().strip_prefix(BEARER));
        let key = key.ok_or_else(|| reject(StatusCode::UNAUTHORIZED, "missing_api_key", "An API key is required."))?;
        let hash: KeyHash = Sha256::digest(key).into();
        if self.keys.has(&hash) {
            return Ok(());
        }
        if !self.database.has_key(&hash).await? {
            return Err(reject(StatusCode::UNAUTHORIZED, "invalid_api_key", "The API key is not valid."));
        }
        self.keys.add(hash);
        Ok(())
    }
}

fn pet(row: &Row) -> Result<Pet<'_>, Error> {
    Ok(Pet { id: row.try_get(0)?, name: row.try_get(1)?, category_id: row.try_get(2)?, status: row.try_get(3)? })
}

/// Returns the first value of a query parameter, or None if it is empty. Valid values need no percent-decoding.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    (!value.is_empty()).then_some(value)
}

/// Returns None if the body is too large or cannot be received.
async fn read_body(mut body: Body) -> Option<Bytes> {
    let first = body.data().await?.ok()?;
    if body.is_end_stream() {
        return (first.len() <= MAX_BODY).then_some(first);
    }
    let mut whole = first.to_vec();
    while let Some(part) = body.data().await {
        whole.extend_from_slice(&part.ok()?);
        if whole.len() > MAX_BODY {
            return None;
        }
    }
    Some(whole.into())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && (text.len() <= MAX_NAME_LENGTH || text.chars().count() <= MAX_NAME_LENGTH)
}

fn is_status(text: &str) -> bool {
    STATUSES.contains(&text)
}

fn json(status: StatusCode, text: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn set_header(response: &mut Response<Body>, name: HeaderName, value: String) {
    let value = HeaderValue::try_from(value).expect("the value is ASCII");
    response.headers_mut().insert(name, value);
}

fn invalid(message: &str) -> Rejection {
    reject(StatusCode::BAD_REQUEST, "invalid_request", message)
}

fn reject(status: StatusCode, code: &'static str, message: impl Into<String>) -> Rejection {
    Rejection { status, code, message: message.into() }
}
