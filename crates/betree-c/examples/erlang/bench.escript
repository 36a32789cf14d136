#!/usr/bin/env escript
%% escript bench.escript EXPRESSIONS EVENTS [BUCKET]
%%
%% Times the three ways to search on files that `perfkit betree generate bool --form erlang` writes. The durations of
%% BUCKET events each (1,000) are added up; the ways take turns, bucket by bucket, and must find the same ids.
-mode(compile).

main([Expressions, Events]) -> main([Expressions, Events, "1000"]);
main([Expressions, Events, Bucket]) ->
    true = code:add_path(filename:dirname(filename:absname(escript:script_name()))),
    {ok, [Domain | Texts]} = file:consult(Expressions),
    Begin = now_ns(),
    {ok, Betree} = erl_betree:betree_make([Domain]),
    lists:foldl(fun(Text, Id) ->
        {ok, Sub} = erl_betree:betree_make_sub(Betree, Id, [], Text),
        ok = erl_betree:betree_insert_sub(Betree, Sub),
        Id + 1
    end, 1, Texts),
    Terms = read_events(Events),
    First = hd(Terms),
    {ok, _} = erl_betree:betree_search(Betree, First),
    io:format("~b expressions of ~b attributes, ~b events; made and compiled in ~b ms~n",
        [length(Texts), length(Domain), length(Terms), (now_ns() - Begin) div 1000000]),
    Buckets = buckets(Terms, list_to_integer(Bucket)),
    Rows = [row(Betree, Number, Events1) || {Number, Events1} <- lists:zip(lists:seq(1, length(Buckets)), Buckets)],
    Matches = lists:sum([M || {M, _} <- Rows]),
    io:format("~.1f ids an event, the same in all ways~n~n", [Matches / length(Terms)]),
    Column = fun(Way) -> [proplists:get_value(Way, Row) || {_, Row} <- Rows] end,
    Standard = Column(betree_search),
    io:format("~-30s ~8s ~8s ~8s   compared with betree_search~n", ["us an event", "least", "median", "most"]),
    [begin
        Found = Column(Way),
        io:format("~-30s ~8.1f ~8.1f ~8.1f   ~s~n", [name(Way), lists:min(Found), percentile(50, Found),
            lists:max(Found), compared(Way, Standard, Found)])
    end || Way <- ways()];
main(_) ->
    io:format(standard_error, "usage: escript bench.escript EXPRESSIONS EVENTS [BUCKET]~n", []),
    halt(2).

ways() -> [betree_search, search_all, search_next].

name(betree_search) -> "betree_search";
name(search_all) -> "search_iterator/search_all";
name(search_next) -> "search_iterator/search_next".

%% Microseconds an event of each way, in turns that begin with another way for each bucket.
row(Betree, Number, Events) ->
    {Late, Early} = lists:split(Number rem 3, ways()),
    Found = [{Way, time(Way, Betree, Events)} || Way <- Early ++ Late],
    [{_, {_, Ids}} | Others] = Found,
    [true = Ids =:= Same || {_, {_, Same}} <- Others],
    Matches = lists:sum([Count || {Count, _} <- Ids]),
    {Matches, [{Way, Ns / 1000 / length(Events)} || {Way, {Ns, _}} <- Found]}.

time(Way, Betree, Events) ->
    erlang:garbage_collect(),
    Timed = [begin
        Begin = now_ns(),
        {ok, Ids} = search(Way, Betree, Event),
        End = now_ns(),
        % Kept lists of ids would be copied by each garbage collection.
        {End - Begin, {length(Ids), erlang:phash2(Ids)}}
    end || Event <- Events],
    {lists:sum([Ns || {Ns, _} <- Timed]), [Ids || {_, Ids} <- Timed]}.

search(betree_search, Betree, Event) ->
    erl_betree:betree_search(Betree, Event);
search(search_all, Betree, Event) ->
    {ok, {Iterator, _, _}} = erl_betree:search_iterator(Betree, Event),
    Found = erl_betree:search_all(Iterator),
    ok = erl_betree:search_iterator_release(Iterator),
    Found;
search(search_next, Betree, Event) ->
    {ok, {Iterator, _, _}} = erl_betree:search_iterator(Betree, Event),
    Found = to_the_end(Iterator),
    ok = erl_betree:search_iterator_release(Iterator),
    Found.

to_the_end(Iterator) ->
    case erl_betree:search_next(Iterator) of
        {continue, _} -> to_the_end(Iterator);
        {ok, _} = Found -> Found
    end.

%% Differences in percent, bucket by bucket.
compared(betree_search, _, _) -> "";
compared(_, Standard, Found) ->
    Percent = [(New - Old) / Old * 100 || {Old, New} <- lists:zip(Standard, Found)],
    Better = round(length([P || P <- Percent, P < 0]) / length(Percent) * 100),
    io_lib:format("range: (~.1f%, ~.1f%) median: ~.1f% 99th: ~.1f% better: ~b%", [lists:min(Percent),
        lists:max(Percent), percentile(50, Percent), percentile(99, Percent), Better]).

percentile(P, Values) ->
    Rank = max(1, ceil(P / 100 * length(Values))),
    lists:nth(Rank, lists:sort(Values)).

%% A list of 0 and 1 for each line, as events of one tuple.
read_events(File) ->
    {ok, Bytes} = file:read_file(File),
    Lines = binary:split(Bytes, <<"\n">>, [global, trim_all]),
    [[list_to_tuple([event | [Bit =:= $1 || <<Bit>> <= Line, Bit =:= $0 orelse Bit =:= $1]])] || Line <- Lines].

buckets(Terms, Size) when length(Terms) =< Size -> [Terms];
buckets(Terms, Size) ->
    {Bucket, Rest} = lists:split(Size, Terms),
    [Bucket | buckets(Rest, Size)].

now_ns() -> erlang:monotonic_time(nanosecond).
