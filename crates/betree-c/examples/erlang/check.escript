#!/usr/bin/env escript
%% escript check.escript
%%
%% Calls every function of erl_betree with values of every type.
-mode(compile).

main([]) ->
    true = code:add_path(filename:dirname(filename:absname(escript:script_name()))),
    Second = 1000 * 1000,
    Domains = [
        [{b, bool, disallow_undefined}, {i, int, allow_undefined, 0, 10}, {f, float, allow_undefined, 0.0, 1.0},
         {s, bin, allow_undefined, 5}, {e, int_enum, allow_undefined}],
        [{il, int_list, allow_undefined}, {sl, bin_list, allow_undefined}, {seg, segments, allow_undefined},
         {frequency_caps, frequency_caps, allow_undefined}, {now, int64, disallow_undefined}]
    ],
    {ok, Betree} = erl_betree:betree_make(Domains),
    Constants = [{flight_id, 10}, {<<"product_id">>, 40}, {unknown, 50}],
    Insert = fun(Id, Text) ->
        {ok, Sub} = erl_betree:betree_make_sub(Betree, Id, Constants, Text),
        erl_betree:betree_insert_sub(Betree, Sub)
    end,
    Texts = [<<"b and i = 7">>, <<"f > 0.25 and s = \"x y\"">>, ["e in (", "4, 5)"], <<"3 in il and sl one of (\"z\")">>,
        <<"segment_within(seg, 1, 20)">>, <<"within_frequency_cap(\"flight\", \"ns\", 4, 60)">>,
        <<"within_frequency_cap(\"product\", \"ns\", 4, 60)">>, <<"not b">>, <<"i > 12">>],
    [ok = Insert(Id, Text) || {Id, Text} <- lists:zip(lists:seq(1, length(Texts)), Texts)],
    {error, failed} = Insert(1, <<"b">>),
    {error, failed} = erl_betree:betree_make_sub(Betree, 99, [], <<"within_frequency_cap(\"flight\", \"ns\", 4, 60)">>),
    {error, failed} = erl_betree:betree_make_sub(Betree, 99, [], <<"nope">>),

    Caps = [{{<<"flight">>, 10, <<"ns">>}, 3, 95 * Second}, {{<<"product">>, 40, <<"ns">>}, 9, undefined}],
    Event = [{first, true, 7, 0.5, <<"x y">>, 4}, {second, [5, 3], [<<"z">>], [{1, 90 * Second}], Caps, 100}],
    Ids = [1, 2, 3, 4, 5, 6, 7],
    {ok, Ids} = erl_betree:betree_search(Betree, Event),
    {{ok, Ids}, _} = erl_betree:betree_search(Betree, Event, 6),
    {{ok, Made}, _} = erl_betree:betree_make_event(Betree, Event),
    {ok, Ids} = erl_betree:betree_search(Betree, Made),
    {{ok, [2, 5]}, _} = erl_betree:betree_search_ids(Betree, Made, [5, 2, 8, 1000]),
    {{ok, []}, _} = erl_betree:betree_search_ids(Betree, Event, []),
    {ok, true} = erl_betree:betree_exists(Betree, Made),
    None = [{first, true, undefined, undefined, undefined, undefined}, {second, [], [], undefined, undefined, 1}],
    {ok, false} = erl_betree:betree_exists(Betree, None),
    {ok, [9]} = erl_betree:betree_search(Betree, [setelement(3, hd(None), 15) | tl(None)]),

    {ok, {Steps, _, _}} = erl_betree:search_iterator(Betree, Event),
    {ok, Ids} = to_the_end(Steps),
    {ok, {All, _, _}} = erl_betree:search_iterator(Betree, Made),
    {ok, Ids} = erl_betree:search_all(All),
    ok = erl_betree:search_iterator_release(All),
    ok = erl_betree:search_iterator_release(All),

    [badarg = reason(Call) || Call <- [
        fun() -> erl_betree:betree_make([[{x, innt, allow_undefined}]]) end,
        fun() -> erl_betree:betree_make([[{x, int, allow}]]) end,
        fun() -> erl_betree:betree_make([[{x, int, allow_undefined}, {x, int, allow_undefined}]]) end,
        fun() -> erl_betree:betree_search(Betree, [{first, 1}]) end,
        fun() -> erl_betree:betree_search(Betree, [{first}]) end,
        fun() -> erl_betree:betree_search(Betree, [list_to_tuple([x | lists:duplicate(11, true)])]) end,
        fun() -> erl_betree:betree_search(Betree, [setelement(4, hd(None), <<"x">>) | tl(None)]) end,
        fun() -> erl_betree:betree_search(Betree, [hd(None), {second, [x], [], [], [], 1}]) end,
        fun() -> erl_betree:betree_search(Betree, [hd(None), {second, [], [x], [], [], 1}]) end,
        fun() -> erl_betree:betree_search(Betree, [hd(None), {second, [], [], [1], [], 1}]) end,
        fun() -> erl_betree:betree_search(Betree, [hd(None), {second, [], [], [], [10], 1}]) end,
        fun() -> erl_betree:betree_search_ids(Betree, Event, [x]) end,
        fun() -> erl_betree:betree_search(Made, Event) end,
        fun() -> erl_betree:search_next(Betree) end,
        fun() -> erl_betree:search_next(All) end,
        fun() -> erl_betree:search_all(All) end
    ]],
    erlang:garbage_collect(),
    io:format("every function answers as it should~n").

to_the_end(Iterator) ->
    case erl_betree:search_next(Iterator) of
        {continue, []} -> to_the_end(Iterator);
        Found -> Found
    end.

reason(Call) ->
    try Call() catch error:Reason -> Reason end.
