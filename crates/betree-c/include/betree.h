/*
 * betree for C and C++: boolean expressions matched against events, with the calls of the C library be-tree.
 * `cargo xtask codegen` writes this file from crates/betree-c/src.
 *
 * Null pointers are safe everywhere. Any other pointer must be one that a function here returned and that was neither
 * freed nor given up since. Except for trees, one thread at a time uses what a pointer points to. Strings are UTF-8
 * and end with 0. A function that fails returns false, null or -1, and betree_last_error() says why.
 */

#ifndef BETREE_H
#define BETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The type of an attribute.
enum betree_value_type_e {
  // True or false.
  BETREE_BOOLEAN,
  // A 64-bit integer.
  BETREE_INTEGER,
  // A double.
  BETREE_FLOAT,
  // Text.
  BETREE_STRING,
  // A set of integers.
  BETREE_INTEGER_LIST,
  // A set of texts.
  BETREE_STRING_LIST,
  // Segments with the times at which they were entered.
  BETREE_SEGMENTS,
  // Counters of what was shown.
  BETREE_FREQUENCY_CAPS,
  // An integer that is compared only for equality.
  BETREE_INTEGER_ENUM,
};

// A value that a subscription brings along: the ids that its frequency caps count by.
struct betree_constant;

// A counter of what was shown.
struct betree_frequency_cap;

// A list of counters.
struct betree_frequency_caps;

// A list of integers.
struct betree_integer_list;

// A search in steps. It keeps the state of the tree that it began with, whatever changes later. One thread at a time
// may use it, not always the same.
struct betree_search;

// A segment with the time at which it was entered.
struct betree_segment;

// A list of segments.
struct betree_segments;

// What is behind a `struct betree`.
struct betree_state;

// A list of strings.
struct betree_string_list;

// A subscription that was made and checked, to be inserted. It belongs to its tree.
struct betree_sub;

// The value of an attribute in an event.
struct betree_variable;

// A set of boolean expressions to match against events.
//
// First add attributes with betree_add_..._variable, then insert subscriptions, then search. Attributes cannot
// be added after the first subscription. Any number of threads may use one tree, also while another one inserts or
// deletes; but freeing it must be the last use. A tree may be copied or moved as a struct, if only one of the copies
// is used and freed.
//
// An attribute that an event lacks makes a test of it false, and `not` of that test true; `<>`, `not in` and
// `none of` are false then, and `is null` is true. Where the C library be-tree finds another answer, because it
// skips part of an expression, the answer here is what these rules give.
struct betree {
  // Not for users.
  struct betree_state *state;
};

// The name and the type of an attribute.
struct betree_variable_definition {
  // The name, or null if there is no such attribute. Valid until the tree is freed.
  const char *name;
  // The type.
  enum betree_value_type_e type;
};

// An event: a variable for each attribute that it has. Users may read both fields and change none.
struct betree_event {
  // How many attributes the tree has.
  size_t variable_count;
  // The variables; null where the event lacks the attribute.
  struct betree_variable **variables;
};

// The id of a subscription.
typedef uint64_t betree_sub_t;

