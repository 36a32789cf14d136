/* Events made of variables, constants, searches in steps, files, and what is refused. */

#include "betree.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(what) check((what), #what, __LINE__)

static void check(bool holds, const char* what, int line)
{
    if (!holds) {
        const char* error = betree_last_error();
        fprintf(stderr, "line %d: %s; the last error is: %s\n", line, what, error ? error : "none");
        failures++;
    }
}

/* The last call failed, and its message has this part. */
static bool said(const char* part)
{
    const char* error = betree_last_error();
    return error != NULL && strstr(error, part) != NULL;
}

/* A report has exactly these ids. */
static bool has(const struct report* report, size_t count, const betree_sub_t* ids)
{
    if (report->matched != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (report->subs[i] != ids[i]) {
            return false;
        }
    }
    return true;
}

static struct betree* make_tree(void)
{
    struct betree* tree = betree_make_with_parameters(3, 0);
    betree_add_boolean_variable(tree, "b", false);
    betree_add_integer_variable(tree, "i", true, 0, 100);
    betree_add_float_variable(tree, "f", true, -1.0, 1.0);
    betree_add_string_variable(tree, "s", true, 10);
    betree_add_integer_list_variable(tree, "il", true, 0, 100);
    betree_add_string_list_variable(tree, "sl", true, 10);
    betree_add_segments_variable(tree, "seg", true);
    betree_add_frequency_caps_variable(tree, "frequency_caps", true);
    betree_add_integer_enum_variable(tree, "e", true, 10);
    betree_add_integer_variable(tree, "now", true, 0, INT64_MAX);
    return tree;
}

static struct betree_event* make_event(const struct betree* tree)
{
    struct betree_event* event = betree_make_event(tree);
    betree_set_variable(event, 0, betree_make_boolean_variable("b", true));
    betree_set_variable(event, 1, betree_make_integer_variable("i", 7));
    betree_set_variable(event, 2, betree_make_float_variable("f", 0.5));
    betree_set_variable(event, 3, betree_make_string_variable("s", "say \"hi\"\n\\"));
    struct betree_integer_list* integers = betree_make_integer_list(2);
    betree_add_integer(integers, 0, 5);
    betree_add_integer(integers, 1, 3);
    betree_set_variable(event, 4, betree_make_integer_list_variable("il", integers));
    struct betree_string_list* strings = betree_make_string_list(2);
    betree_add_string(strings, 0, "x");
    betree_add_string(strings, 1, "y");
    betree_set_variable(event, 5, betree_make_string_list_variable("sl", strings));
    struct betree_segments* segments = betree_make_segments(1);
    betree_add_segment(segments, 0, betree_make_segment(1, 90 * 1000000));
    betree_set_variable(event, 6, betree_make_segments_variable("seg", segments));
    struct betree_frequency_caps* caps = betree_make_frequency_caps(2);
    betree_add_frequency_cap(caps, 0, betree_make_frequency_cap("flight", 10, "ns", true, 95 * 1000000, 3));
    betree_add_frequency_cap(caps, 1, betree_make_frequency_cap("product", 40, "ns", false, 0, 9));
    betree_set_variable(event, 7, betree_make_frequency_caps_variable("frequency_caps", caps));
    betree_set_variable(event, 8, betree_make_integer_variable("e", 4));
    betree_set_variable(event, 9, betree_make_integer_variable("now", 100));
    return event;
}

static void definitions(struct betree* tree)
{
    static const char* names[] = { "b", "i", "f", "s", "il", "sl", "seg", "frequency_caps", "e", "now" };
    static const enum betree_value_type_e types[] = {
        BETREE_BOOLEAN, BETREE_INTEGER, BETREE_FLOAT, BETREE_STRING, BETREE_INTEGER_LIST,
        BETREE_STRING_LIST, BETREE_SEGMENTS, BETREE_FREQUENCY_CAPS, BETREE_INTEGER_ENUM, BETREE_INTEGER
    };
    for (size_t i = 0; i < 10; i++) {
        struct betree_variable_definition definition = betree_get_variable_definition(tree, i);
        CHECK(strcmp(definition.name, names[i]) == 0);
        CHECK(definition.type == types[i]);
    }
    CHECK(betree_get_variable_definition(tree, 10).name == NULL);
}

