/* The functions of erl-be-tree as a NIF over betree.h. */

#include "betree.h"

#include <erl_nif.h>
#include <string.h>

/* The reductions of one step of search_next: about a microsecond. */
#define STEP_REDUCTIONS 2000
/* The reductions of betree that take about 1% of the time of a process on its scheduler, which is 10 microseconds. */
#define PERCENT_REDUCTIONS 20000
/* The ids that can be put into a list in the same time. */
#define PERCENT_IDS 1000

struct tree {
    struct betree* tree;
    /* The attributes, so that events are read without the lock of the tree. */
    struct betree_variable_definition* attributes;
    size_t count;
};

struct sub {
    const struct betree_sub* sub;
    /* Kept, for the subscription belongs to it. */
    struct tree* owner;
};

struct event {
    struct betree_event* event;
};

struct search {
    struct betree_search* search;
    /* Held by the call that uses the search. */
    ErlNifMutex* lock;
};

static ErlNifResourceType* tree_type;
static ErlNifResourceType* sub_type;
static ErlNifResourceType* event_type;
static ErlNifResourceType* search_type;

/* Atoms are the same in every environment. */
static ERL_NIF_TERM atom_undefined;
static ERL_NIF_TERM atom_true;
static ERL_NIF_TERM atom_false;
static ERL_NIF_TERM atom_ok;
static ERL_NIF_TERM atom_error;
static ERL_NIF_TERM atom_failed;
static ERL_NIF_TERM atom_continue;
static ERL_NIF_TERM atom_allow_undefined;
static ERL_NIF_TERM atom_disallow_undefined;

/* Values of terms */

/* The text of a binary, a list of texts, or an atom, with a 0 at its end; the caller frees it. */
static char* text_of(ErlNifEnv* env, ERL_NIF_TERM term)
{
    ErlNifBinary bytes;
    unsigned length;
    if (enif_get_atom_length(env, term, &length, ERL_NIF_LATIN1)) {
        char* text = enif_alloc(length + 1);
        if (text != NULL) {
            enif_get_atom(env, term, text, length + 1, ERL_NIF_LATIN1);
        }
        return text;
    }
    if (!enif_inspect_iolist_as_binary(env, term, &bytes) || memchr(bytes.data, 0, bytes.size) != NULL) {
        return NULL;
    }
    char* text = enif_alloc(bytes.size + 1);
    if (text != NULL) {
        memcpy(text, bytes.data, bytes.size);
        text[bytes.size] = 0;
    }
    return text;
}

static bool int64_of(ErlNifEnv* env, ERL_NIF_TERM term, int64_t* value)
{
    ErlNifSInt64 found;
    if (!enif_get_int64(env, term, &found)) {
        return false;
    }
    *value = found;
    return true;
}

static bool double_of(ErlNifEnv* env, ERL_NIF_TERM term, double* value)
{
    int64_t integer;
    if (enif_get_double(env, term, value)) {
        return true;
    }
    if (!int64_of(env, term, &integer)) {
        return false;
    }
    *value = (double)integer;
    return true;
}

static bool uint32_of(ErlNifEnv* env, ERL_NIF_TERM term, uint32_t* value)
{
    unsigned found;
    if (!enif_get_uint(env, term, &found)) {
        return false;
    }
    *value = found;
    return true;
}

static ERL_NIF_TERM list_of(ErlNifEnv* env, const struct report* report)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (size_t i = report->matched; i > 0; i--) {
        list = enif_make_list_cell(env, enif_make_uint64(env, report->subs[i - 1]), list);
    }
    return list;
}

static ERL_NIF_TERM ok(ErlNifEnv* env, ERL_NIF_TERM value)
{
    return enif_make_tuple2(env, atom_ok, value);
}

static ERL_NIF_TERM failed(ErlNifEnv* env)
{
    return enif_make_tuple2(env, atom_error, atom_failed);
}

/* Values of events */

static struct betree_variable* integer_list(ErlNifEnv* env, const char* name, ERL_NIF_TERM term, unsigned length)
{
    struct betree_integer_list* list = betree_make_integer_list(length);
    ERL_NIF_TERM head;
    for (size_t i = 0; enif_get_list_cell(env, term, &head, &term); i++) {
        int64_t value;
        if (!int64_of(env, head, &value)) {
            betree_free_integer_list(list);
            return NULL;
        }
        betree_add_integer(list, i, value);
    }
    return betree_make_integer_list_variable(name, list);
}

