-- Which era of the protocol a server turned out to speak, by the identity of its declaration. Only the
-- verdict: what the server said is another's for every credential it may be shown.
create table eras (
    spec     text   not null primary key,
    era      text   not null,
    found_at bigint not null
);