static void insert(struct betree* tree)
{
    struct betree_constant* owned[2];
    owned[0] = betree_make_integer_constant("flight_id", 10);
    owned[1] = betree_make_integer_constant("product_id", 40);
    const struct betree_constant* constants[2];
    constants[0] = owned[0];
    constants[1] = owned[1];

    CHECK(betree_insert(tree, 1, "b and i = 7 and f > 0.25"));
    CHECK(betree_insert(tree, 2, "s = 'say \\\"hi\\\"\n\\\\' and 3 in il"));
    CHECK(betree_insert(tree, 3, "sl all of ('x', 'y') and e in (4, 5)"));
    CHECK(betree_insert(tree, 4, "segment_within(seg, 1, 20)"));
    CHECK(betree_insert(tree, 5, "segment_within(seg, 1, 5)"));
    const struct betree_sub* sub
        = betree_make_sub(tree, 6, 2, constants, "within_frequency_cap('flight', 'ns', 4, 60)");
    CHECK(sub != NULL);
    CHECK(betree_insert_sub(tree, sub));
    CHECK(!betree_insert_sub(tree, sub) && said("subscription 6 already exists"));
    CHECK(betree_insert_with_constants(tree, 7, 2, constants, "within_frequency_cap('flight', 'ns', 3, 60)"));
    /* A counter without a time has expired. */
    CHECK(betree_insert_with_constants(tree, 8, 2, constants, "within_frequency_cap('product', 'ns', 3, 60)"));
    betree_free_constant(owned[0]);
    betree_free_constants(1, owned + 1);

    CHECK(betree_make_sub(tree, 9, 0, NULL, "within_frequency_cap('flight', 'ns', 1, 0)") == NULL);
    CHECK(said("lacks the constant flight_id"));
    CHECK(!betree_insert(tree, 9, "i >") && said("expected a constant"));
    CHECK(!betree_insert(tree, 9, "nope = 1") && said("unknown attribute 'nope'"));
    CHECK(!betree_insert(tree, 9, "i = 101") && said("outside the bounds"));
    CHECK(betree_change_boundaries(tree, "i = 101"));
    CHECK(betree_insert(tree, 9, "i = 101"));
    CHECK(!betree_change_boundaries(tree, "nope = 101") && said("unknown attribute"));
    betree_add_boolean_variable(tree, "late", true);
    CHECK(said("'late' cannot be added"));
}

static void search(struct betree* tree, struct betree_event* event)
{
    static const betree_sub_t all[] = { 1, 2, 3, 4, 6, 8 };
    static const uint64_t asked[] = { 3, 5, 77, 1 };
    static const betree_sub_t among[] = { 1, 3 };
    struct report* report = make_report();
    CHECK(betree_search_with_event(tree, event, report) && has(report, 6, all));
    CHECK(betree_search_with_event_ids(tree, event, report, asked, 4) && has(report, 2, among));
    CHECK(betree_search_with_event_ids(tree, event, report, NULL, 0) && has(report, 0, NULL));
    CHECK(betree_exists_with_event(tree, event));

    const char* json = "{\"b\": false, \"i\": 101, \"seg\": [[1, 0]], \"now\": 10}";
    static const betree_sub_t by_json[] = { 4, 9 };
    CHECK(betree_search(tree, json, report) && has(report, 2, by_json));
    CHECK(betree_search_ids(tree, json, report, asked, 4) && has(report, 0, NULL));
    CHECK(!betree_exists(tree, "{\"b\": false}"));
    CHECK(betree_exists(tree, json));

    CHECK(!betree_search(tree, "{\"b\": 1}", report) && said("expected boolean"));
    CHECK(!betree_search(tree, "{}", report) && said("lacks the required attribute 'b'"));
    CHECK(!betree_search(tree, "{\"b\": true, \"z\": 1}", report) && said("unknown attribute 'z'"));
    CHECK(!betree_search(tree, "\xff", report) && said("not JSON"));
    /* A report stays what it was. */
    CHECK(has(report, 0, NULL));
    free_report(report);

    struct report on_stack = { 0, 0, 0, 0, NULL };
    CHECK(betree_search_with_event(tree, event, &on_stack) && has(&on_stack, 6, all));
    CHECK(on_stack.memoized == 0 && on_stack.shorted == 0);
    struct report* other = make_report();
    free_report(other);
    other = make_report();
    *other = on_stack;
    free_report(other);
}