static struct betree_variable* string_list(ErlNifEnv* env, const char* name, ERL_NIF_TERM term, unsigned length)
{
    struct betree_string_list* list = betree_make_string_list(length);
    ERL_NIF_TERM head;
    for (size_t i = 0; enif_get_list_cell(env, term, &head, &term); i++) {
        char* value = enif_is_binary(env, head) ? text_of(env, head) : NULL;
        /* An element that is not set is refused below. */
        betree_add_string(list, i, value);
        enif_free(value);
    }
    return betree_make_string_list_variable(name, list);
}

/* {Id, Microseconds} */
static struct betree_variable* segments(ErlNifEnv* env, const char* name, ERL_NIF_TERM term, unsigned length)
{
    struct betree_segments* list = betree_make_segments(length);
    ERL_NIF_TERM head;
    for (size_t i = 0; enif_get_list_cell(env, term, &head, &term); i++) {
        const ERL_NIF_TERM* field;
        int arity;
        int64_t id, stamp;
        if (enif_get_tuple(env, head, &arity, &field) && arity == 2 && int64_of(env, field[0], &id)
            && int64_of(env, field[1], &stamp)) {
            betree_add_segment(list, i, betree_make_segment(id, stamp));
        }
    }
    return betree_make_segments_variable(name, list);
}

/* {{Type, Id, Namespace}, Value, Microseconds | undefined} */
static struct betree_variable* caps(ErlNifEnv* env, const char* name, ERL_NIF_TERM term, unsigned length)
{
    struct betree_frequency_caps* list = betree_make_frequency_caps(length);
    ERL_NIF_TERM head;
    for (size_t i = 0; enif_get_list_cell(env, term, &head, &term); i++) {
        const ERL_NIF_TERM* field;
        const ERL_NIF_TERM* key;
        int arity, key_arity;
        uint32_t id, value;
        int64_t stamp = 0;
        if (!enif_get_tuple(env, head, &arity, &field) || arity != 3
            || !enif_get_tuple(env, field[0], &key_arity, &key) || key_arity != 3
            || !uint32_of(env, key[1], &id) || !uint32_of(env, field[1], &value)) {
            continue;
        }
        bool defined = !enif_is_identical(field[2], atom_undefined);
        if (defined && !int64_of(env, field[2], &stamp)) {
            continue;
        }
        char* type = text_of(env, key[0]);
        char* ns = text_of(env, key[2]);
        betree_add_frequency_cap(list, i, betree_make_frequency_cap(type, id, ns, defined, stamp, value));
        enif_free(type);
        enif_free(ns);
    }
    return betree_make_frequency_caps_variable(name, list);
}

static struct betree_variable* variable(ErlNifEnv* env, struct betree_variable_definition attribute, ERL_NIF_TERM term)
{
    struct betree_variable* made = NULL;
    int64_t integer;
    double number;
    unsigned length;
    switch (attribute.type) {
    case BETREE_BOOLEAN:
        if (enif_is_identical(term, atom_true) || enif_is_identical(term, atom_false)) {
            made = betree_make_boolean_variable(attribute.name, enif_is_identical(term, atom_true));
        }
        break;
    case BETREE_INTEGER:
    case BETREE_INTEGER_ENUM:
        if (int64_of(env, term, &integer)) {
            made = betree_make_integer_variable(attribute.name, integer);
        }
        break;
    case BETREE_FLOAT:
        if (double_of(env, term, &number)) {
            made = betree_make_float_variable(attribute.name, number);
        }
        break;
    case BETREE_STRING:
        if (enif_is_binary(env, term)) {
            char* value = text_of(env, term);
            made = betree_make_string_variable(attribute.name, value);
            enif_free(value);
        }
        break;
    default:
        if (!enif_get_list_length(env, term, &length)) {
            break;
        }
        if (attribute.type == BETREE_INTEGER_LIST) {
            made = integer_list(env, attribute.name, term, length);
        } else if (attribute.type == BETREE_STRING_LIST) {
            made = string_list(env, attribute.name, term, length);
        } else if (attribute.type == BETREE_SEGMENTS) {
            made = segments(env, attribute.name, term, length);
        } else {
            made = caps(env, attribute.name, term, length);
        }
    }
    return made;
}

