/* Users by age, country, plan and score: two subscriptions, one event. */

#include "betree.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    struct betree* tree = betree_make();
    betree_add_integer_variable(tree, "age", false, 0, 120);
    betree_add_string_variable(tree, "country", false, 300);
    betree_add_boolean_variable(tree, "premium", true);
    betree_add_float_variable(tree, "score", true, 0.0, 10.0);

    if (!betree_insert(tree, 1, "age >= 18 and country = \"FR\"")
        || !betree_insert(tree, 2, "premium and score > 7.5")) {
        fprintf(stderr, "%s\n", betree_last_error());
        return 1;
    }

    struct report* report = make_report();
    const char* event = "{\"age\": 30, \"country\": \"FR\", \"premium\": true, \"score\": 6.25}";
    if (!betree_search(tree, event, report)) {
        fprintf(stderr, "%s\n", betree_last_error());
        return 1;
    }
    printf("%zu matches\n", report->matched);
    for (size_t i = 0; i < report->matched; i++) {
        printf("subscription %" PRIu64 "\n", report->subs[i]);
    }

    free_report(report);
    betree_free(tree);
    return 0;
}
