//! Enums whose values have a fixed name: on the wire, in the store, in the configuration.

/// Declares an enum together with its names, each next to its value. The text after the colon
/// says where the names are used, and documents `name`.
///
/// The enum gets `ALL` (its values in the order of their declaration), `name` and `parse`, which
/// is case-sensitive.
#[macro_export]
macro_rules! names {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident: $used:literal {
            $($(#[$of_value:meta])* $value:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$of_value])* $value,)+
        }

        impl $type {
            /// All values, in the order of their declaration.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            #[doc = $used]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// Parses the name, case-sensitive.
            pub fn parse(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$value),)+
                    _ => None,
                }
            }
        }
    };
}
