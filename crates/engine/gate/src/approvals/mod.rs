//! Approvals: the calls somebody is asked about, who may answer, and what follows from an answer.
//!
//! [`Broker`] is the one port for all who ask and all who answer. The pipeline asks it whether a
//! call was granted before ([`Broker::granted`], without waiting), and else has it obtain a
//! decision ([`Broker::obtain`]): through a form in the caller's client, or from whoever runs the
//! gateway. The faces (commands, console, chat) list and settle what waits.
//!
//! Every call that waits is on disk before anybody is asked, and every decision before anybody is
//! told. "Once" is a grant that is used up in the database: whoever waits, repeats the call or
//! answers twice, the call is made at most once.
//!
//! Nothing here decides *whether* to ask; that is policy's.

mod approver;
mod broker;
mod canonical;
mod form;
mod obtain;
mod rate;
mod record;
mod shown;
mod standing;
mod waiting;

pub use approver::{Approver, Registered};
pub use broker::Broker;
pub use canonical::params_digest;
pub use obtain::{Ask, Obtained};
pub use shown::params as shown_params;
pub use standing::{BoundRef, Granted};
