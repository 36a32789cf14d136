//! A web server whose answer is an archive that is made while it is sent, in a few hundred KB of memory however large it is.
//! `cargo run -p zipstream --features tokio --example web`, then `curl -o all.zip http://127.0.0.1:8008/all.zip`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::convert::Infallible;
use std::error::Error;

use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Body, Bytes, Frame};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};
use tokio::net::TcpListener;
use zipstream::tokio::AsyncArchiveWriter;
use zipstream::{EntryOptions, Totals};

/// What is finished and not yet sent; the writer waits when it is full.
const AHEAD_BYTES: usize = 64 << 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:8008").await?;
    println!("http://{}/all.zip", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(async move {
            let serving = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service_fn(answer));
            if let Err(error) = serving.await {
                eprintln!("the client got no whole answer: {error}");
            }
        });
    }
}

async fn answer(
    _: Request<hyper::body::Incoming>,
) -> Result<Response<impl Body<Data = Bytes, Error = std::io::Error>>, Infallible> {
    let (sink, archive) = duplex(AHEAD_BYTES);
    let making = tokio::spawn(write_archive(sink));
    // When the archive fails, so does the body: the client sees that it is cut, not a short whole.
    let body = StreamBody::new(stream::try_unfold(
        (archive, Some(making)),
        |(mut archive, making)| async move {
            let mut piece = vec![0; AHEAD_BYTES];
            let bytes = archive.read(&mut piece).await?;
            piece.truncate(bytes);
            if bytes > 0 {
                return Ok(Some((Frame::data(Bytes::from(piece)), (archive, making))));
            }
            if let Some(making) = making {
                making
                    .await
                    .map_err(std::io::Error::other)?
                    .map_err(std::io::Error::other)?;
            }
            Ok(None)
        },
    ));
    let mut response = Response::new(body);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/zip"),
    );
    Ok(response)
}

async fn write_archive(sink: DuplexStream) -> Result<Totals, zipstream::Error> {
    let mut writer = AsyncArchiveWriter::new(sink);
    for day in 1..=30 {
        let options = EntryOptions::default();
        writer
            .start_entry(&format!("2026-01/{day:02}.csv"), &options)
            .await?;
        writer.push(b"order,symbol,quantity\n").await?;
        for order in 0..20_000 {
            let line = format!("{order},X{},{}\n", order % 500, order % 97 + 1);
            writer.push(line.as_bytes()).await?;
        }
        writer.finish_entry().await?;
    }
    // The client may have gone: then this is the error.
    Ok(writer.finish().await?.1)
}
