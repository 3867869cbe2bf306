//! HTTP/1 on one socket: few connections, short headers, small bodies, and a time limit for slow clients.

use std::{convert::Infallible, io, net::TcpListener, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{self, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener as Listener, sync::Semaphore, time};

use super::site::{Reply, Site};

/// Connections at a time; others wait.
const CONNECTIONS: usize = 64;
/// The time limit of a request line with its headers, of a body, and of an idle connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of the request line and headers.
const MOST_HEAD: usize = 16_384;
const MOST_HEADERS: usize = 64;
/// Bytes of a body: a release, a plan or a configuration is far smaller.
const MOST_BODY: usize = 1 << 20;

/// Headers of every answer. Only files of this server may be loaded or run, and nothing is stored.
const HEADERS: [(&str, &str); 9] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Answers until the process ends.
pub fn forever(site: Arc<Site>, listener: TcpListener) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async move {
        listener.set_nonblocking(true)?;
        let listener = Listener::from_std(listener)?;
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(place) = free.clone().acquire_owned().await else { return Ok(()) };
            let Ok((stream, _)) = listener.accept().await else {
                // Perhaps out of file descriptors, which is temporary.
                time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let site = site.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| respond(site.clone(), request));
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(PATIENCE)
                    .max_buf_size(MOST_HEAD)
                    .max_headers(MOST_HEADERS)
                    .serve_connection(TokioIo::new(stream), service);
                // A client that disconnects gets no answer.
                let _ = connection.await;
                drop(place);
            });
        }
    })
}

async fn respond(site: Arc<Site>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let reply = match site.guard.admit(head.uri.path(), &head.headers) {
        Err(refused) => Reply::error(StatusCode::FORBIDDEN, refused.message()),
        Ok(path) => match site.route(&head.method, path, head.headers.get(header::CONTENT_TYPE)) {
            Err(reply) => reply,
            Ok(route) => match read(body).await {
                Err(reply) => reply,
                Ok(body) => site.answer(route, &body).await,
            },
        },
    };
    Ok(response(reply))
}

/// The whole body, if it is small and arrives in time.
async fn read(body: Incoming) -> Result<Bytes, Reply> {
    match time::timeout(PATIENCE, Limited::new(body, MOST_BODY).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(_)) => Err(Reply::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("the body breaks off or is longer than {MOST_BODY} bytes"),
        )),
        Err(_) => Err(Reply::error(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}

fn response(reply: Reply) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(reply.body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.kind));
    response
}
