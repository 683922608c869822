//! One suite for every backend: SQLite in a file, SQLite in memory, PostgreSQL.
//!
//! A case is an async function of a [`world::World`]: a separate, migrated, empty database.
//! PostgreSQL is included if the environment asks for it (see `testkit::postgres`).

mod admin;
mod audit;
mod books;
mod cases;
mod chain;
mod commit;
mod console;
mod console_reads;
mod constraints;
mod deliveries;
mod engines;
mod failover;
mod four_eyes;
mod jobs;
mod list_copies;
mod lists;
mod payment_deliveries;
mod rails;
mod recalls;
mod relaying;
mod relays;
mod remembered;
mod roles;
mod rows;
mod saved_views;
mod schema;
mod search;
mod sender_limits;
mod statements;
mod tampering;
mod upkeep;
mod wallet_guards;
mod wallet_office;
mod wallet_reads;
mod wallet_rows;
mod wallet_world;
mod world;

/// Defines one test per backend for each case.
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
    console:
        users_are_stored_and_their_codes_accepted_once
        a_session_is_valid_until_its_user_is_disabled
        a_user_signs_in_one_way_and_is_bound_once
        the_database_keeps_both_ways_apart
        a_departure_comes_back_once
        failed_tries_wait_longer_and_longer
        a_proposal_is_decided_once_by_another_user
        the_database_refuses_a_maker_as_checker
        a_maker_withdraws_their_own_proposal;
    four_eyes:
        waiting_proposals_do_not_delay_approved_ones
        proposals_are_listed_by_scope
        an_end_is_in_the_audit_log
        executed_proposals_are_found_in_the_audit_log
        settings_change_only_as_they_were_seen;
    cases:
        notes_are_added_and_sealed
        a_case_has_one_assignee_and_one_due_time
        files_are_sealed_and_their_number_is_bounded;
    saved_views:
        a_view_is_the_users_own_and_one_opens_first;
    list_copies:
        a_list_is_kept_whole_and_replaced_whole;
    payment_deliveries:
        payment_events_are_switched_where_batches_see_it
        deliveries_of_payment_events_are_read_with_their_events
        old_payment_events_go_with_their_deliveries_but_not_before_them;
    relays:
        a_cursor_moves_only_forward_and_only_for_the_roles_holder
        unsent_events_are_not_pruned_until_the_relay_is_forgotten;
    relaying:
        every_event_arrives_in_its_aggregates_order_despite_outages
        one_of_two_relays_sends_and_the_other_takes_over
        a_relay_sends_what_it_is_configured_for
        missing_events_stop_the_log_and_raise_an_alert
        a_late_relay_is_an_alert_of_its_tenant
        the_alert_of_a_late_relay_ends_with_its_delay
        a_relay_whose_broker_never_answered_has_positions
        a_relay_that_cannot_ask_for_its_role_does_not_say_that_another_has_it;
    schema:
        every_statement_is_prepared
        migrating_twice_does_nothing
        migrating_from_two_sides_at_once_does_it_once
        a_schema_that_was_not_migrated_is_not_ready
        a_torn_checksum_is_refused;
    rows:
        a_payment_lives_through_all_its_rows
        discarded_changes_leave_no_trace
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
        a_cancelled_caller_leaves_nothing
        a_batch_must_lock_every_tenant_that_it_names
        a_row_that_cannot_be_encoded_rolls_back_its_batch;
    remembered:
        a_decision_on_cached_rows_is_saved
        a_stale_cache_is_refused_and_leaves_nothing
        an_account_that_was_not_there_is_not_made_twice
        a_commit_of_cached_rows_can_have_an_unknown_outcome
        a_cancelled_save_of_cached_rows_lands_whole_or_not_at_all
        batches_on_cached_rows_write_one_after_the_other;
    sender_limits:
        a_senders_usage_is_summed_by_rail_and_day
        usage_begun_and_returned_in_a_batch_is_counted
        concurrent_batches_share_one_limit;
    constraints:
        a_quote_makes_one_payment
        an_external_id_is_taken_once
        only_a_rejected_attempt_frees_its_slot
        a_reservation_ends_once
        a_reference_of_prefunding_is_booked_once
        money_that_is_held_never_goes_below_zero
        versions_and_numbers_of_events_are_unique
        unknown_values_are_refused
        a_stale_write_is_refused;
    jobs:
        due_jobs_are_leased_once_and_fenced
        deliveries_are_leased_by_tenant
        a_lane_is_leased_by_signer
        jobs_are_leased_by_chain
        an_expired_lease_is_taken_again
        a_node_that_stops_gives_its_jobs_back
        leases_of_dead_nodes_can_be_released_at_once
        jobs_that_are_not_due_wait
        kinds_are_due_while_their_jobs_have_no_lease
        every_kind_gets_its_share
        a_batch_that_saw_an_older_fence_is_decided_again
        a_role_has_one_holder_at_a_time
        holders_of_roles_and_working_nodes_are_listed;
    lists:
        lists_are_ordered_filtered_and_paged
        searches_are_exact
        other_tenants_are_never_listed;
    console_reads:
        payments_are_listed_newest_first_after_a_mark
        pages_of_payments_lead_both_ways
        payments_are_listed_by_amount_account_reference_rail_and_review
        payments_in_review_are_counted_and_listed
        quotes_come_newest_first
        quotes_are_filtered_by_state_country_and_time
        accepted_payments_are_counted_over_a_period
        a_trial_balance_is_that_of_its_time
        accounts_show_what_moved_over_them
        a_payments_story_is_all_there
        every_id_leads_to_its_thing
        a_freeze_leads_to_its_wallet
        an_outgoing_transaction_leads_to_its_purpose;
    books:
        balances_are_the_fold_of_the_transfers
        a_wrong_balance_is_named
        transfers_are_read_in_pages
        amounts_paid_by_rails_are_read_with_our_accounts;
    rails:
        a_page_of_a_statement_is_kept_once
        an_attempt_is_found_by_each_of_its_ids
        a_payment_without_an_attempt_is_named_by_its_id
        a_batch_booking_is_kept_as_its_transactions
        statements_that_end_together_follow_their_balances
        entries_are_given_to_the_attempts_that_they_name
        payouts_without_an_entry_are_found
        sheets_are_put_together_from_pages
        breaks_are_noted_once_and_closed_with_their_alerts
        unmatched_reports_are_kept_once;
    recalls:
        a_recall_lives_through_all_its_rows
        the_message_of_an_attempt_is_found
        a_recall_is_known_by_its_message
        a_payment_has_one_open_recall
        what_is_written_to_a_bank_is_sealed_and_the_tenants_own;
    statements:
        an_account_is_summed_up_before_in_and_after_a_period
        a_wallet_has_movements_of_its_own
        reservations_are_found_that_were_open_at_an_instant
        references_are_those_of_the_tenant
        references_of_fundings_are_those_of_their_audit_entries;
    search:
        payments_are_found_by_what_is_known_about_them
        a_search_is_bounded_by_its_days_and_its_tenant
        records_are_found_by_the_beginning_of_their_id
        references_are_found_by_their_beginning
        references_are_found_by_a_part_of_them
        wallet_records_are_found_by_what_is_known_about_them
        a_search_for_wallet_records_is_bounded
        a_search_goes_on_beyond_candidates_that_do_not_match
        earlier_payments_are_indexed_once;
    upkeep:
        idempotency_is_kept_and_replaced
        the_answer_under_a_key_is_kept_sealed
        old_rows_are_removed_and_young_ones_kept
        quotes_that_ran_out_are_found
        pruning_says_whether_more_may_be_left
        discrepancies_are_noted_once
        a_payment_without_a_job_is_found;
    admin:
        tenants_are_kept_with_their_policies
        a_policy_has_a_number_that_rises_with_each_change
        records_of_customers_are_kept_by_tenant_and_noted
        a_database_belongs_to_one_environment
        a_brand_is_kept_whole_under_a_version_of_its_own
        access_keys_are_sealed_rotated_and_revoked
        sealed_values_open_only_where_they_belong
        a_new_key_encryption_key_opens_what_the_old_one_sealed
        cursors_and_values_are_stored;
    audit:
        each_change_of_an_administrator_is_one_entry
        a_change_that_is_refused_leaves_no_entry
        before_and_after_are_recorded_without_secrets
        entries_of_a_batch_are_in_its_commit
        concurrent_writers_append_in_order
        entries_are_filtered_and_paged
        entries_are_found_by_number_thing_and_request
        entries_of_older_versions_are_chained;
    tampering:
        an_edited_entry_is_found
        a_deleted_entry_is_found
        an_inserted_entry_is_found
        an_entry_after_the_end_is_found
        reordered_entries_are_found
        a_tail_that_was_cut_off_is_found
        a_rewritten_chain_is_detected
        a_removed_chain_is_detected
        a_chain_is_verified_in_parts
        checkpoints_are_signed_by_a_key_that_is_trusted
        a_broken_chain_is_not_signed;
    wallet_rows:
        a_wallet_is_loaded_as_it_was_saved
        a_request_is_loaded_with_the_senders_that_are_named
        refund_addresses_are_stored_per_answer
        a_deposit_is_loaded_as_it_was_saved
        an_exchange_order_is_loaded_with_its_attempts
        every_plan_of_an_intent_is_kept
        the_gas_of_sponsored_transfers_is_kept_by_chain_and_day
        a_sweep_is_kept_and_there_is_one_at_a_time_of_a_coin
        a_transaction_keeps_all_that_was_signed
        accounts_of_vaults_are_loaded_by_name
        records_of_idempotency_keys_are_stored
        foreign_wallet_things_are_not_found
        a_command_sees_every_row_once;
    wallet_guards:
        a_customer_has_one_wallet_on_a_chain
        a_link_leads_to_one_request
        a_log_is_credited_once_across_tenants
        a_nonce_and_a_release_are_used_once
        a_stale_write_of_a_wallet_is_refused
        wallet_events_have_one_number_each
        unknown_values_of_wallets_are_refused
        documents_open_only_where_they_belong;
    wallet_reads:
        the_money_of_requests_is_added_up_by_where_it_is
        a_wallets_history_is_merged_filtered_and_paged
        the_controller_in_use_is_that_of_the_newest_ready_wallet
        requests_are_listed_by_state
        deposits_are_found_by_what_they_wait_for
        velocity_counts_what_came_and_what_was_refused
        dust_is_found_by_its_vault_the_largest_first
        open_orders_of_a_wallet_are_found
        books_of_vaults_stand_beside_their_logs
        permitted_differences_of_chain_and_books_are_summed_up
        open_records_have_a_job;
    wallet_office:
        wallets_are_listed_newest_first
        requests_and_orders_are_listed_by_state_and_time
        orders_in_review_are_paged_oldest_first
        deposits_are_listed_by_when_they_were_seen
        a_decision_shifts_no_deposit_that_waits_for_review;
    chain:
        blocks_are_ingested_once_and_rewound
        old_headers_go_and_logs_stay
        a_node_that_lost_the_role_writes_nothing
        a_batch_knows_who_holds_the_roles_of_its_commands
        token_states_are_stored
        vaults_are_watched_from_the_commit_that_makes_them
        open_transactions_and_intents_are_found
        alerts_stay_open_until_closed
        unsupported_tokens_are_noted_once
        what_a_controller_is_made_of_is_kept_once
        chains_keep_their_numbers
        chains_are_kept_apart;
    deliveries:
        wallet_events_are_numbered_and_kept
        deliveries_are_followed_by_aggregate_and_in_the_log
        old_events_go_with_their_deliveries_but_not_before_them
        receivers_are_sealed_rotated_and_switched_off
        the_first_url_of_an_endpoint_enables_it
        a_batch_switches_a_receiver_off
        permits_never_exceed_the_limit;
}