/* An event of a list of tuples, or NULL. */
static struct betree_event* make_event(ErlNifEnv* env, const struct tree* tree, ERL_NIF_TERM list)
{
    struct betree_event* event = betree_make_event(tree->tree);
    size_t at = 0;
    ERL_NIF_TERM head;
    while (event != NULL && enif_get_list_cell(env, list, &head, &list)) {
        const ERL_NIF_TERM* value;
        int arity;
        bool fits = enif_get_tuple(env, head, &arity, &value) && arity > 0
            && (size_t)arity - 1 <= tree->count - at;
        for (int i = 1; fits && i < arity; i++, at++) {
            if (!enif_is_identical(value[i], atom_undefined)) {
                struct betree_variable* made = variable(env, tree->attributes[at], value[i]);
                betree_set_variable(event, at, made);
                fits = made != NULL;
            }
        }
        if (!fits) {
            betree_free_event(event);
            return NULL;
        }
    }
    return event;
}

/* The event of a term, and whether the caller frees it; NULL if the term is none. */
static struct betree_event* event_of(ErlNifEnv* env, const struct tree* tree, ERL_NIF_TERM term, bool* is_own)
{
    struct event* made;
    *is_own = enif_is_list(env, term);
    if (*is_own) {
        return make_event(env, tree, term);
    }
    return enif_get_resource(env, term, event_type, (void**)&made) ? made->event : NULL;
}

/* Trees */

static void free_tree(ErlNifEnv* env, void* object)
{
    struct tree* tree = object;
    (void)env;
    betree_free(tree->tree);
    enif_free(tree->attributes);
}

static bool add_attribute(ErlNifEnv* env, struct betree* tree, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM* field;
    int arity;
    if (!enif_get_tuple(env, term, &arity, &field) || arity < 3 || arity > 5) {
        return false;
    }
    bool undefined = enif_is_identical(field[2], atom_allow_undefined);
    if (!undefined && !enif_is_identical(field[2], atom_disallow_undefined)) {
        return false;
    }
    int64_t low = INT64_MIN, high = INT64_MAX, count = INT64_MAX;
    double least = -__builtin_inf(), greatest = __builtin_inf();
    bool counts = arity <= 4 && (arity < 4 || (int64_of(env, field[3], &count) && count >= 0));
    bool ranges = arity == 3
        || (arity == 5 && int64_of(env, field[3], &low) && int64_of(env, field[4], &high));
    bool floats = arity == 3
        || (arity == 5 && double_of(env, field[3], &least) && double_of(env, field[4], &greatest));
    char* name = text_of(env, field[0]);
    char* type = enif_is_atom(env, field[1]) ? text_of(env, field[1]) : NULL;
    bool known = name != NULL && type != NULL;
    if (!known) {
    } else if (strcmp(type, "bool") == 0 && arity == 3) {
        betree_add_boolean_variable(tree, name, undefined);
    } else if ((strcmp(type, "int") == 0 || strcmp(type, "int64") == 0) && ranges) {
        betree_add_integer_variable(tree, name, undefined, low, high);
    } else if (strcmp(type, "float") == 0 && floats) {
        betree_add_float_variable(tree, name, undefined, least, greatest);
    } else if (strcmp(type, "bin") == 0 && counts) {
        betree_add_string_variable(tree, name, undefined, (size_t)count);
    } else if (strcmp(type, "int_list") == 0 && ranges) {
        betree_add_integer_list_variable(tree, name, undefined, low, high);
    } else if (strcmp(type, "bin_list") == 0 && counts) {
        betree_add_string_list_variable(tree, name, undefined, (size_t)count);
    } else if (strcmp(type, "int_enum") == 0 && counts) {
        betree_add_integer_enum_variable(tree, name, undefined, (size_t)count);
    } else if (strcmp(type, "segments") == 0 && arity == 3) {
        betree_add_segments_variable(tree, name, undefined);
    } else if (strcmp(type, "frequency_caps") == 0 && arity == 3) {
        betree_add_frequency_caps_variable(tree, name, undefined);
    } else {
        known = false;
    }
    enif_free(name);
    enif_free(type);
    return known;
}

