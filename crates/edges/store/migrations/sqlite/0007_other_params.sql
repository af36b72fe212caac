-- What a call that waits says beside its arguments and would reach the server.
alter table pending add column other_params text not null default '';
