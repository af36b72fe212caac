-- What is kept of documents. A document's number is that of its first passage, and the others follow
-- in a row: no index is needed to find them.
create table documents (
    id       integer not null primary key,
    key      text    not null unique,
    kind     text    not null,
    folder   text,
    server   text,
    uri      text,
    title    text    not null,
    folded   text    not null,
    digest   text    not null,
    bytes    integer not null,
    modified integer not null,
    kept     integer not null,
    trusted  integer not null,
    passages integer not null,
    length   integer not null
);

create index documents_by_title on documents (folded);
create index documents_by_time on documents (modified);
create index documents_by_server on documents (server) where server is not null;

-- `last` is null where `first` is a page. `counted` is how many passages it stands for in
-- `frequencies`.
create table passages (
    id       integer not null primary key,
    document integer not null,
    heading  text    not null,
    text     text    not null,
    first    integer not null,
    last     integer,
    counted  integer not null
);

-- The terms of passages, by the same numbers. They come separated by blanks and are taken as they
-- are (reading::terms says which characters they have).
create virtual table terms using fts5 (
    title, heading, path, body,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._'"
);
insert into terms (terms, rank) values ('hashsize', 8388608);

-- In about how many passages a term stands: exact as long as there are a few thousand passages,
-- from then on counted in one of several only, for all of them.
create table frequencies (
    term     text    not null primary key,
    passages integer not null
) without rowid;

-- One row: how much there is. `next_passage` only grows: a number is never given twice. `terms` is
-- the version of what makes terms of texts: made by another, the index must be made anew.
create table totals (
    one          integer not null primary key check (one = 1),
    documents    integer not null,
    passages     integer not null,
    bytes        integer not null,
    length       integer not null,
    next_passage integer not null,
    latest       integer,
    terms        integer not null
);
insert into totals values (1, 0, 0, 0, 0, 1, null, 0);

-- How many documents each folder and each server has.
create table sources (
    kind      text    not null,
    name      text    not null,
    documents integer not null,
    primary key (kind, name)
) without rowid;

-- What was asked before.
create table queries (
    folded text    not null primary key,
    query  text    not null,
    times  integer not null,
    last   integer not null
) without rowid;
