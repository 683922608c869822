//! Tampering with the audit log by a user with write access to the database, and its detection.

use domain::audit::{ChainFault, Entry, Head, Mark, Note};
use domain::ids::TenantId;
use domain::time::Span;
use store::{AuditChain, AuditSigner, Checkpoint};

use crate::world::{Side, World};

/// Entries of the manipulated chain.
const ENTRIES: i64 = 8;

/// Columns that are copied with an entry.
const COPIED: &str = "at, via, who, role, behalf, second, action, kind, subject, before_doc, after_doc, why, request_id, hash";

/// A tenant with a chain of eight entries, signed after the seventh.
struct Chain {
    world: World,
    tenant: TenantId,
    signer: AuditSigner,
    outside: Checkpoint,
}

async fn chain(world: World) -> Option<Chain> {
    let tenant = world.tenant("demobank", 0).await;
    let signer = world.store.audit_signer(None).await.expect("a key");
    let mut outside = None;
    for n in 2..=ENTRIES {
        world
            .store
            .append_audit(tenant, "op", Note::new("key.create", "access_key", n))
            .await
            .expect("noted");
        if n == ENTRIES - 1 {
            outside = Some(sign(&world, tenant, &signer).await.expect("whole"));
        }
    }
    let chain = Chain { world, tenant, signer, outside: outside.expect("signed") };
    assert_eq!(chain.fault(std::slice::from_ref(&chain.outside)).await, None, "unmodified");
    // An in-memory database cannot be manipulated.
    if matches!(chain.world.side, Side::Memory) { None } else { Some(chain) }
}

async fn end(world: &World, tenant: TenantId) -> AuditChain {
    let chains = world.store.audit_chains().await.expect("read");
    chains.into_iter().find(|chain| chain.tenant == tenant).expect("there")
}

async fn sign(
    world: &World,
    tenant: TenantId,
    signer: &AuditSigner,
) -> Result<Checkpoint, ChainFault> {
    world.store.sign_audit_chain(&end(world, tenant).await, signer).await.expect("read")
}

impl Chain {
    async fn fault(&self, outside: &[Checkpoint]) -> Option<ChainFault> {
        let trusted = [self.signer.public_key()];
        let report = self
            .world
            .store
            .verify_audit(Some(self.tenant), outside, &trusted)
            .await
            .expect("read");
        let [verdict] = &report.chains[..] else { panic!("{report:?}") };
        assert_eq!(report.is_whole(), verdict.fault.is_none());
        verdict.fault
    }

    /// The fault found by hashes and head alone, without signatures.
    async fn found(&self) -> Option<ChainFault> {
        self.fault(&[]).await
    }

    async fn sql(&self, text: &str) {
        self.world.sql(text).await.expect("beside").expect(text);
    }

    /// Changes entries of this chain only: other tenants' have the same numbers.
    async fn change(&self, set: &str, which: &str) {
        self.sql(&format!(
            "UPDATE audit_entry SET {set} WHERE {which} AND tenant = {}",
            self.owner()
        ))
        .await;
    }

    fn owner(&self) -> String {
        self.bytes(self.tenant.0.as_bytes(), "uuid")
    }

    /// A literal of bytes.
    fn bytes(&self, bytes: &[u8], kind: &str) -> String {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match (&self.world.side, kind) {
            (Side::Postgres, "uuid") => format!("CAST('{hex}' AS UUID)"),
            (Side::Postgres, _) => format!("decode('{hex}', 'hex')"),
            _ => format!("x'{hex}'"),
        }
    }

    async fn set_head(&self, head: Head) {
        let (hash, owner) = (self.bytes(&head.hash, "bytes"), self.owner());
        self.sql(&format!(
            "UPDATE audit_head SET seq = {}, hash = {hash} WHERE tenant = {owner}",
            head.seq
        ))
        .await;
    }

    /// The entries, oldest first.
    async fn entries(&self) -> Vec<Entry> {
        let mut entries = self.world.audited(self.tenant).await;
        entries.reverse();
        entries
    }
}

pub async fn an_edited_entry_is_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    chain.change("why = 'another reason'", "seq = 4").await;
    assert_eq!(chain.found().await, Some(ChainFault::Changed(4)));
}

