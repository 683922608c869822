//! Views of lists that users of the console saved for themselves.

use domain::audit::INSTALLATION;
use domain::ids::UserId;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::sealed::AssociatedData;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Maximum number of views of one list and user.
pub const SAVED_VIEWS_MAX: usize = 20;

static NO_DEFAULT: Stmt = Stmt::written(
    "saved_view.no_default",
    "UPDATE saved_view SET is_default = 0 WHERE user_id = $1 AND list = $2 AND is_default = 1",
);
// A view of the same name is replaced, also beyond the limit.
static SAVE: Stmt = Stmt::written(
    "saved_view.save",
    "INSERT INTO saved_view (user_id, list, name, query, is_default) SELECT $1, $2, $3, $4, $5 \
     WHERE (SELECT COUNT(*) FROM saved_view v WHERE v.user_id = $1 AND v.list = $2 AND v.name <> $3) < $6 \
     ON CONFLICT (user_id, list, name) DO UPDATE SET query = excluded.query, is_default = excluded.is_default",
);
static DELETE: Stmt = Stmt::written(
    "saved_view.delete",
    "DELETE FROM saved_view WHERE user_id = $1 AND list = $2 AND name = $3",
);
static OF_LIST: Stmt = Stmt::written(
    "saved_view.of_list",
    "SELECT v.name, v.query, v.is_default FROM saved_view v WHERE v.user_id = $1 AND v.list = $2 ORDER BY v.name",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&NO_DEFAULT, &SAVE, &DELETE, &OF_LIST];

/// A view of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedView {
    pub name: String,
    /// Filters and hidden columns, as in the list's address.
    pub query: String,
    /// Whether the list opens with it.
    pub is_default: bool,
}

/// Where a view's query is sealed.
fn row_of(user: UserId, list: &str, name: &str) -> Vec<u8> {
    [user.0.as_bytes(), list.as_bytes(), &[0], name.as_bytes()].concat()
}

fn place(row: &[u8]) -> AssociatedData<'_> {
    AssociatedData { tenant: INSTALLATION, column: "saved_view.query", row }
}

impl Store {
    /// Saves a view of a list; it replaces the one of the same name, and a default view the earlier
    /// default.
    ///
    /// # Errors
    /// `Conflict` if the list has [`SAVED_VIEWS_MAX`] other views.
    pub async fn save_view(
        &self,
        user: UserId,
        list: &str,
        view: &SavedView,
    ) -> Result<(), StoreError> {
        let stored = self.id_keys().await?.stored(user.0);
        let row = row_of(user, list, &view.name);
        let sealed = self.vault().seal(place(&row), view.query.as_bytes());
        let params: Vec<Value> = vec![
            stored.into(),
            list.into(),
            view.name.as_str().into(),
            sealed.into(),
            i64::from(view.is_default).into(),
            most(SAVED_VIEWS_MAX),
        ];
        let cleared = Step::any(&NO_DEFAULT, vec![stored.into(), list.into()]);
        let mut steps: Vec<Step> = view.is_default.then_some(cleared).into_iter().collect();
        steps.push(Step::one(&SAVE, params));
        self.write(steps).await.map(drop)
    }

    pub async fn delete_view(
        &self,
        user: UserId,
        list: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let user = self.id_keys().await?.stored(user.0);
        let params = vec![user.into(), list.into(), name.into()];
        self.write(vec![Step::any(&DELETE, params)]).await.map(drop)
    }

    /// A user's views of a list, by name.
    pub async fn saved_views(
        &self,
        user: UserId,
        list: &str,
    ) -> Result<Vec<SavedView>, StoreError> {
        let stored = self.id_keys().await?.stored(user.0);
        let mut views = Vec::new();
        for row in self.query(&OF_LIST, vec![stored.into(), list.into()]).await? {
            let mut fields = row.fields();
            let name = fields.text()?.to_owned();
            let query = self.vault().open(place(&row_of(user, list, &name)), fields.bytes()?)?;
            let query = String::from_utf8(query.to_vec())
                .map_err(|_| StoreError::Corrupt("saved_view.query: not UTF-8".to_owned()))?;
            views.push(SavedView { name, query, is_default: fields.flag()? });
        }
        Ok(views)
    }
}
