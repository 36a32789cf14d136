%% The functions of erl-be-tree, over the library betree-c.
-module(erl_betree).

-export([
    betree_make/1,
    betree_make_event/2, betree_make_event/3,
    betree_make_sub/4,
    betree_insert_sub/2,
    betree_exists/2,
    betree_search/2, betree_search/3,
    betree_search_ids/3, betree_search_ids/4,
    search_iterator/2,
    search_next/1,
    search_all/1,
    search_iterator_release/1
]).

-on_load(load/0).

load() ->
    Folder = filename:dirname(code:which(?MODULE)),
    erlang:load_nif(filename:join(Folder, "betree_nif"), 0).

%% {ok, Betree} of lists of {Name, Type, allow_undefined | disallow_undefined, Bounds...}.
betree_make(_Domains) -> stub().

%% {{ok, Event}, Microseconds} of a list of tuples {Tag, Value...}, in the order of the lists of the domains.
betree_make_event(Betree, Event) -> betree_make_event(Betree, Event, 0).
betree_make_event(_Betree, _Event, _Clock) -> stub().

%% {ok, Sub} | {error, failed}.
betree_make_sub(_Betree, _Id, _Constants, _Expression) -> stub().

%% ok | {error, failed}.
betree_insert_sub(_Betree, _Sub) -> stub().

%% {ok, boolean()}. Here and below an event is a list of tuples or what betree_make_event made.
betree_exists(_Betree, _Event) -> stub().

%% {ok, Ids}, in one call.
betree_search(_Betree, _Event) -> stub().

%% {{ok, Ids}, Microseconds}. The clock is always the monotonic one.
betree_search(_Betree, _Event, _Clock) -> stub().

%% {{ok, Ids}, Microseconds}, of these ids only.
betree_search_ids(Betree, Event, Ids) -> betree_search_ids(Betree, Event, Ids, 0).
betree_search_ids(_Betree, _Event, _Ids, _Clock) -> stub().

%% {ok, {Iterator, Reductions, Microseconds}}.
search_iterator(_Betree, _Event) -> stub().

%% {continue, []} | {ok, Ids}: one step of a search.
search_next(_Iterator) -> stub().

%% {ok, Ids}: the rest of a search. Other processes of the scheduler have their turns meanwhile.
search_all(_Iterator) -> stub().

%% ok. An iterator that is collected as garbage is released, too.
search_iterator_release(_Iterator) -> stub().

stub() -> erlang:nif_error(not_loaded).
