//! A hand-written catalogue service with hyper and tokio-postgres. Reads DATABASE_URL and listens on a free port of the loopback interface.

mod api;
mod database;
mod json;
mod keys;

use std::convert::Infallible;
use std::env;
use std::error::Error;

use api::Api;
use database::Database;
use hyper::server::conn::Http;
use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const WORKER_THREADS: usize = 2;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let runtime = Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build()?;
    // Connections run on the workers. The main thread would be a third one.
    runtime.block_on(async { tokio::spawn(serve()).await? })
}

async fn serve() -> Result<(), Box<dyn Error + Send + Sync>> {
    let database = Database::connect(&env::var("DATABASE_URL")?).await?;
    let api: &'static Api = Box::leak(Box::new(Api::new(database)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening {}", listener.local_addr()?.port());
    let mut http = Http::new();
    // Copies the body after the header, so that a response is one write.
    http.http1_only(true).http1_writev(false).pipeline_flush(true);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let handler = service_fn(move |request| async move { Ok::<_, Infallible>(api.respond(request).await) });
        let connection = http.serve_connection(stream, handler);
        tokio::spawn(async move {
            // Clients close connections at any time.
            let _ = connection.await;
        });
    }
}