pub async fn a_deleted_entry_is_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    chain
        .sql(&format!("DELETE FROM audit_entry WHERE seq = 4 AND tenant = {}", chain.owner()))
        .await;
    assert_eq!(chain.found().await, Some(ChainFault::Missing { from: 4, to: 4 }));
    // The entries after it move up.
    chain.change("seq = seq + 1000", "seq > 4").await;
    chain.change("seq = seq - 1001", "seq > 1000").await;
    assert_eq!(chain.found().await, Some(ChainFault::Changed(4)));
}

pub async fn an_inserted_entry_is_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    chain.change("seq = seq + 1000", "seq >= 4").await;
    chain.change("seq = seq - 999", "seq > 1000").await;
    let copy = format!(
        "INSERT INTO audit_entry (tenant, seq, {COPIED}) SELECT tenant, 4, {COPIED} FROM audit_entry \
         WHERE seq = 3 AND tenant = {}",
        chain.owner()
    );
    chain.sql(&copy).await;
    assert_eq!(chain.found().await, Some(ChainFault::Changed(4)));
}

pub async fn an_entry_after_the_end_is_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    // It is valid; only the head does not match.
    let end = chain.entries().await.pop().expect("there");
    let mut head = Head { seq: end.seq, hash: end.hash };
    let more = head.append(
        chain.tenant,
        end.at,
        end.deed.clone(),
        Note::new("key.create", "access_key", "slipped in"),
    );
    let (hash, owner) = (chain.bytes(&more.hash, "bytes"), chain.owner());
    let behind = format!(
        "INSERT INTO audit_entry (tenant, seq, at, via, who, action, kind, subject, why, hash) \
         VALUES ({owner}, {}, {}, 'program', 'op', 'key.create', 'access_key', 'slipped in', '', {hash})",
        more.seq, more.at.0
    );
    chain.sql(&behind).await;
    assert_eq!(
        chain.found().await,
        Some(ChainFault::BeyondHead { entry: ENTRIES + 1, head: ENTRIES })
    );
}

pub async fn reordered_entries_are_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    chain.change("seq = 1004", "seq = 4").await;
    chain.change("seq = 4", "seq = 5").await;
    chain.change("seq = 5", "seq = 1004").await;
    assert_eq!(chain.found().await, Some(ChainFault::Changed(4)));
}

pub async fn a_tail_that_was_cut_off_is_found(world: World) {
    let Some(chain) = chain(world).await else { return };
    let last = chain.entries().await.swap_remove(4);
    chain
        .sql(&format!("DELETE FROM audit_entry WHERE seq > 5 AND tenant = {}", chain.owner()))
        .await;
    assert_eq!(chain.found().await, Some(ChainFault::Missing { from: 6, to: 8 }), "by the head");
    chain.set_head(Head { seq: last.seq, hash: last.hash }).await;
    assert_eq!(chain.found().await, None, "the head was put back too");
    let outside = [chain.outside.clone()];
    assert_eq!(
        chain.fault(&outside).await,
        Some(ChainFault::Missing { from: 6, to: 7 }),
        "by the checkpoint"
    );
}

pub async fn a_rewritten_chain_is_detected(world: World) {
    let Some(chain) = chain(world).await else { return };
    let mut head = Head::default();
    for mut entry in chain.entries().await {
        if entry.seq == 4 {
            entry.deed.who = "another operator".to_owned();
        }
        let entry = head.append(entry.tenant, entry.at, entry.deed, entry.note);
        let (who, hash) = (&entry.deed.who, chain.bytes(&entry.hash, "bytes"));
        chain
            .change(&format!("who = '{who}', hash = {hash}"), &format!("seq = {}", entry.seq))
            .await;
    }
    chain.set_head(head).await;
    assert_eq!(chain.found().await, None, "the hashes alone do not reveal it");
    let outside = [chain.outside.clone()];
    assert_eq!(chain.fault(&outside).await, Some(ChainFault::Rewritten { from: 1, to: 7 }));
    // The store's own copy of the checkpoint reveals it as well.
    chain.world.store.keep_checkpoint(&chain.outside).await.expect("kept");
    assert_eq!(chain.found().await, Some(ChainFault::Rewritten { from: 1, to: 7 }));
}

