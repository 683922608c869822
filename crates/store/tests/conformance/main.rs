//! One suite for every backend: SQLite in a file, SQLite in memory, PostgreSQL.
//!
//! A case is an async function of a [`world::World`]: a migrated, empty database of its own. PostgreSQL takes part
//! where the environment asks for it (see `testkit::postgres`).

mod admin;
mod books;
mod commit;
mod constraints;
mod engines;
mod jobs;
mod lists;
mod rows;
mod schema;
mod upkeep;
mod world;

/// Makes one test per backend of each case.
macro_rules! conformance {
    ($($module:ident: $($case:ident)+;)+) => {
        mod sqlite_file { $(mod $module { $(
            #[test]
            fn $case() {
                crate::world::on_sqlite_file(crate::$module::$case);
            }
        )+ })+ }
        mod sqlite_memory { $(mod $module { $(
            #[test]
            fn $case() {
                crate::world::on_sqlite_memory(crate::$module::$case);
            }
        )+ })+ }
        mod postgres { $(mod $module { $(
            #[test]
            fn $case() {
                crate::world::on_postgres(stringify!($case), crate::$module::$case);
            }
        )+ })+ }
    };
}

conformance! {
    schema:
        every_statement_is_prepared
        migrating_twice_does_nothing
        migrating_from_two_sides_at_once_does_it_once
        a_schema_that_was_not_migrated_is_not_ready
        a_torn_checksum_is_refused;
    rows:
        a_payment_lives_through_all_its_rows
        what_is_discarded_leaves_no_trace
        a_batch_that_changes_nothing_writes_nothing
        a_foreign_or_unknown_id_is_not_found
        a_quote_keeps_its_bound_account_to_itself
        events_come_with_what_they_are_about
        ids_are_random_outside_and_ordered_inside;
    commit:
        a_conflict_is_decided_again_on_fresh_rows
        a_conflict_that_stays_is_contended
        a_refused_batch_leaves_nothing
        a_lost_acknowledgement_is_found_to_be_committed
        a_lost_commit_is_found_never_to_land
        a_failure_before_the_commit_leaves_nothing
        asking_again_gives_the_same_answer
        event_numbers_have_no_gaps_under_concurrent_batches
        a_caller_that_goes_away_leaves_nothing
        a_batch_must_lock_every_tenant_that_it_names;
    constraints:
        a_quote_makes_one_payment
        an_external_id_is_taken_once
        only_a_refused_attempt_makes_room
        a_reservation_ends_once
        money_that_is_held_never_goes_below_zero
        versions_and_numbers_of_events_are_unique
        unknown_values_are_refused
        a_stale_write_is_refused;
    jobs:
        due_jobs_are_taken_once_and_fenced
        a_lease_that_ran_out_is_taken_again
        jobs_that_are_not_due_wait
        every_kind_gets_its_share
        a_batch_that_saw_an_older_fence_is_decided_again
        a_role_has_one_holder_at_a_time;
    lists:
        lists_are_ordered_filtered_and_paged
        searches_are_exact
        other_tenants_are_never_listed;
    books:
        balances_are_the_fold_of_the_transfers
        a_wrong_balance_is_named
        transfers_are_read_in_pages;
    upkeep:
        idempotency_is_kept_and_replaced
        old_rows_are_removed_and_young_ones_kept
        quotes_that_ran_out_are_found
        discrepancies_are_noted_once
        a_payment_without_a_job_is_found;
    admin:
        tenants_are_kept_with_their_policies
        access_keys_are_sealed_rotated_and_revoked
        sealed_values_open_only_where_they_belong
        a_new_key_encryption_key_opens_what_the_old_one_sealed
        cursors_and_values_are_remembered
        what_administrators_do_is_noted;
}
