//! Manages the upstream servers: starts them in parallel, keeps their connections, restarts them on
//! use, refreshes their catalogs and shuts them down.
//!
//! A server has one [`Pool`] shared by all callers, or one pool per caller if its state belongs to
//! a caller. A pool keeps one live connection and its catalog, plus spare connections while another
//! caller's question is open. No operation waits for all servers, so a slow or broken server does
//! not delay the others.
//!
//! The gate decides who may call what. Exposed names are made elsewhere.

mod apply;
mod backoff;
mod builtin;
mod caller_subscriptions;
mod checked_catalog;
mod connect;
mod drain;
mod error;
mod event;
mod fleet;
mod fleet_server;
mod hints;
mod http;
mod lease;
mod list_changes;
mod listing;
mod masking;
mod pool;
mod report;
mod server_cache;
mod server_pools;
mod spares;
mod subscriptions;

pub use apply::FleetApplyReport;
pub use builtin::BuiltInServer;
pub use checked_catalog::{CheckedCatalog, CheckedDefinition, PinnableDefinition};
pub use drain::DRAIN_LIMIT;
pub use error::FleetError;
pub use event::FleetEvent;
pub use fleet::{Fleet, FleetBuilder};
pub use fleet_server::{ConnectionOwner, FleetServer};
pub use lease::{PoolLease, ServerLease};
pub use pool::Pool;
pub use report::{ConnectPhaseReport, ConnectReport};
pub use server_pools::{OfferedCatalog, ServerStatus};
