//! Its port.

use std::io;

use onceproof_gateway::{
    store::wire,
    world::{BoxIo, SharedWorld},
};

use super::{book::Postgres, session::Session, statement::Statement};
use crate::sim::wire::STORE_PORT;

impl Postgres {
    /// Serves for ever on the host of `world`.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn serve(self, world: SharedWorld) -> io::Result<()> {
        let mut listener = world.listen(STORE_PORT).await?;
        loop {
            let connection = listener.accept().await?;
            let session = Session::new(&self.shared, &world);
            world.spawn(Box::pin(async move {
                // A connection that breaks is its client's business; its transaction is rolled back.
                let _ = converse(session, connection).await;
            }));
        }
    }
}

async fn converse(session: Session, mut connection: BoxIo) -> io::Result<()> {
    while let Some(statement) = wire::read_frame::<Statement>(&mut connection).await? {
        let outcome = session.execute(statement).await;
        wire::write_frame(&mut connection, &outcome).await?;
    }
    Ok(())
}