static ERL_NIF_TERM nif_make(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct tree* made = enif_alloc_resource(tree_type, sizeof *made);
    memset(made, 0, sizeof *made);
    made->tree = betree_make();
    ERL_NIF_TERM lists = argv[0], list, attribute;
    bool fits = made->tree != NULL && enif_is_list(env, lists);
    while (fits && enif_get_list_cell(env, lists, &list, &lists)) {
        fits = enif_is_list(env, list);
        while (fits && enif_get_list_cell(env, list, &attribute, &list)) {
            /* What was refused is not there afterwards. */
            fits = add_attribute(env, made->tree, attribute)
                && betree_get_variable_definition(made->tree, made->count).name != NULL;
            made->count++;
        }
    }
    made->attributes = enif_alloc((made->count + 1) * sizeof *made->attributes);
    for (size_t i = 0; fits && i < made->count; i++) {
        made->attributes[i] = betree_get_variable_definition(made->tree, i);
    }
    ERL_NIF_TERM term = fits ? ok(env, enif_make_resource(env, made)) : enif_make_badarg(env);
    enif_release_resource(made);
    return term;
}

/* Subscriptions */

static void free_sub(ErlNifEnv* env, void* object)
{
    struct sub* sub = object;
    (void)env;
    enif_release_resource(sub->owner);
}

#define CONSTANTS_MAX 16

static ERL_NIF_TERM nif_make_sub(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct tree* tree;
    ErlNifUInt64 id;
    struct betree_constant* constants[CONSTANTS_MAX];
    size_t count = 0;
    ERL_NIF_TERM list = argv[2], head;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree) || !enif_get_uint64(env, argv[1], &id)) {
        return enif_make_badarg(env);
    }
    char* text = text_of(env, argv[3]);
    bool fits = text != NULL && enif_is_list(env, list);
    while (fits && enif_get_list_cell(env, list, &head, &list)) {
        const ERL_NIF_TERM* field;
        int arity;
        int64_t value;
        fits = count < CONSTANTS_MAX && enif_get_tuple(env, head, &arity, &field) && arity == 2
            && int64_of(env, field[1], &value);
        if (fits) {
            char* name = text_of(env, field[0]);
            constants[count] = betree_make_integer_constant(name, value);
            fits = constants[count] != NULL;
            count += fits;
            enif_free(name);
        }
    }
    const struct betree_sub* made = NULL;
    if (fits) {
        /* Expressions may have values outside the bounds, as in erl-be-tree. */
        betree_change_boundaries(tree->tree, text);
        made = betree_make_sub(tree->tree, id, count, (const struct betree_constant**)constants, text);
    }
    betree_free_constants(count, constants);
    enif_free(text);
    if (!fits) {
        return enif_make_badarg(env);
    }
    if (made == NULL) {
        return failed(env);
    }
    struct sub* sub = enif_alloc_resource(sub_type, sizeof *sub);
    sub->sub = made;
    sub->owner = tree;
    enif_keep_resource(tree);
    ERL_NIF_TERM term = enif_make_resource(env, sub);
    enif_release_resource(sub);
    return ok(env, term);
}

static ERL_NIF_TERM nif_insert_sub(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct tree* tree;
    struct sub* sub;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree)
        || !enif_get_resource(env, argv[1], sub_type, (void**)&sub) || sub->owner != tree) {
        return enif_make_badarg(env);
    }
    return betree_insert_sub(tree->tree, sub->sub) ? atom_ok : failed(env);
}

/* Events */

static void free_event(ErlNifEnv* env, void* object)
{
    struct event* event = object;
    (void)env;
    betree_free_event(event->event);
}

static ERL_NIF_TERM timed(ErlNifEnv* env, ERL_NIF_TERM value, ErlNifTime begin)
{
    ErlNifTime end = enif_monotonic_time(ERL_NIF_USEC);
    return enif_make_tuple2(env, value, enif_make_int64(env, end - begin));
}

static ERL_NIF_TERM nif_make_event(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifTime begin = enif_monotonic_time(ERL_NIF_USEC);
    struct tree* tree;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree) || !enif_is_list(env, argv[1])) {
        return enif_make_badarg(env);
    }
    struct betree_event* event = make_event(env, tree, argv[1]);
    if (event == NULL) {
        return enif_make_badarg(env);
    }
    struct event* made = enif_alloc_resource(event_type, sizeof *made);
    made->event = event;
    ERL_NIF_TERM term = enif_make_resource(env, made);
    enif_release_resource(made);
    return timed(env, ok(env, term), begin);
}

/* Searches in one call */