static void in_steps(struct betree* tree, struct betree_event* event)
{
    static const betree_sub_t all[] = { 1, 2, 3, 4, 6, 8 };
    static const uint64_t budgets[] = { 1, 37, 2000 };
    struct report* report = make_report();
    struct betree_search* whole = betree_search_iterator_with_event(tree, event);
    CHECK(!betree_search_report(whole, report) && said("not finished"));
    CHECK(betree_search_all(whole));
    CHECK(betree_search_report(whole, report) && has(report, 6, all));
    uint64_t reductions = betree_search_reductions(whole);
    CHECK(reductions > 10);
    betree_search_release(whole);

    for (size_t i = 0; i < 3; i++) {
        struct betree_search* steps = betree_search_iterator_with_event(tree, event);
        int more;
        while ((more = betree_search_next(steps, budgets[i])) == 1) {
        }
        CHECK(more == 0);
        CHECK(betree_search_report(steps, report) && has(report, 6, all));
        CHECK(betree_search_reductions(steps) == reductions);
        betree_search_release(steps);

        struct betree_search* given_up = betree_search_iterator_with_event(tree, event);
        CHECK(betree_search_next(given_up, budgets[i]) >= 0);
        betree_search_release(given_up);
    }
    CHECK(betree_search_iterator(tree, "[") == NULL && said("expected an object"));
    free_report(report);
}

static void change(struct betree* tree)
{
    struct report* report = make_report();
    static const betree_sub_t four[] = { 4 };
    const char* json = "{\"b\": true, \"i\": 101, \"seg\": [[1, 0]], \"now\": 10}";
    struct betree_search* before = betree_search_iterator(tree, json);
    CHECK(betree_delete(tree, 9));
    CHECK(!betree_delete(tree, 9) && said("subscription 9 does not exist"));
    CHECK(betree_search(tree, json, report) && has(report, 1, four));
    CHECK(betree_update(tree, 4, 0, NULL, "not b"));
    CHECK(!betree_update(tree, 4, 0, NULL, "not not") && said("expected"));
    CHECK(betree_search(tree, json, report) && has(report, 0, NULL));

    /* A search in steps keeps the state that it began with. */
    static const betree_sub_t both[] = { 4, 9 };
    CHECK(betree_search_all(before) && betree_search_report(before, report) && has(report, 2, both));
    betree_search_release(before);
    free_report(report);
}

static void save_and_load(struct betree* tree, struct betree_event* event, const char* path)
{
    static const betree_sub_t left[] = { 1, 2, 3, 6, 8 };
    struct report* report = make_report();
    CHECK(betree_save(tree, path));
    struct betree* loaded = betree_load(path);
    CHECK(loaded != NULL);
    definitions(loaded);
    CHECK(betree_search_with_event(loaded, event, report) && has(report, 5, left));
    CHECK(betree_insert(loaded, 100, "i < 5"));
    betree_free(loaded);
    CHECK(betree_load("/does/not/exist") == NULL && said("cannot read '/does/not/exist'"));
    CHECK(!betree_save(tree, "/does/not/exist/either"));
    free_report(report);
}

