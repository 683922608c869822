//! Overview, payments, quotes: lists, filters, files.

use domain::country::Country;
use domain::user::Role;
use http_api::payment_file::COLUMNS;
use store::AuditFilter;

use super::{has, lacks, officer};
use crate::harness::{Bank, On, on_both_stores};

on_both_stores! {
    the_overview_counts_what_was_paid
    payments_are_listed_newest_first_with_personal_data_masked
    a_wrong_filter_comes_back_on_its_list
    payments_are_filtered_by_state_country_and_day
    payments_are_filtered_by_what_is_known
    payments_are_paged_both_ways
    a_list_has_views_and_a_choice_of_columns
    lists_go_on_behind_a_mark
    payments_in_review_are_paged_both_ways
    a_file_of_payments_runs_nothing_and_masks
    quotes_are_listed_and_shown
    quotes_are_filtered_and_taken_as_a_file
    lists_are_their_banks_alone
    roles_decide_who_sees_what
}

async fn the_overview_counts_what_was_paid(on: On) {
    let bank = Bank::new(on).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    has(&viewer.get("/overview").await.page(), &["No payments in this period.", "Success rate"]);
    let paid = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &paid, "succeeded").await;
    let failed = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0001")).await;
    bank.reaches(Country::Pak, &failed, "failed").await;
    let page = viewer.get("/overview?window=1h").await.page();
    has(
        &page,
        &[
            "50.0 %",
            "1 of 2 completed payments were paid",
            "<svg viewBox=\"0 0 3000 1000\"",
            "prefund:USDT",
            "Rate age",
            "p95",
        ],
    );
    has(
        &page,
        &[
            "aria-label=\"Volume by corridor by day, stablecoin a day\"",
            "<li class=\"k1\">Pakistan</li>",
            "aria-label=\"Success rate by day, percent of the payments that ended\"",
            "1 of 2 were paid",
            "2 payments, last hour",
            "USDT available",
            "of 1,000,000.00",
        ],
    );
    has(
        &page,
        &["aria-label=\"Time to settle by day, seconds\"", "class=\"spark\"", "p95 to settle"],
    );
    assert_eq!(page.matches("<rect class=\"hit\"").count(), 90, "every day has a text");
    lacks(&page, &["style=", "onclick"]);
    let quick = viewer.refresh("/overview?window=1h", "quick").await.page();
    has(&quick, &["id=\"tile-volume-sum\"", "2 payments, last hour", "id=\"figures\""]);
    lacks(&quick, &["class=\"spark\"", "class=\"hit\""]);
    has(&viewer.refresh("/overview", "all").await.page(), &["class=\"spark\"", "class=\"hit\""]);
}

async fn payments_are_listed_newest_first_with_personal_data_masked(on: On) {
    let bank = Bank::new(on).await;
    let account = |ending| domain::order::example::account_ending(Country::Pak, ending);
    let first = bank
        .paid(Country::Pak, |order| order.text("beneficiary_name", "Zulfiqar Bhattacharya"))
        .await;
    let second = bank.paid(Country::Ind, |order| order.text("external_id", "list-2")).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/payments").await.page();
    has(&page, &[&first, &second, "Z••• B•••", "list-2", "<time datetime="]);
    assert!(page.find(&second) < page.find(&first), "the newest first");
    lacks(&page, &["Zulfiqar", "Bhattacharya", &account("6702")]);
    let page = viewer.get("/payments?status=nonsense").await.refused(422);
    has(&page, &["Unknown status."]);
}

async fn a_wrong_filter_comes_back_on_its_list(on: On) {
    let bank = Bank::new(on).await;
    let paid = bank.paid(Country::Pak, |order| order).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    for (query, rule) in [
        ("country=PAK&status=failed&account=12", "Account ending: enter at least"),
        ("country=PAK&least=abc", "Amount at least: enter an amount"),
        ("country=PAK&to=tomorrow", "enter a day such as"),
    ] {
        let page = viewer.get(&format!("/payments?{query}")).await.refused(422);
        has(&page, &[rule, "class=\"filters\"", "<option value=\"PAK\" selected", &paid]);
        let typed = query.rsplit_once('=').expect("a value").1;
        has(&page, &[&format!("value=\"{typed}\"")]);
    }
}

