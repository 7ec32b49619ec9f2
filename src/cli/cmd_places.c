/* fairlead places: each partition on each of its hosts. */
#include "cli/instance_listing.h"
#include "fields/place_fields.h"

static int places_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    const struct instance_listing listing = {
        .columns = &place_fields_columns,
        .target = API_PLACES,
        .empty_note = "no partition has hosts; run 'fairlead partition show' to list partitions",
    };
    return instance_listing_write(call, &listing, &values->listing, NULL, e);
}

static const struct command_example places_examples[] = {
    {.line = "fairlead places", .meaning = "where slots are free"},
    {.line = "fairlead places --sort -free", .meaning = "the most free slots first"},
    {0},
};

const struct command cmd_places = {
    .name = "places",
    .group = GROUP_POLICY,
    .summary = "list the slots of each partition on each host",
    .usage = "[OPTIONS]",
    .description =
        "A row is a place, which is a partition on one of its hosts (a queue instance of Grid Engine): the slots that running "
        "tasks use, those reserved for waiting tasks (the most at any one time, 'fairlead queue --start' says when), all slots, and "
        "those free now. Slots that another partition uses on the same host are not free.\n\n"
        "STATE is UP; DRAIN or DOWN, by the state of the partition or of the host; CLOSED while the partition's calendar closes it; OVERLOADED while a load threshold is passed; "
        "LEFT where tasks run on though the partition no longer has the host; UNATTACHED on a host that is only described. "
        "Jobs start only where it is UP. LOAD is the load_avg of the host.",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &place_fields_columns,
    .examples = places_examples,
    .see_also = "partition-show host-show queue schedule",
    .run = places_run,
};
