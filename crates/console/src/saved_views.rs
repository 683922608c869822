//! Views of a list that users save for themselves: its filters and hidden columns under a name. One
//! of them may open with the list.

use axum::response::Response;
use domain::characters::entered;
use engine::console::{SAVED_VIEWS_MAX, SavedView};
use engine::payments::StoreError;

use super::answer::{Answer, Stop, see_other};
use super::form::Form;
use super::routes::Routes;
use super::visit::Visit;

/// Lists with saved views: the last part of their addresses.
const LISTS: [&str; 7] =
    ["payments", "quotes", "deposits", "orders", "wallets", "requests", "alerts"];
/// Fields of a list's query that are about a page and not about the view.
const PAGE_FIELDS: [&str; 3] = ["page", "after", "before"];
const NAME_MAX_CHARS: usize = 40;
const QUERY_MAX_CHARS: usize = 1_000;

const SAVE: &str = "/console/t/{tenant}/views/save";

pub(super) fn routes() -> Routes {
    Routes::new().post(SAVE, save).post("/console/t/{tenant}/views/delete", delete)
}

/// The saved views of a list as its page shows them.
#[derive(Clone, Debug)]
pub struct SavedViews {
    pub list: &'static str,
    /// The query of the page that may be saved.
    pub query: String,
    pub views: Vec<SavedView>,
    /// Actions of the forms.
    pub save: String,
    pub delete: String,
    /// The list without its query.
    pub path: String,
}

impl SavedViews {
    pub fn href(&self, view: &SavedView) -> String {
        format!("{}?{}", self.path, view.query)
    }

    pub fn is_here(&self, view: &SavedView) -> bool {
        view.query == self.query
    }
}

/// The user's views of a list, or the way to the one that it opens with.
pub(super) async fn of(
    visit: &Visit,
    list: &'static str,
) -> Result<Result<SavedViews, Response>, Stop> {
    let views = visit.console().store().saved_views(visit.user()?.id, list).await?;
    let path = visit.href(&format!("/{list}"));
    // The address of *All* ends with a question mark.
    let opening = views.iter().find(|view| view.is_default && !visit.path().contains('?'));
    if let Some(view) = opening {
        return Ok(Err(see_other(&format!("{path}?{}", view.query))));
    }
    let query = visit.query().without(&PAGE_FIELDS);
    let (save, delete) = (visit.href("/views/save"), visit.href("/views/delete"));
    Ok(Ok(SavedViews { list, query, views, save, delete, path }))
}

/// The list in the form, and its address with the form's query.
fn list(visit: &Visit) -> Result<(&'static str, String, String), Stop> {
    let given = visit.form().text("list");
    let list = LISTS.into_iter().find(|list| *list == given).ok_or(Stop::NotFound)?;
    let query = Form::of(visit.form().text("query")).without(&PAGE_FIELDS);
    if query.len() > QUERY_MAX_CHARS {
        return Err(Stop::Invalid("These filters are too long to be saved.".to_owned()));
    }
    let href = format!("{}?{query}", visit.href(&format!("/{list}")));
    Ok((list, query, href))
}

async fn save(visit: Visit) -> Answer {
    let (list, query, href) = list(&visit)?;
    let rule = || Stop::Invalid(format!("Name: enter 1 to {NAME_MAX_CHARS} printable characters."));
    let name = entered(visit.form().text("name"), NAME_MAX_CHARS).ok_or_else(rule)?;
    let is_default = visit.form().given("default").is_some();
    let view = SavedView { name: name.to_owned(), query, is_default };
    let saved = visit.console().store().save_view(visit.user()?.id, list, &view).await;
    saved.map_err(|error| match error {
        StoreError::Conflict(_) => Stop::Refused(format!(
            "A list has at most {SAVED_VIEWS_MAX} saved views: delete one first."
        )),
        other => other.into(),
    })?;
    Ok(visit.done(&href, "The view is saved."))
}

async fn delete(visit: Visit) -> Answer {
    let (list, _, href) = list(&visit)?;
    let name = visit.form().text("name");
    visit.console().store().delete_view(visit.user()?.id, list, name).await?;
    Ok(visit.done(&href, "The view is deleted."))
}