static ERL_NIF_TERM nif_exists(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct tree* tree;
    bool is_own;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree)) {
        return enif_make_badarg(env);
    }
    struct betree_event* event = event_of(env, tree, argv[1], &is_own);
    if (event == NULL) {
        return enif_make_badarg(env);
    }
    bool exists = betree_exists_with_event(tree->tree, event);
    if (is_own) {
        betree_free_event(event);
    }
    return ok(env, exists ? atom_true : atom_false);
}

/* Searches all subscriptions, or those of a list; ids that are no ids are a bad argument. */
static bool search_now(ErlNifEnv* env, const ERL_NIF_TERM argv[], const ERL_NIF_TERM* only, ERL_NIF_TERM* found)
{
    struct tree* tree;
    bool is_own;
    uint64_t* ids = NULL;
    unsigned count = 0;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree)
        || (only != NULL && !enif_get_list_length(env, *only, &count))) {
        return false;
    }
    bool fits = true;
    if (only != NULL) {
        ERL_NIF_TERM list = *only, head;
        ids = enif_alloc((count + 1) * sizeof *ids);
        for (size_t i = 0; fits && enif_get_list_cell(env, list, &head, &list); i++) {
            ErlNifUInt64 id;
            fits = enif_get_uint64(env, head, &id);
            ids[i] = id;
        }
    }
    struct betree_event* event = fits ? event_of(env, tree, argv[1], &is_own) : NULL;
    if (event != NULL) {
        struct report* report = make_report();
        fits = only == NULL ? betree_search_with_event(tree->tree, event, report)
                            : betree_search_with_event_ids(tree->tree, event, report, ids, count);
        if (fits) {
            *found = ok(env, list_of(env, report));
        }
        free_report(report);
        if (is_own) {
            betree_free_event(event);
        }
    }
    enif_free(ids);
    return event != NULL && fits;
}

static ERL_NIF_TERM nif_search(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTime begin = enif_monotonic_time(ERL_NIF_USEC);
    ERL_NIF_TERM found;
    if (!search_now(env, argv, NULL, &found)) {
        return enif_make_badarg(env);
    }
    return argc == 2 ? found : timed(env, found, begin);
}

static ERL_NIF_TERM nif_search_ids(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifTime begin = enif_monotonic_time(ERL_NIF_USEC);
    ERL_NIF_TERM found;
    if (!search_now(env, argv, &argv[2], &found)) {
        return enif_make_badarg(env);
    }
    return timed(env, found, begin);
}

/* Searches in steps */

static void free_search(ErlNifEnv* env, void* object)
{
    struct search* search = object;
    (void)env;
    betree_search_release(search->search);
    enif_mutex_destroy(search->lock);
}

/* Tells the scheduler about reductions. Whether the process has used up its time. */
static bool consume(ErlNifEnv* env, uint64_t amount, uint64_t per_percent)
{
    uint64_t percent = amount / per_percent;
    return enif_consume_timeslice(env, percent < 1 ? 1 : percent > 100 ? 100 : (int)percent);
}

static ERL_NIF_TERM nif_iterator(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifTime begin = enif_monotonic_time(ERL_NIF_USEC);
    struct tree* tree;
    bool is_own;
    if (!enif_get_resource(env, argv[0], tree_type, (void**)&tree)) {
        return enif_make_badarg(env);
    }
    struct betree_event* event = event_of(env, tree, argv[1], &is_own);
    struct betree_search* begun = event == NULL ? NULL : betree_search_iterator_with_event(tree->tree, event);
    if (event != NULL && is_own) {
        betree_free_event(event);
    }
    if (begun == NULL) {
        return enif_make_badarg(env);
    }
    struct search* search = enif_alloc_resource(search_type, sizeof *search);
    search->search = begun;
    search->lock = enif_mutex_create("betree_search");
    ERL_NIF_TERM term = enif_make_resource(env, search);
    enif_release_resource(search);
    uint64_t reductions = betree_search_reductions(begun);
    consume(env, reductions, PERCENT_REDUCTIONS);
    ErlNifTime end = enif_monotonic_time(ERL_NIF_USEC);
    return ok(env,
        enif_make_tuple3(env, term, enif_make_uint64(env, reductions), enif_make_int64(env, end - begin)));
}