/* Null pointers everywhere: each call fails, and none crashes. */
static void nulls(struct betree* tree, struct betree_event* event)
{
    CHECK(!betree_insert(NULL, 1, "true") && said("tree is a null pointer"));
    CHECK(!betree_insert(tree, 1, NULL) && said("expr is a null pointer"));
    CHECK(!betree_insert_with_constants(tree, 50, 1, NULL, "true") && said("constants is a null"));
    CHECK(!betree_insert_sub(tree, NULL) && !betree_insert_sub(NULL, NULL));
    CHECK(betree_make_sub(NULL, 1, 0, NULL, NULL) == NULL);
    CHECK(!betree_delete(NULL, 1) && !betree_update(NULL, 1, 0, NULL, NULL));
    CHECK(!betree_change_boundaries(NULL, NULL));
    CHECK(betree_make_event(NULL) == NULL);
    CHECK(betree_make_integer_constant(NULL, 1) == NULL);
    CHECK(betree_make_boolean_variable(NULL, true) == NULL);
    CHECK(betree_make_string_variable("s", NULL) == NULL);
    CHECK(betree_make_string_variable("s", "\xff") == NULL && said("value is not UTF-8: byte 0"));
    CHECK(betree_make_integer_list_variable("il", NULL) == NULL);
    CHECK(betree_make_frequency_cap(NULL, 1, NULL, false, 0, 0) == NULL);
    CHECK(betree_make_string_list_variable("sl", betree_make_string_list(1)) == NULL && said("element 0"));
    CHECK(betree_make_segments_variable(NULL, betree_make_segments(0)) == NULL);
    CHECK(betree_make_integer_list(SIZE_MAX) == NULL);
    betree_add_boolean_variable(NULL, NULL, true);
    betree_add_integer(NULL, 0, 1);
    struct betree_integer_list* list = betree_make_integer_list(1);
    betree_add_integer(list, 1, 1);
    CHECK(said("index 1 is out of range: there are 1"));
    betree_free_integer_list(list);
    betree_add_segment(NULL, 0, betree_make_segment(1, 1));
    betree_add_frequency_cap(NULL, 0, NULL);
    betree_set_variable(NULL, 0, betree_make_boolean_variable("b", true));
    betree_set_variable(event, 99, betree_make_boolean_variable("b", true));
    CHECK(said("index 99 is out of range: there are 10"));
    CHECK(event->variable_count == 10 && event->variables[1] != NULL);
    CHECK(!betree_search(NULL, NULL, NULL) && !betree_search(tree, NULL, NULL));
    CHECK(!betree_search_with_event(tree, event, NULL) && said("report is a null pointer"));
    CHECK(!betree_search_with_event(tree, NULL, NULL) && !betree_exists(NULL, NULL));
    CHECK(betree_search_iterator(NULL, NULL) == NULL);
    CHECK(betree_search_next(NULL, 1) == -1 && !betree_search_all(NULL));
    CHECK(betree_search_reductions(NULL) == 0 && !betree_search_report(NULL, NULL));
    CHECK(!betree_save(NULL, NULL) && betree_load(NULL) == NULL);
    betree_init(NULL);
    betree_deinit(NULL);
    betree_free(NULL);
    betree_free_constant(NULL);
    betree_free_constants(0, NULL);
    betree_free_event(NULL);
    betree_free_variable(NULL);
    betree_free_integer_list(NULL);
    betree_free_string_list(NULL);
    betree_free_segment(NULL);
    betree_free_segments(NULL);
    betree_free_frequency_cap(NULL);
    betree_free_frequency_caps(NULL);
    betree_search_release(NULL);
    free_report(NULL);
}

static void on_the_stack(void)
{
    struct betree tree;
    betree_init(&tree);
    betree_add_boolean_variable(&tree, "b", false);
    CHECK(!betree_exists(&tree, "{\"b\": true}"));
    betree_add_boolean_variable(&tree, "c", true);
    betree_add_boolean_variable(&tree, "c", true);
    CHECK(said("'c' is declared twice"));
    CHECK(betree_insert(&tree, 1, "b and not c"));
    /* What the event lacks is false, and its `not` true. */
    CHECK(betree_exists(&tree, "{\"b\": true}"));
    betree_deinit(&tree);
    CHECK(!betree_exists(&tree, "{\"b\": true}") && said("null pointer"));
    betree_deinit(&tree);
}

int main(int argc, char** argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: everything FILE\n");
        return 2;
    }
    CHECK(betree_last_error() == NULL);
    struct betree* tree = make_tree();
    definitions(tree);
    insert(tree);
    struct betree_event* event = make_event(tree);
    search(tree, event);
    in_steps(tree, event);
    change(tree);
    save_and_load(tree, event, argv[1]);
    nulls(tree, event);
    on_the_stack();

    /* A search outlives its tree. */
    struct betree_search* last = betree_search_iterator_with_event(tree, event);
    betree_free(tree);
    CHECK(betree_search_all(last));
    betree_search_release(last);
    betree_free_event(event);
    printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
