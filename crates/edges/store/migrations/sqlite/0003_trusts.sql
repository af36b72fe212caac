-- Whose tools the user does not want to be asked about: one row per server name and identity of what
-- is started or reached, as with consents.
create table trusts (
    server   text   not null,
    digest   text   not null,
    given_at bigint not null,
    primary key (server, digest)
);
