-- Times are milliseconds since 1970, flags would be bigint: the same queries are to run on Postgres.

-- What the user agreed to start or reach: one row per server name and identity of what is started.
create table consents (
    server   text   not null,
    digest   text   not null,
    given_at bigint not null,
    shown    text   not null,
    primary key (server, digest)
);

-- What a server last said about itself, by its name and the identity of its declaration.
create table catalogs (
    server       text   not null,
    spec         text   not null,
    protocol     text   not null,
    capabilities text   not null,
    server_info  text   not null,
    instructions text,
    saved_at     bigint not null,
    primary key (server, spec)
);

-- What it offers, byte for byte, in its order.
create table definitions (
    server   text   not null,
    spec     text   not null,
    kind     text   not null,
    position bigint not null,
    name     text   not null,
    raw      text   not null,
    primary key (server, spec, kind, position),
    foreign key (server, spec) references catalogs (server, spec) on delete cascade
);
