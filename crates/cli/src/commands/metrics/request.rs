//! Parses requests to the metrics server, with httparse.

use report::openmetrics::Format;

/// The largest request, which has no body.
pub(super) const REQUEST_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Metrics { body: bool, format: Format },
    Health { body: bool },
    Elsewhere,
    Otherwise,
    TooMuch,
    Nonsense,
}

/// Parses the head of a request; `None` if it is not complete yet.
pub(super) fn parse(bytes: &[u8]) -> Option<Asked> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => Some(asked(&request)),
        Ok(httparse::Status::Partial) if bytes.len() >= REQUEST_BYTES_MAX => Some(Asked::TooMuch),
        Ok(httparse::Status::Partial) => None,
        Err(httparse::Error::TooManyHeaders) => Some(Asked::TooMuch),
        Err(_) => Some(Asked::Nonsense),
    }
}

fn asked(request: &httparse::Request<'_, '_>) -> Asked {
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let accept = request.headers.iter();
    let accept = accept.filter(|header| header.name.eq_ignore_ascii_case("accept"));
    let accept: Vec<&str> = accept
        .filter_map(|header| std::str::from_utf8(header.value).ok())
        .collect();
    let format = Format::accepted(&accept.join(","));
    match (request.method, path) {
        (Some("GET"), "/metrics") => Asked::Metrics { body: true, format },
        (Some("HEAD"), "/metrics") => Asked::Metrics {
            body: false,
            format,
        },
        (Some("GET"), "/healthz") => Asked::Health { body: true },
        (Some("HEAD"), "/healthz") => Asked::Health { body: false },
        (Some("GET" | "HEAD"), _) => Asked::Elsewhere,
        _ => Asked::Otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for, which does not depend on how the bytes arrive.
    fn asked(text: &str) -> Option<Asked> {
        let whole = parse(text.as_bytes());
        let first = (0..=text.len()).find_map(|len| parse(&text.as_bytes()[..len]));
        assert_eq!(first, whole, "{text}");
        whole
    }

    fn metrics(body: bool, format: Format) -> Option<Asked> {
        Some(Asked::Metrics { body, format })
    }

    #[test]
    fn requests_are_told_apart_however_they_come() {
        let head = " HTTP/1.1\r\nHost: x\r\n\r\n";
        let of = |line: &str| asked(&format!("{line}{head}"));
        assert_eq!(of("GET /metrics"), metrics(true, Format::Classic));
        assert_eq!(of("HEAD /metrics?a=b"), metrics(false, Format::Classic));
        assert_eq!(of("GET /healthz"), Some(Asked::Health { body: true }));
        assert_eq!(of("GET /"), Some(Asked::Elsewhere));
        assert_eq!(of("POST /metrics"), Some(Asked::Otherwise));
        assert_eq!(of("\0\x01"), Some(Asked::Nonsense));
        assert_eq!(
            asked("GET /metrics HTTP/1.1\r\n"),
            None,
            "there is more to come"
        );
    }

    #[test]
    fn a_request_that_is_too_large_is_told_so() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(REQUEST_BYTES_MAX));
        let long = &long.as_bytes()[..REQUEST_BYTES_MAX];
        assert_eq!(parse(long), Some(Asked::TooMuch));
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        let many = format!("GET /metrics HTTP/1.1\r\n{many}\r\n");
        assert_eq!(parse(many.as_bytes()), Some(Asked::TooMuch));
    }

    #[test]
    fn the_format_is_the_one_that_the_client_would_rather_have() {
        for (accept, format) in [
            ("application/openmetrics-text", Format::OpenMetrics),
            ("text/plain;version=0.0.4", Format::Classic),
        ] {
            let request = format!("GET /metrics HTTP/1.1\r\nACCEPT: {accept}\r\n\r\n");
            assert_eq!(asked(&request), metrics(true, format));
        }
    }
}
