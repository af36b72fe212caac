-- Calls that somebody is to approve. A row that was decided stays until it expires, so that whoever
-- waits for it in another process learns of it, and so that it cannot be decided again.
create table pending (
    id               text   not null primary key,
    caller           text   not null,
    client           text   not null,
    server           text   not null,
    kind             text   not null,
    name             text   not null,
    identity         text   not null,
    definition       text   not null,
    arguments        text   not null,
    arguments_digest text   not null,
    because          text   not null,
    asked_at         bigint not null,
    expires_at       bigint not null,
    choice           text,
    decided_by       text,
    decided_at       bigint
);

create index pending_by_caller on pending (caller, arguments_digest);

-- Permissions that people gave. A one-time one bears the digest of its arguments and is gone once
-- it was used.
create table grants (
    id               text   not null primary key,
    choice           text   not null,
    caller           text   not null,
    client           text   not null,
    server           text   not null,
    kind             text   not null,
    name             text   not null,
    identity         text   not null,
    definition       text   not null,
    arguments_digest text,
    given_by         text   not null,
    given_at         bigint not null,
    expires_at       bigint
);

create index grants_by_arguments on grants (arguments_digest);

-- Definitions that were approved; those of a server's instructions have neither kind nor name.
create table pins (
    server     text   not null,
    identity   text   not null,
    kind       text   not null,
    name       text   not null,
    digest     text   not null,
    definition text   not null,
    pinned_by  text   not null,
    pinned_at  bigint not null,
    primary key (server, identity, kind, name)
);

-- What servers spent of their callers' models, by day (UTC).
create table charges (
    server   text   not null,
    day      text   not null,
    requests bigint not null,
    tokens   bigint not null,
    primary key (server, day)
);
