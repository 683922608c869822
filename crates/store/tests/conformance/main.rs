//! One suite for every backend: SQLite in a file, SQLite in memory, PostgreSQL.
//!
//! A case is an async function of a [`world::World`]: a migrated, empty database of its own. PostgreSQL takes part
//! where the environment asks for it (see `testkit::postgres`).

mod admin;
mod books;
mod chain;
mod commit;
mod constraints;
mod deliveries;
mod engines;
mod jobs;
mod lists;
mod rows;
mod schema;
mod upkeep;
mod wallet_guards;
mod wallet_reads;
mod wallet_rows;
mod wallet_world;
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
        transfers_are_read_in_pages
        what_rails_paid_stands_beside_our_accounts_there;
    upkeep:
        idempotency_is_kept_and_replaced
        the_answer_under_a_key_is_kept_sealed
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
    wallet_rows:
        a_wallet_is_loaded_as_it_was_saved
        a_request_is_loaded_with_the_newest_sender
        a_deposit_is_loaded_as_it_was_saved
        an_exchange_order_is_loaded_with_its_attempts
        every_plan_of_an_intent_is_kept
        a_transaction_keeps_all_that_was_signed
        accounts_of_vaults_are_loaded_by_name
        what_an_idempotency_key_made_is_kept
        foreign_wallet_things_are_not_found
        a_command_sees_every_row_once;
    wallet_guards:
        a_customer_has_one_wallet_on_a_chain
        a_link_leads_to_one_request
        a_log_is_credited_once_whosever_it_is
        a_nonce_and_a_release_are_used_once
        a_stale_write_of_a_wallet_is_refused
        wallet_events_have_one_number_each
        unknown_values_of_wallets_are_refused
        documents_open_only_where_they_belong;
    wallet_reads:
        a_wallets_history_is_merged_filtered_and_paged
        requests_are_listed_by_state
        deposits_are_found_by_what_they_wait_for
        velocity_counts_what_came_and_what_was_refused
        open_orders_of_a_wallet_are_found
        books_of_vaults_stand_beside_their_logs
        what_chain_and_books_need_not_agree_about_is_summed_up
        what_is_not_at_its_end_has_a_job;
    chain:
        blocks_are_taken_in_once_and_rewound
        old_headers_go_and_logs_stay
        who_lost_the_role_writes_nothing
        states_of_tokens_are_remembered
        vaults_are_watched_from_the_commit_that_makes_them
        open_transactions_and_intents_are_found
        alerts_lie_open_until_somebody_closes_them
        unsupported_tokens_are_noted_once;
    deliveries:
        wallet_events_are_numbered_and_kept
        deliveries_are_followed_by_aggregate_and_in_the_log
        old_events_go_with_their_deliveries_but_not_before_them
        receivers_are_sealed_rotated_and_switched_off
        a_batch_switches_a_receiver_off
        permits_never_exceed_the_limit;
}
