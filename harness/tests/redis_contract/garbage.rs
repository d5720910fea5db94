//! What is no RESP, or only just: both a simulated and a real Redis answer the same bytes and hang up alike.

use std::time::Duration;

use onceproof_gateway::world::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Checked, Place};

const PATIENCE: Duration = Duration::from_secs(3);

/// Each on a connection of its own, which a `PING` ends that is answered if the connection goes on.
const SENT: &[&[u8]] = &[
    b"",
    b"\r\n\r\n",
    b"PING\r\n",
    b"  get   nothing \n",
    b"*0\r\n*-1\r\n",
    b"*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nPING\r\n$0\r\n\r\n",
    b"*x\r\n",
    b"*\r\n",
    b"*1\r\n+OK\r\n",
    b"*1\r\n\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$0\r\n\r\n",
    b"*1\r\n$99999999999\r\n",
    b"*99999999999\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\xff\x00\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
    b"GET / HTTP/1.1\r\n",
    b"PI\x00NG\r\n",
    b"*2\r\n$5\r\nFETCH\r\n$4\r\na\r\nb\r\n",
];

/// What comes back for each of them, up to the end of the connection or the reply to the `PING`.
pub async fn answers(place: Place) -> Checked<Vec<String>> {
    let mut answers = Vec::new();
    for sent in SENT {
        let answer = within(&*place.world, PATIENCE, exchange(&place, sent)).await;
        let answer =
            answer.unwrap_or_else(|| Ok("nothing comes".into())).map_err(|error| error.to_string())?;
        answers.push(format!("{}: {answer}", sent.escape_ascii()));
    }
    Ok(answers)
}

async fn exchange(place: &Place, sent: &[u8]) -> std::io::Result<String> {
    let mut connection = place.world.connect(&place.host, place.port).await?;
    connection.write_all(sent).await?;
    connection.write_all(b"PING the-end\r\n").await?;
    let (mut received, mut chunk) = (Vec::new(), [0; 1024]);
    loop {
        let read = connection.read(&mut chunk).await.unwrap_or(0);
        received.extend_from_slice(&chunk[..read]);
        if read == 0 {
            return Ok(format!("{} and hangs up", received.escape_ascii()));
        }
        if received.ends_with(b"the-end\r\n") {
            return Ok(received.escape_ascii().to_string());
        }
    }
}
