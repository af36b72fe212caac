-- The keys by which callers over HTTP are known. Of the key itself only the digest is kept.
create table keys (
    id         text   not null primary key,
    name       text   not null unique,
    digest     text   not null unique,
    added_at   bigint not null,
    expires_at bigint
);