async fn payments_are_filtered_by_state_country_and_day(on: On) {
    let bank = Bank::new(on).await;
    let (pak, ind) = (
        bank.paid(Country::Pak, |order| order).await,
        bank.paid(Country::Ind, |order| order).await,
    );
    bank.reaches(Country::Pak, &pak, "succeeded").await;
    bank.reaches(Country::Ind, &ind, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let today = bank.running.now().date();
    for (query, shown) in [
        ("country=PAK".to_owned(), [true, false]),
        ("country=IND".to_owned(), [false, true]),
        ("status=succeeded".to_owned(), [true, true]),
        ("status=failed".to_owned(), [false, false]),
        ("status=for-people".to_owned(), [false, false]),
        (format!("from={today}&to={today}"), [true, true]),
        ("from=2999-01-01".to_owned(), [false, false]),
        ("to=2020-01-01".to_owned(), [false, false]),
    ] {
        let page = viewer.get(&format!("/payments?{query}")).await.page();
        assert_eq!([&pak, &ind].map(|id| page.contains(id)), shown, "{query}");
        assert_eq!(page.contains("No payments match."), shown == [false, false], "{query}");
    }
}

async fn payments_are_filtered_by_what_is_known(on: On) {
    let bank = Bank::new(on).await;
    let pak = bank
        .paid(Country::Pak, |order| order.ending(Country::Pak, "6702").text("external_id", "INV-1"))
        .await;
    let ind = bank.paid(Country::Ind, |order| order.text("external_id", "other")).await;
    bank.reaches(Country::Pak, &pak, "succeeded").await;
    bank.reaches(Country::Ind, &ind, "succeeded").await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let rail = {
        let (store, id) = (bank.running.store(), domain::ids::PaymentId::parse(&pak));
        let attempts = store.attempts(bank.tenant.id, id.expect("an id")).await.expect("read");
        attempts[0].rail.to_string()
    };
    for (query, shown) in [
        ("least=100&most=100&currency=AED".to_owned(), [true, true]),
        ("least=100.01&currency=AED".to_owned(), [false, false]),
        ("most=1,000,000&currency=PKR".to_owned(), [true, false]),
        ("currency=INR".to_owned(), [false, true]),
        ("account=6702&country=PAK".to_owned(), [true, false]),
        ("account=99996702".to_owned(), [false, false]),
        ("reference=INV".to_owned(), [true, false]),
        (format!("rail={rail}"), [true, false]),
        ("review=not_needed".to_owned(), [true, true]),
        ("review=waiting".to_owned(), [false, false]),
    ] {
        let page = viewer.get(&format!("/payments?{query}")).await.page();
        assert_eq!([&pak, &ind].map(|id| page.contains(id)), shown, "{query}");
    }
    let page =
        viewer.get("/payments?status=succeeded&reference=INV&review=not_needed").await.page();
    let tag = &bank.tenant.tag;
    has(
        &page,
        &[
            "aria-label=\"Filters in use\"",
            &format!(
                "/console/t/{tag}/payments?reference=INV&#38;review=not_needed\">Status: succeeded"
            ),
            "Review: not needed",
        ],
    );
    lacks(&viewer.get("/payments").await.page(), &["Filters in use"]);
    for (query, word) in [
        ("least=x", "Amount at least: enter an amount"),
        ("most=-1", "Amount at most: enter an amount"),
        ("currency=XXX", "Unknown currency"),
        ("account=12", "at least 4"),
        ("review=x", "Unknown review state"),
        ("before=x", "Unknown position"),
    ] {
        has(&viewer.get(&format!("/payments?{query}")).await.refused(422), &[word]);
    }
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let file =
        treasury.get("/payments/export.csv?reference=INV&account=PK36SCBL0000001123456702").await;
    let file = file.page();
    assert!(file.contains(&pak) && !file.contains(&ind), "{file}");
    let filter = AuditFilter { tenant: Some(bank.tenant.id), ..AuditFilter::default() };
    let entries = bank.running.store().audit_entries(&filter, 10).await.expect("read");
    let taken = entries.iter().find(|entry| entry.note.action == "export.csv").expect("an entry");
    let asked = format!("{:?}", taken.note);
    assert!(asked.contains("reference=INV") && asked.contains("6702"), "{asked}");
    assert!(!asked.contains("0000001123456702"), "account numbers are masked: {asked}");
}

/// The address of a page's link with this relation.
fn link(page: &str, relation: &str) -> Option<String> {
    let before = page.split_once(&format!("\" rel=\"{relation}\""))?.0;
    Some(before.rsplit_once("href=\"")?.1.replace("&#38;", "&"))
}

/// Maximum size of a page with a full list.
const PAGE_MAX_BYTES: usize = 60_000;

async fn payments_are_paged_both_ways(on: On) {
    let bank = Bank::new(on).await;
    let mut made = Vec::new();
    for _ in 0..52 {
        made.push(bank.paid(Country::Pak, |order| order).await);
    }
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let first = viewer.get("/payments?country=PAK").await.page();
    assert!(first.len() <= PAGE_MAX_BYTES, "{} bytes", first.len());
    assert!(!first.contains(&made[1]) && first.contains(&made[2]) && first.contains(&made[51]));
    assert_eq!(link(&first, "prev"), None);
    let second = viewer.fetch(&link(&first, "next").expect("a next page")).await.page();
    assert!(second.contains(&made[0]) && second.contains(&made[1]) && !second.contains(&made[2]));
    assert_eq!(link(&second, "next"), None);
    let previous = link(&second, "prev").expect("a previous page");
    assert!(previous.contains("country=PAK"), "{previous}");
    let back = viewer.fetch(&previous).await.page();
    assert!(made[2..].iter().all(|id| back.contains(id.as_str())) && !back.contains(&made[1]));
    assert_eq!(link(&back, "prev"), None);
    let again = viewer.fetch(&link(&back, "next").expect("a next page")).await.page();
    assert!(again.contains(&made[0]) && !again.contains(&made[2]));
}

async fn a_list_has_views_and_a_choice_of_columns(on: On) {
    let bank = Bank::new(on).await;
    let paid = bank.paid(Country::Pak, |order| order.text("external_id", "seen-once")).await;
    bank.reaches(Country::Pak, &paid, "succeeded").await;
    let (viewer, tag) = (officer(&bank, &[Role::Viewer]).await, &bank.tenant.tag);
    let list = format!("/console/t/{tag}/payments");
    let here = |name: &str, filter: &str| {
        format!("<a href=\"{list}?{filter}\" aria-current=\"page\">{name}</a>")
    };
    has(&viewer.get("/payments").await.page(), &[&here("All", ""), &paid, "seen-once"]);
    let failed = viewer.get("/payments?status=failed").await.page();
    has(&failed, &[&here("Failed", "status=failed"), "Clear the filters"]);
    lacks(
        &viewer.get("/payments?status=failed&country=PAK").await.page(),
        &["aria-current=\"page\">Failed"],
    );
    // The eighth column, "External id".
    let narrow = viewer.get("/payments?status=succeeded&hide=7").await.page();
    has(&narrow, &[&paid, &format!("{list}?status=succeeded&#38;hide=7-8\">")]);
    has(&narrow, &[&format!("{list}?status=failed&#38;hide=7\">Failed")]);
    lacks(&narrow, &["seen-once", "<th scope=\"col\">External id"]);
    // The first column stays.
    has(&viewer.get("/payments?hide=0-99").await.page(), &["Beneficiary receives", &paid]);
}

async fn lists_go_on_behind_a_mark(on: On) {
    let bank = Bank::new(on).await;
    let mut made = Vec::new();
    for _ in 0..51 {
        made.push(bank.any_quote().await.id().to_owned());
    }
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/quotes").await.page();
    assert!(
        !page.contains(&made[0]) && made[1..].iter().all(|id| page.contains(id.as_str())),
        "the newest fifty"
    );
    let next =
        page.split_once("/quotes?after=").expect("a link").1.split_once('"').expect("its end").0;
    let page = viewer.get(&format!("/quotes?after={next}")).await.page();
    assert!(page.contains(&made[0]) && !page.contains(&made[1]), "what is left");
    assert!(!page.contains("rel=\"next\""), "nothing is behind it");
    let back = turned(&page, "prev").expect("a link back");
    let page = viewer.fetch(&back).await.page();
    assert!(!page.contains(&made[0]) && made[1..].iter().all(|id| page.contains(id.as_str())));
    assert!(page.contains("rel=\"next\"") && !page.contains("rel=\"prev\""), "{page}");
    viewer.get("/quotes?before=nonsense").await.refused(422);
}

/// The address that a page's pager leads to.
fn turned(page: &str, way: &str) -> Option<String> {
    let before = page.split_once(&format!("\" rel=\"{way}\""))?.0;
    Some(before.rsplit_once("href=\"")?.1.replace("&#38;", "&"))
}

async fn payments_in_review_are_paged_both_ways(on: On) {
    let bank = Bank::new(on).await;
    let mut held = Vec::new();
    for _ in 0..51 {
        held.push(bank.paid(Country::Pak, |order| order.from("Zorblax Qibbletan")).await);
    }
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let (queue, list) = ("/review", "/payments?status=for-people");
    for path in [queue, list] {
        let first = viewer.get(path).await.page();
        assert!(held[..50].iter().all(|id| first.contains(id.as_str())), "{path}: {first}");
        assert!(turned(&first, "prev").is_none() && !first.contains(&held[50]), "{path}");
        let second = viewer.fetch(&turned(&first, "next").expect("a link")).await.page();
        assert!(second.contains(&held[50]) && !second.contains(&held[49]), "{path}: {second}");
        assert!(turned(&second, "next").is_none(), "{path}");
        let back = viewer.fetch(&turned(&second, "prev").expect("a link back")).await.page();
        assert!(held[..50].iter().all(|id| back.contains(id.as_str())), "{path}: {back}");
        assert!(turned(&back, "prev").is_none() && turned(&back, "next").is_some(), "{path}");
    }
}

async fn a_file_of_payments_runs_nothing_and_masks(on: On) {
    let bank = Bank::new(on).await;
    let id = bank
        .paid(Country::Pak, |order| {
            order.text("external_id", "=1+1").text("beneficiary_name", "Ali Khan")
        })
        .await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let file = treasury.get("/payments/export.csv").await.page();
    let mut lines = file.split("\r\n");
    assert_eq!(
        lines.next().expect("a head"),
        COLUMNS.join(","),
        "as corridor payments export writes it"
    );
    let line = lines.next().expect("a payment");
    assert!(line.starts_with(&format!("{id},'=1+1,")), "{line}");
    assert!(line.contains("A••• K•••") && !file.contains("Khan"), "{line}");
    let record = bank.record(Country::Pak, &id).await;
    let (rate, branch) =
        (record["quote"]["rate"].number(), record["order"]["bank_branch_code"].text());
    assert!(line.contains(&format!(",{rate},")) && line.contains(branch), "{line}");
    assert!(!line.contains(record["order"]["sender_name"].text()), "{line}");
    assert_eq!(lines.next(), Some(""), "one payment only");
    // Hidden columns of the list are not in its file: the payer's amount and the external id.
    let narrow = treasury.get("/payments/export.csv?hide=5-7").await.page();
    let (head, line) = narrow.split_once("\r\n").expect("a head");
    let names: Vec<&str> = head.split(',').collect();
    let kept = |name: &&str| !["external_id", "amount", "currency"].contains(name);
    assert_eq!(names, COLUMNS.iter().copied().filter(kept).collect::<Vec<_>>());
    assert!(line.starts_with(&format!("{id},")) && !line.contains("=1+1"), "{line}");
    let page = treasury.get("/payments?hide=5-7&status=succeeded").await.page();
    has(&page, &["/payments/export.csv?status=succeeded&#38;hide=5-7\">Download as CSV"]);
    let none = treasury.get("/payments/export.csv?country=IND").await.page();
    assert_eq!(none.lines().count(), 1);
    let excel = treasury.get("/payments/export.csv?form=excel").await;
    assert_eq!(excel.headers["content-type"], "text/csv; charset=utf-16");
    officer(&bank, &[Role::Viewer]).await.get("/payments/export.csv").await.refused(403);
}

async fn quotes_are_listed_and_shown(on: On) {
    let bank = Bank::new(on).await;
    let open = bank.any_quote().await.id().to_owned();
    let payment = bank.paid(Country::Pak, |order| order).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    has(&viewer.get("/quotes").await.page(), &[&open, "active", "used", "100.00 AED"]);
    let page = viewer.get(&format!("/quotes/{open}")).await.page();
    has(&page, &["quote.created", "100.00 AED", "Debited for the rail"]);
    let record = bank.record(Country::Pak, &payment).await;
    let page = viewer.get(&format!("/quotes/{}", record["quote"]["id"].text())).await.page();
    has(&page, &["quote.used", &payment]);
    viewer.get("/quotes/x").await.refused(404);
}

async fn quotes_are_filtered_and_taken_as_a_file(on: On) {
    let bank = Bank::new(on).await;
    let open = bank.any_quote().await.id().to_owned();
    let payment = bank.paid(Country::Pak, |order| order).await;
    let used = bank.record(Country::Pak, &payment).await["quote"]["id"].text().to_owned();
    let treasury = officer(&bank, &[Role::Treasury]).await;
    let today = bank.running.now().date();
    for (asked, shown, hidden) in
        [("state=active", &open, &used), ("state=used&country=PAK", &used, &open)]
    {
        let page = treasury.get(&format!("/quotes?{asked}&from={today}&to={today}")).await.page();
        has(&page, &[shown, "Created from: ", "Download as CSV"]);
        lacks(&page, &[hidden]);
        let file = treasury.get(&format!("/quotes/export.csv?{asked}")).await.page();
        assert!(file.lines().count() == 2 && file.contains(shown.as_str()), "{file}");
    }
    for asked in ["state=expired", "country=IND", "from=2020-01-01&to=2020-01-02"] {
        has(&treasury.get(&format!("/quotes?{asked}")).await.page(), &["No quotes match."]);
    }
    treasury.get("/quotes?country=XXX").await.refused(422);
    let file = treasury.get("/quotes/export.csv?hide=3-5").await.page();
    let head = "quote_id,state,country,amount_destination,currency_destination,created_at,expires_at,payment_id";
    assert_eq!(file.lines().next(), Some(head));
    assert!(file.contains(&payment), "{file}");
    officer(&bank, &[Role::Viewer]).await.get("/quotes/export.csv").await.refused(403);
}

async fn lists_are_their_banks_alone(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let payment = bank.paid(Country::Pak, |order| order.text("external_id", "mine-only")).await;
    let quote = bank.any_quote().await.id().to_owned();
    let stranger = officer(&other, &[Role::Treasury, Role::Operator, Role::Compliance]).await;
    for page in
        ["/overview", "/payments", "/payments/export.csv", "/quotes", "/ledger", "/reconciliation"]
    {
        lacks(&stranger.get(page).await.page(), &[&payment, &quote, "mine-only", &bank.tenant.tag]);
        let foreign = format!("/console/t/{}{page}", bank.tenant.tag);
        stranger.fetch(&foreign).await.refused(404);
    }
    for thing in [format!("/payments/{payment}"), format!("/quotes/{quote}")] {
        stranger.get(&thing).await.refused(404);
    }
}

async fn roles_decide_who_sees_what(on: On) {
    let bank = Bank::new(on).await;
    let (viewer, auditor) =
        (officer(&bank, &[Role::Viewer]).await, officer(&bank, &[Role::Auditor]).await);
    for page in ["/overview", "/payments", "/quotes", "/rates", "/corridors", "/search"] {
        viewer.get(page).await.page();
        auditor.get(page).await.page();
    }
    for page in ["/ledger", "/reconciliation"] {
        viewer.get(page).await.refused(403);
        auditor.get(page).await.page();
    }
    auditor.post("/reconciliation/compare", &[]).await.refused(403);
    auditor.post("/rates/pricing", &[]).await.refused(403);
    lacks(&auditor.get("/rates").await.page(), &["Propose new prices"]);
    lacks(&viewer.get("/overview").await.page(), &["/ledger\""]);
}
