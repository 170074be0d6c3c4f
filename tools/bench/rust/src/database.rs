//! Statements of the catalogue, each prepared once per connection.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, RowStream, Statement};

const CONNECTIONS: usize = 16;

const FIND_KEY: &str = "SELECT client_id FROM access.api_keys
    WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())";
const FIND_PET: &str = "SELECT id, name, category_id, status FROM pets.pets WHERE id = $1";
const LIST_PETS: &str = "SELECT id, name, category_id, status FROM pets.pets WHERE id > $1 ORDER BY id LIMIT $2";
const LIST_BY_STATUS: &str = "SELECT id, name, category_id, status FROM pets.pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3";
const INSERT_PET: &str = "INSERT INTO pets.pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id";

type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection. Concurrent statements on it are pipelined.
struct Connection {
    client: Client,
    find_key: Statement,
    find_pet: Statement,
    list_pets: Statement,
    list_by_status: Statement,
    insert_pet: Statement,
}

impl Connection {
    async fn connect(url: &str) -> Result<Connection, Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        // If the connection fails, each statement returns the error.
        tokio::spawn(connection);
        Ok(Connection {
            find_key: client.prepare(FIND_KEY).await?,
            find_pet: client.prepare(FIND_PET).await?,
            list_pets: client.prepare(LIST_PETS).await?,
            list_by_status: client.prepare(LIST_BY_STATUS).await?,
            insert_pet: client.prepare(INSERT_PET).await?,
            client,
        })
    }

    async fn query(&self, statement: &Statement, parameters: &[Parameter<'_>]) -> Result<RowStream, Error> {
        self.client.query_raw(statement, parameters.iter().copied()).await
    }
}

pub struct Database {
    connections: Vec<Connection>,
    next: AtomicUsize,
}

impl Database {
    pub async fn connect(url: &str) -> Result<Database, Error> {
        let mut connections = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            connections.push(Connection::connect(url).await?);
        }
        Ok(Database { connections, next: AtomicUsize::new(0) })
    }

    pub async fn has_key(&self, hash: &[u8]) -> Result<bool, Error> {
        let connection = self.next();
        Ok(connection.client.query_opt(&connection.find_key, &[&hash]).await?.is_some())
    }

    pub async fn find_pet(&self, id: i64) -> Result<Option<Row>, Error> {
        let connection = self.next();
        connection.client.query_opt(&connection.find_pet, &[&id]).await
    }

    pub async fn list_pets(&self, status: Option<&str>, after: i64, limit: i64) -> Result<RowStream, Error> {
        let connection = self.next();
        match status {
            None => connection.query(&connection.list_pets, &[&after, &limit]).await,
            Some(status) => connection.query(&connection.list_by_status, &[&status, &after, &limit]).await,
        }
    }

    /// Returns the id of the new pet.
    pub async fn insert_pet(&self, name: &str, category_id: i64, status: &str) -> Result<i64, Error> {
        let connection = self.next();
        let row = connection.client.query_one(&connection.insert_pet, &[&name, &category_id, &status]).await?;
        row.try_get(0)
    }

    fn next(&self) -> &Connection {
        &self.connections[self.next.fetch_add(1, Ordering::Relaxed) % CONNECTIONS]
    }
}