/* The ids of a search that is done. */
static ERL_NIF_TERM finished(ErlNifEnv* env, const struct betree_search* search)
{
    struct report* report = make_report();
    ERL_NIF_TERM found
        = betree_search_report(search, report) ? ok(env, list_of(env, report)) : enif_make_badarg(env);
    if (report != NULL) {
        consume(env, report->matched, PERCENT_IDS);
    }
    free_report(report);
    return found;
}

static ERL_NIF_TERM nif_next(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct search* search;
    ERL_NIF_TERM term;
    if (!enif_get_resource(env, argv[0], search_type, (void**)&search)) {
        return enif_make_badarg(env);
    }
    enif_mutex_lock(search->lock);
    int more = betree_search_next(search->search, STEP_REDUCTIONS);
    if (more < 0) {
        term = enif_make_badarg(env);
    } else if (more > 0) {
        consume(env, STEP_REDUCTIONS, PERCENT_REDUCTIONS);
        term = enif_make_tuple2(env, atom_continue, enif_make_list(env, 0));
    } else {
        term = finished(env, search->search);
    }
    enif_mutex_unlock(search->lock);
    return term;
}

static ERL_NIF_TERM nif_all(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    struct search* search;
    if (!enif_get_resource(env, argv[0], search_type, (void**)&search)) {
        return enif_make_badarg(env);
    }
    enif_mutex_lock(search->lock);
    int more;
    bool is_used_up = false;
    while (!is_used_up && (more = betree_search_next(search->search, PERCENT_REDUCTIONS)) == 1) {
        is_used_up = consume(env, PERCENT_REDUCTIONS, PERCENT_REDUCTIONS);
    }
    ERL_NIF_TERM term;
    if (is_used_up) {
        term = enif_schedule_nif(env, "search_all", 0, nif_all, argc, argv);
    } else {
        term = more == 0 ? finished(env, search->search) : enif_make_badarg(env);
    }
    enif_mutex_unlock(search->lock);
    return term;
}

static ERL_NIF_TERM nif_release(ErlNifEnv* env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    struct search* search;
    if (!enif_get_resource(env, argv[0], search_type, (void**)&search)) {
        return enif_make_badarg(env);
    }
    enif_mutex_lock(search->lock);
    betree_search_release(search->search);
    search->search = NULL;
    enif_mutex_unlock(search->lock);
    return atom_ok;
}

static int load(ErlNifEnv* env, void** data, ERL_NIF_TERM info)
{
    (void)data;
    (void)info;
    atom_undefined = enif_make_atom(env, "undefined");
    atom_true = enif_make_atom(env, "true");
    atom_false = enif_make_atom(env, "false");
    atom_ok = enif_make_atom(env, "ok");
    atom_error = enif_make_atom(env, "error");
    atom_failed = enif_make_atom(env, "failed");
    atom_continue = enif_make_atom(env, "continue");
    atom_allow_undefined = enif_make_atom(env, "allow_undefined");
    atom_disallow_undefined = enif_make_atom(env, "disallow_undefined");
    ErlNifResourceFlags flags = ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER;
    tree_type = enif_open_resource_type(env, NULL, "betree", free_tree, flags, NULL);
    sub_type = enif_open_resource_type(env, NULL, "betree_sub", free_sub, flags, NULL);
    event_type = enif_open_resource_type(env, NULL, "betree_event", free_event, flags, NULL);
    search_type = enif_open_resource_type(env, NULL, "betree_search", free_search, flags, NULL);
    return tree_type == NULL || sub_type == NULL || event_type == NULL || search_type == NULL;
}

/* Names, arities and functions. */
static ErlNifFunc functions[] = {
    { "betree_make", 1, nif_make, 0 },
    { "betree_make_event", 3, nif_make_event, 0 },
    { "betree_make_sub", 4, nif_make_sub, 0 },
    { "betree_insert_sub", 2, nif_insert_sub, 0 },
    { "betree_exists", 2, nif_exists, 0 },
    { "betree_search", 2, nif_search, 0 },
    { "betree_search", 3, nif_search, 0 },
    { "betree_search_ids", 4, nif_search_ids, 0 },
    { "search_iterator", 2, nif_iterator, 0 },
    { "search_next", 1, nif_next, 0 },
    { "search_all", 1, nif_all, 0 },
    { "search_iterator_release", 1, nif_release, 0 },
};

ERL_NIF_INIT(erl_betree, functions, load, NULL, NULL, NULL)