pub async fn a_removed_chain_is_detected(world: World) {
    let Some(chain) = chain(world).await else { return };
    let owner = chain.owner();
    chain.sql(&format!("DELETE FROM audit_entry WHERE tenant = {owner}")).await;
    assert_eq!(chain.found().await, Some(ChainFault::Missing { from: 1, to: 8 }));
    chain.sql(&format!("DELETE FROM audit_head WHERE tenant = {owner}")).await;
    assert_eq!(chain.found().await, Some(ChainFault::Gone));
    chain.sql(&format!("DELETE FROM tenant WHERE id = {owner}")).await;
    let trusted = [chain.signer.public_key()];
    let report = chain
        .world
        .store
        .verify_audit(None, std::slice::from_ref(&chain.outside), &trusted)
        .await
        .expect("read");
    let gone = report
        .chains
        .iter()
        .find(|verdict| verdict.tenant == chain.tenant)
        .expect("known from outside");
    assert_eq!(gone.fault, Some(ChainFault::Gone));
}

pub async fn a_chain_is_verified_in_parts(world: World) {
    let Some(chain) = chain(world).await else { return };
    let (trusted, outside) = ([chain.signer.public_key()], [chain.outside.clone()]);
    let part = async |behind: Mark| {
        let store = &chain.world.store;
        store.verify_audit_part(chain.tenant, behind, &outside, &trusted, 3).await.expect("read")
    };
    let all = async || {
        let mut parts = vec![part(Mark::default()).await];
        while let Some(last) = parts.last().filter(|last| !last.whole && last.fault.is_none()) {
            parts.push(part(last.good).await);
        }
        parts
    };
    let parts = all().await;
    assert_eq!(parts.iter().map(|it| it.good.seq).collect::<Vec<_>>(), [3, 6, ENTRIES]);
    let last = parts.last().expect("there");
    assert_eq!((last.whole, last.proven, last.fault), (true, ENTRIES - 1, None));
    assert_eq!(last.head.map(|head| (head.seq, head.hash)), Some((ENTRIES, last.good.hash)));
    assert_eq!(last.signed, Some((ENTRIES - 1, chain.outside.at)));
    assert!(chain.world.store.audit_owners().await.expect("read").contains(&chain.tenant));
    chain.change("why = 'another reason'", "seq = 5").await;
    let parts = all().await;
    let last = parts.last().expect("there");
    assert_eq!((parts.len(), last.good.seq, last.fault), (2, 4, Some(ChainFault::Changed(5))));
    assert!(!last.whole);
}

pub async fn checkpoints_are_signed_by_a_key_that_is_trusted(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let own = world.store.audit_signer(None).await.expect("a key");
    assert_eq!(
        world.store.audit_signer(None).await.expect("a key").public_key(),
        own.public_key(),
        "it stays"
    );
    let given = secrecy::SecretBox::new(Box::new([5; 32]));
    let given = world.store.audit_signer(Some(&given)).await.expect("a key");
    assert_ne!(given.public_key(), own.public_key());
    let foreign = sign(&world, tenant, &given).await.expect("whole");
    let verify = async |trusted: &[[u8; 32]]| {
        let report = world
            .store
            .verify_audit(Some(tenant), std::slice::from_ref(&foreign), trusted)
            .await
            .expect("read");
        (report.chains[0].fault, report.chains[0].proven, report.chains[0].checkpoints)
    };
    assert_eq!(verify(&[own.public_key()]).await, (Some(ChainFault::Signature(1)), 0, 0));
    assert_eq!(verify(&[own.public_key(), given.public_key()]).await, (None, 1, 1));
}

pub async fn a_broken_chain_is_not_signed(world: World) {
    let Some(chain) = chain(world).await else { return };
    let store = &chain.world.store;
    store.keep_checkpoint(&chain.outside).await.expect("kept");
    store.keep_checkpoint(&chain.outside).await.expect("once is enough");
    let (mark, at) = end(&chain.world, chain.tenant).await.signed.expect("signed");
    assert_eq!((mark, at), (chain.outside.mark(), chain.outside.at));
    chain.change("why = 'another reason'", "seq = 8").await;
    assert_eq!(sign(&chain.world, chain.tenant, &chain.signer).await, Err(ChainFault::Changed(8)));
    chain.change("why = ''", "seq = 8").await;
    let again = sign(&chain.world, chain.tenant, &chain.signer).await.expect("as it was");
    assert_eq!(again.seq, 8);
    assert!(!end(&chain.world, chain.tenant).await.is_due(at, Span::secs(1), 2));
}
