-- How often a server of which nothing is known was started, by the identity of its declaration.
create table attempts (
    spec     text   not null primary key,
    tries    bigint not null,
    tried_at bigint not null
);
