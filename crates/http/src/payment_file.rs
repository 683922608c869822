//! The columns of a file of payments: one definition for `corridor payments export` and the console. It knows neither
//! where the payments come from nor how the file is written.

/// Declares the columns in their order, so that names, fields and cells cannot come apart.
macro_rules! columns {
    ($($(#[$words:meta])* $name:ident,)*) => {
        /// Names of the columns, as the head line has them.
        pub const COLUMNS: &[&str] = &[$(stringify!($name)),*];

        /// One payment: the text of each column, "" where there is nothing to say.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct PaymentLine {
            $($(#[$words])* pub $name: String,)*
        }

        impl PaymentLine {
            /// The texts in the order of [`COLUMNS`].
            pub fn cells(self) -> impl Iterator<Item = String> {
                [$(self.$name),*].into_iter()
            }
        }
    };
}

columns! {
    /// The payment's id.
    id,
    /// The client's own id of it.
    external_id,
    /// How it stands.
    status,
    /// When it was accepted, RFC 3339.
    accepted_at,
    /// Since when it stands so, RFC 3339.
    changed_at,
    /// Destination, ISO 3166-1 alpha-3.
    country,
    /// Id of its quote.
    quote,
    /// What the payer pays.
    amount,
    /// Currency of that.
    currency,
    /// What the beneficiary gets.
    amount_destination,
    /// Currency of that.
    currency_destination,
    /// Units of the beneficiary's currency for one of the payer's.
    rate,
    /// What the prefunded account pays for the amount.
    wallet_amount,
    /// Our fee, in the same coin.
    wallet_premium,
    /// Cost of paying out, in the same coin.
    wallet_txn_cost,
    /// The coin.
    wallet_currency,
    /// The paying bank's reference.
    bank_reference,
    /// What the client was told.
    msg,
    /// Who gets it.
    beneficiary_name,
    /// His account.
    beneficiary_account_number,
    /// The branch of his bank.
    bank_branch_code,
    /// Who sends it.
    sender_name,
    /// How the two are related.
    sender_relation,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_under_their_names() {
        let line = PaymentLine {
            id: "a".to_owned(),
            rate: "b".to_owned(),
            sender_relation: "c".to_owned(),
            ..PaymentLine::default()
        };
        let cells: Vec<String> = line.cells().collect();
        assert_eq!(cells.len(), COLUMNS.len());
        for (name, text) in [("id", "a"), ("rate", "b"), ("sender_relation", "c"), ("msg", "")] {
            let at = COLUMNS.iter().position(|column| *column == name).expect("a column");
            assert_eq!(cells[at], text, "{name}");
        }
    }
}