// What a search found. Users read the fields; make_report makes one, and a struct of zeros is one too.
struct report {
  // Expressions that were evaluated one by one.
  size_t evaluated;
  // Subscriptions that match.
  size_t matched;
  // Always 0: the C library be-tree counts tests here whose results it kept.
  size_t memoized;
  // Always 0: the C library be-tree counts tests here that it skipped.
  size_t shorted;
  // The ids of the subscriptions that match, ascending; null before the first search.
  betree_sub_t *subs;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Adds a boolean. An event may lack an attribute only if it allows undefined. A name that is taken or wrong adds
// nothing, and betree_last_error says so; the same holds for the other types.
void betree_add_boolean_variable(struct betree *tree,
                                 const char *name,
                                 bool allow_undefined);

// Adds an integer. Values of expressions must be within the bounds; events may have any.
void betree_add_integer_variable(struct betree *tree,
                                 const char *name,
                                 bool allow_undefined,
                                 int64_t min,
                                 int64_t max);

// Adds a float. Values of expressions must be within the bounds; events may have any.
void betree_add_float_variable(struct betree *tree,
                               const char *name,
                               bool allow_undefined,
                               double min,
                               double max);

// Adds a string, of which expressions have at most `count` distinct values.
void betree_add_string_variable(struct betree *tree,
                                const char *name,
                                bool allow_undefined,
                                size_t count);

// Adds a list of integers. Values of expressions must be within the bounds; events may have any.
void betree_add_integer_list_variable(struct betree *tree,
                                      const char *name,
                                      bool allow_undefined,
                                      int64_t min,
                                      int64_t max);

// Adds an integer that is compared only for equality, of which expressions have at most `count` distinct values.
void betree_add_integer_enum_variable(struct betree *tree,
                                      const char *name,
                                      bool allow_undefined,
                                      size_t count);

// Adds a list of strings, of which expressions have at most `count` distinct values.
void betree_add_string_list_variable(struct betree *tree,
                                     const char *name,
                                     bool allow_undefined,
                                     size_t count);

// Adds a list of segments.
void betree_add_segments_variable(struct betree *tree, const char *name, bool allow_undefined);

// Adds a list of frequency caps. `within_frequency_cap` reads the attribute named `frequency_caps`.
void betree_add_frequency_caps_variable(struct betree *tree,
                                        const char *name,
                                        bool allow_undefined);

// Widens the bounds of attributes so that they hold the values of an expression, which is not inserted. Where it has
// values of a string or an enum, any number of distinct values is allowed from now on. False if the expression is
// wrong or names an unknown attribute.
bool betree_change_boundaries(struct betree *tree,
                              const char *expr);

// The name and the type of an attribute, by its position from 0 in the order in which attributes were added.
struct betree_variable_definition betree_get_variable_definition(struct betree *tree,
                                                                 size_t index);

// Makes the value of a boolean. Free it with betree_free_variable, unless it was set in an event; the same holds for
// the other types.
struct betree_variable *betree_make_boolean_variable(const char *name,
                                                     bool value);

// Makes the value of an integer or an integer enum.
struct betree_variable *betree_make_integer_variable(const char *name, int64_t value);

// Makes the value of a float, which must be finite.
struct betree_variable *betree_make_float_variable(const char *name, double value);

// Makes the value of a string, which is copied.
struct betree_variable *betree_make_string_variable(const char *name, const char *value);

// Makes the value of a list of integers. The list is given up in any case.
struct betree_variable *betree_make_integer_list_variable(const char *name,
                                                          struct betree_integer_list *value);

// Makes the value of a list of strings. The list is given up in any case.
struct betree_variable *betree_make_string_list_variable(const char *name,
                                                         struct betree_string_list *value);

// Makes the value of a list of segments. The list is given up in any case.
struct betree_variable *betree_make_segments_variable(const char *name,
                                                      struct betree_segments *value);

// Makes the value of a list of counters. The list is given up in any case.
struct betree_variable *betree_make_frequency_caps_variable(const char *name,
                                                            struct betree_frequency_caps *value);

// Frees a variable. Null does nothing.
void betree_free_variable(struct betree_variable *variable);

// Makes an event that lacks all attributes of the tree. Free it with betree_free_event.
struct betree_event *betree_make_event(const struct betree *tree);

// Sets the variable at a position, by convention that of its attribute, and frees the one that was there. Null unsets
// it. The variable is given up in any case. What attribute it is of, its name says.
void betree_set_variable(struct betree_event *event,
                         size_t index,
                         struct betree_variable *variable);

// Frees an event with its variables. Null does nothing.
void betree_free_event(struct betree_event *event);

// The message of the last call of this thread that failed, in UTF-8, or null if none failed. It is valid until
// another call of this thread fails. A call that succeeds leaves it as it is.
const char *betree_last_error(void);

// Begins a search for what matches an event in JSON, which is read now. Null if the event is wrong. Release it with
// betree_search_release, finished or not.
struct betree_search *betree_search_iterator(const struct betree *tree,
                                             const char *event);

// The same with an event made of variables, which the caller keeps.
struct betree_search *betree_search_iterator_with_event(const struct betree *tree,
                                                        const struct betree_event *event);

// Continues a search for about as many reductions, at most 1,100 more: 2,000 take about a microsecond. Returns 0 when
// the search is done, 1 when there is more to do, and -1 on an error.
int betree_search_next(struct betree_search *search,
                       uint64_t reductions);

// Continues a search to its end, without a budget. False on an error.
bool betree_search_all(struct betree_search *search);

// The reductions of a search so far, reading of the event included: visits of index nodes, tests of expressions,
// elements of lists, words of the event and written ids. They do not depend on how a search is split. 0 on an error.
uint64_t betree_search_reductions(const struct betree_search *search);

// Replaces what is in a report by what a finished search found. False if it is not finished.
bool betree_search_report(const struct betree_search *search,
                          struct report *report);

// Frees a search, finished or not. Null does nothing.
void betree_search_release(struct betree_search *search);

// Makes a list of `count` integers, all 0, at most 2^24. Free it with betree_free_integer_list, unless it became the
// value of a variable.
struct betree_integer_list *betree_make_integer_list(size_t count);

// Sets one element, whose index must be below the count.
void betree_add_integer(struct betree_integer_list *list, size_t index, int64_t value);

// Frees a list. Null does nothing.
void betree_free_integer_list(struct betree_integer_list *value);

// Makes a list of `count` strings, at most 2^24, all of which must be set. Free it with betree_free_string_list,
// unless it became the value of a variable.
struct betree_string_list *betree_make_string_list(size_t count);

// Sets one element, whose index must be below the count. The string is copied.
void betree_add_string(struct betree_string_list *list, size_t index, const char *value);

// Frees a list. Null does nothing.
void betree_free_string_list(struct betree_string_list *value);

// Makes a list of `count` segments, at most 2^24, all of which must be set. Free it with betree_free_segments, unless
// it became the value of a variable.
struct betree_segments *betree_make_segments(size_t count);

// Makes a segment that was entered at `timestamp`, in microseconds. Free it with betree_free_segment, unless it was
// added to a list.
struct betree_segment *betree_make_segment(int64_t id,
                                           int64_t timestamp);

// Sets one element, whose index must be below the count. The segment is given up in any case.
void betree_add_segment(struct betree_segments *segments,
                        size_t index,
                        struct betree_segment *segment);

// Frees a segment. Null does nothing.
void betree_free_segment(struct betree_segment *value);

// Frees a list with its segments. Null does nothing.
void betree_free_segments(struct betree_segments *value);

// Makes a list of `count` counters, at most 2^24, all of which must be set. Free it with betree_free_frequency_caps,
// unless it became the value of a variable.
struct betree_frequency_caps *betree_make_frequency_caps(size_t count);

// Makes a counter. `type` is `advertiser`, `campaign`, `campaign_group`, `flight` or `product`, each also with `:ip`.
// The timestamp is in microseconds; a counter without one has expired. Free it with betree_free_frequency_cap, unless
// it was added to a list.
struct betree_frequency_cap *betree_make_frequency_cap(const char *type,
                                                       uint32_t id,
                                                       const char *ns,
                                                       bool timestamp_defined,
                                                       int64_t timestamp,
                                                       uint32_t value);

// Sets one element, whose index must be below the count. The counter is given up in any case.
void betree_add_frequency_cap(struct betree_frequency_caps *frequency_caps,
                              size_t index,
                              struct betree_frequency_cap *frequency_cap);

// Frees a counter. Null does nothing.
void betree_free_frequency_cap(struct betree_frequency_cap *value);

// Frees a list with its counters. Null does nothing.
void betree_free_frequency_caps(struct betree_frequency_caps *value);

// Makes an empty report. A search replaces what is in a report. Free it with free_report.
struct report *make_report(void);

// Frees a report with its ids. Null does nothing.
void free_report(struct report *report);

// Finds the subscriptions that match an event in JSON. False if the event is wrong, has an unknown attribute, or lacks
// one that must be defined. The first search after a change compiles what is new.
bool betree_search(const struct betree *tree,
                   const char *event,
                   struct report *report);

// The same among `count` ids only. Ids that do not exist do not match.
bool betree_search_ids(const struct betree *tree,
                       const char *event,
                       struct report *report,
                       const uint64_t *ids,
                       size_t count);

// betree_search with an event made of variables, which may be of any tree that has their names. The caller keeps
// the event.
bool betree_search_with_event(const struct betree *tree,
                              struct betree_event *event,
                              struct report *report);

// betree_search_ids with an event made of variables.
bool betree_search_with_event_ids(const struct betree *tree,
                                  struct betree_event *event,
                                  struct report *report,
                                  const uint64_t *ids,
                                  size_t count);

// Whether any subscription matches an event in JSON. Stops at the first. False if the event is wrong, too.
bool betree_exists(const struct betree *tree,
                   const char *event);

// Whether any subscription matches an event made of variables.
bool betree_exists_with_event(const struct betree *tree, struct betree_event *event);

// Makes a constant: `advertiser_id`, `campaign_id`, `campaign_group_id`, `flight_id` or `product_id`. Free it with
// betree_free_constant; subscriptions copy what they need. Null if the name is null or not UTF-8.
struct betree_constant *betree_make_integer_constant(const char *name,
                                                     int64_t integer_value);

// Frees a constant. Null does nothing.
void betree_free_constant(struct betree_constant *constant);

// Frees `count` constants, and not the array.
void betree_free_constants(size_t count, struct betree_constant **constants);

// Makes a subscription and checks its expression. It belongs to the tree and is freed with it. Null if the
// expression is wrong, names an unknown attribute, has a value outside of its bounds, or lacks a constant. Constants
// of other names are ignored.
const struct betree_sub *betree_make_sub(struct betree *tree,
                                         betree_sub_t id,
                                         size_t constant_count,
                                         const struct betree_constant *const *constants,
                                         const char *expr);

// Inserts a subscription of betree_make_sub. False if its id is taken.
bool betree_insert_sub(struct betree *tree, const struct betree_sub *sub);

// Inserts a subscription without constants. False if its id is taken or its expression is wrong.
bool betree_insert(struct betree *tree, betree_sub_t id, const char *expr);

// Inserts a subscription. False if its id is taken, or its expression is wrong or lacks a constant.
bool betree_insert_with_constants(struct betree *tree,
                                  betree_sub_t id,
                                  size_t constant_count,
                                  const struct betree_constant *const *constants,
                                  const char *expr);

// Replaces the expression and the constants of a subscription. False if there is none with this id, or as for
// betree_insert_with_constants; the subscription then stays what it was.
bool betree_update(struct betree *tree,
                   betree_sub_t id,
                   size_t constant_count,
                   const struct betree_constant *const *constants,
                   const char *expr);

// Removes a subscription. False if there is none with this id.
bool betree_delete(struct betree *tree, betree_sub_t id);

// Makes a tree without attributes. Free it with betree_free.
struct betree *betree_make(void);

// The same as betree_make. Both parameters are ignored: they shaped the index of the C library be-tree, and the
// index here needs none.
struct betree *betree_make_with_parameters(uint64_t lnode_max_cap,
                                           uint64_t min_partition_size);

// Makes a tree without attributes in a struct of the caller, whose content is overwritten. Free it with
// betree_deinit.
void betree_init(struct betree *tree);

// Frees what a tree of betree_init has, not the struct. Null does nothing.
void betree_deinit(struct betree *tree);

// Frees a tree of betree_make or betree_load, with all of its subscriptions. Events and searches of it stay valid,
// pointers to its subscriptions and to names of its attributes do not. Null does nothing.
void betree_free(struct betree *tree);

// Saves the tree, its attributes included, to a file with checksums. An existing file is replaced when the new one
// is complete.
bool betree_save(const struct betree *tree,
                 const char *path);

// Loads a file that betree_save wrote, or null. Any bytes are safe to load.
struct betree *betree_load(const char *path);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BETREE_H */
