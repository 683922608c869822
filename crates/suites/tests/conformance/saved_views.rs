//! Views of lists that users of the console saved.

use domain::ids::UserId;
use store::{SAVED_VIEWS_MAX, SavedView, StoreError};
use uuid::Uuid;

use crate::world::World;

fn view(name: &str, query: &str, is_default: bool) -> SavedView {
    SavedView { name: name.to_owned(), query: query.to_owned(), is_default }
}

pub async fn a_view_is_the_users_own_and_one_opens_first(world: World) {
    let store = &world.store;
    let (ayesha, omar) = (UserId(Uuid::new_v4()), UserId(Uuid::new_v4()));
    let of = async |user| store.saved_views(user, "payments").await.expect("read");
    let (first, second) =
        (view("mine", "account=6702", true), view("failed", "status=failed", true));
    store.save_view(ayesha, "payments", &first).await.expect("saved");
    store.save_view(ayesha, "payments", &second).await.expect("saved");
    store.save_view(ayesha, "deposits", &first).await.expect("saved");
    let no_longer = view("mine", "account=6702", false);
    assert_eq!(of(ayesha).await, [second.clone(), no_longer.clone()], "one default of a list");
    assert_eq!(store.saved_views(ayesha, "deposits").await, Ok(vec![first]));
    assert_eq!(of(omar).await, []);
    let changed = view("failed", "status=failed&country=PAK", false);
    store.save_view(ayesha, "payments", &changed).await.expect("replaced");
    store.delete_view(omar, "payments", "mine").await.expect("nothing of another user");
    assert_eq!(of(ayesha).await, [changed, no_longer]);
    // As text, or as the digits of `=6702`.
    let plain = "SELECT COUNT(*) FROM saved_view WHERE CAST(query AS TEXT) LIKE '%account=6702%' \
                 OR CAST(query AS TEXT) LIKE '%3d36373032%'";
    if let Some(answer) = world.sql(&format!("DELETE FROM saved_view WHERE 0 < ({plain})")).await {
        assert_eq!(answer, Ok(0), "queries are sealed");
    }
    for number in 2..SAVED_VIEWS_MAX {
        let more = view(&number.to_string(), "", false);
        store.save_view(ayesha, "payments", &more).await.expect("saved");
    }
    let refused = store.save_view(ayesha, "payments", &view("one more", "", false)).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    store.save_view(ayesha, "payments", &view("mine", "", false)).await.expect("replaced");
    store.delete_view(ayesha, "payments", "mine").await.expect("deleted");
    assert_eq!(of(ayesha).await.len(), SAVED_VIEWS_MAX - 1);
}
