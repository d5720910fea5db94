//! The hosts around the gateway: who sends, who is sent to, and where records live.

pub mod database;
mod pool;
pub mod postgres;
pub mod producer;
pub mod redis;
pub mod whatsapp;
