//! The columns of a payment export, shared by `corridor payments export` and the console.
//! Independent of the source of the payments and the file format.

/// Declares the columns in order, so that names, fields and cells stay in step.
macro_rules! columns {
    (
        payment { $($(#[$doc:meta])* $name:ident,)* }
        order { $($field:ident,)* }
    ) => {
        /// Column names, as in the header row.
        pub const COLUMNS: &[&str] = &[$(stringify!($name),)* $(stringify!($field),)*];

        /// The columns that are fields of the order, named like these.
        const ORDER_COLUMNS: [&str; [$(stringify!($field)),*].len()] = [$(stringify!($field)),*];

        /// One payment: the text of each column, empty if there is no value.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct PaymentLine {
            $($(#[$doc])* pub $name: String,)*
            /// The cells of the order's columns, by [`order_cells`].
            pub order: [String; ORDER_COLUMNS.len()],
        }

        impl PaymentLine {
            /// The cells in the order of [`COLUMNS`].
            pub fn cells(self) -> impl Iterator<Item = String> {
                [$(self.$name),*].into_iter().chain(self.order)
            }
        }
    };
}

/// The cells of the order's columns: `value` gives the text of a field.
pub fn order_cells(value: impl Fn(&str) -> String) -> [String; ORDER_COLUMNS.len()] {
    ORDER_COLUMNS.map(value)
}

columns! {
    payment {
        id,
        /// External id, set by the client.
        external_id,
        status,
        /// Time of acceptance, RFC 3339.
        accepted_at,
        /// Time of the last status change, RFC 3339.
        changed_at,
        /// Destination, ISO 3166-1 alpha-3.
        country,
        quote,
        /// Amount that the payer pays.
        amount,
        /// Currency code of `amount`.
        currency,
        /// Amount that the beneficiary receives.
        amount_destination,
        /// Currency of the beneficiary's amount.
        currency_destination,
        /// Units of the beneficiary's currency per unit of the payer's.
        rate,
        /// Amount debited from the prefunded account, without fees.
        wallet_amount,
        /// Service fee, in the same stablecoin.
        wallet_premium,
        /// Cost of the payout, in the same stablecoin.
        wallet_txn_cost,
        /// Currency code of the stablecoin.
        wallet_currency,
        /// Reference of the paying bank.
        bank_reference,
        /// Message to the client.
        msg,
    }
    order {
        beneficiary_name,
        beneficiary_account_number,
        bank_branch_code,
        sender_name,
        sender_relation,
        purpose_code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_match_their_columns() {
        let line = PaymentLine {
            id: "a".to_owned(),
            rate: "b".to_owned(),
            order: order_cells(|field| format!("of {field}")),
            ..PaymentLine::default()
        };
        let cells: Vec<String> = line.cells().collect();
        assert_eq!(cells.len(), COLUMNS.len());
        for (name, text) in
            [("id", "a"), ("rate", "b"), ("sender_relation", "of sender_relation"), ("msg", "")]
        {
            let at = COLUMNS.iter().position(|column| *column == name).expect("a column");
            assert_eq!(cells[at], text, "{name}");
        }
    }

    #[test]
    fn the_orders_columns_are_its_fields() {
        for column in ORDER_COLUMNS {
            assert!(domain::order::member_names().any(|name| name == column), "{column}");
        }
    }
}
