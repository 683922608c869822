// What the pages gain with a script: parts that refresh, copy buttons, keys, menus that close. Every page works without it.
// The header marks a refresh as no user activity, so that an idle session ends even while its page refreshes.
"use strict";
document.documentElement.classList.add("scripted");

// Abbreviated ids get a copy button and show the whole id when pointed at.
const ICONS = "/console/icons.svg";
function completed(root) {
  for (const id of root.querySelectorAll(".id.long, .cmd, .facts .id")) {
    if (id.nextElementSibling?.matches(".copy")) continue;
    const text = id.textContent.trim();
    id.title = text;
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copy";
    copy.dataset.copy = text;
    copy.setAttribute("aria-label", `Copy ${text.slice(0, 8)}`);
    // A list of fifty ids is not fifty more stops for the keyboard: the row's page has the same button.
    if (id.closest("td, th")) copy.tabIndex = -1;
    const drawing = ["svg", "use"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
    drawing[0].setAttribute("class", "i");
    drawing[0].setAttribute("aria-hidden", "true");
    drawing[1].setAttribute("href", `${ICONS}#copy`);
    drawing[0].append(drawing[1]);
    copy.append(drawing[0]);
    id.after(copy);
  }
  return root;
}
completed(document);

for (const reveal of document.querySelectorAll("[data-reveal]")) {
  const field = document.getElementById(reveal.dataset.reveal);
  reveal.hidden = false;
  reveal.addEventListener("click", () => {
    const isHidden = field.type === "password";
    field.type = isHidden ? "text" : "password";
    reveal.setAttribute("aria-pressed", String(isHidden));
  });
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  if (!copy) return;
  await navigator.clipboard.writeText(copy.dataset.copy);
  copy.classList.add("done");
  document.getElementById("copied").textContent = "Copied";
  setTimeout(() => {
    copy.classList.remove("done");
    document.getElementById("copied").textContent = "";
  }, 1500);
});

document.addEventListener("keydown", (event) => {
  const open = document.querySelector("details.menu[open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
  const typing = document.activeElement?.closest("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.getElementById("find");
  const help = document.getElementById("help-menu");
  if (event.key === "/" && box) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  if (event.key === "j" || event.key === "k") {
    const rows = Array.from(document.querySelectorAll("main tbody th:first-child > a, main .tasks .go"));
    const at = rows.indexOf(document.activeElement);
    const next = rows[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  if (event.key === "?" && help) {
    event.preventDefault();
    help.open = true;
    help.querySelector("a").focus();
  }
});

// Live regions.
(() => {
  const regions = () => document.querySelectorAll("[data-live]");
  const counts = document.querySelector("[data-counts]");
  const lost = document.getElementById("lost");
  const signedOut = document.getElementById("signed-out");
  const changed = document.getElementById("changed");
  if (regions().length === 0 && !counts) return;
  const shortest = Math.min(...Array.from(regions(), (region) => Number(region.dataset.live) || 10), 10);
  const slowest = Math.max(...Array.from(regions(), (region) => Number(region.dataset.live) || 10), 10);
  // The page itself has just been read.
  let slowAt = Date.now();
  let waiting = false;
  let failedSince = 0;
  let isSignedOut = false;
  // What the user works in stays: the focus, a selection, an open disclosure, a changed form.
  const busy = (region) => {
    const selection = getSelection();
    return (region.contains(document.activeElement) && document.activeElement !== region)
      || (!selection.isCollapsed && selection.containsNode(region, true))
      || region.querySelector("details[open]") !== null
      || Array.from(region.querySelectorAll("input, textarea")).some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked)
      || Array.from(region.querySelectorAll("select")).some((field) => field.selectedIndex !== Math.max(0, Array.from(field.options).findIndex((option) => option.defaultSelected)));
  };
  // Parts that change slowly and cost much to read are left out until they are due.
  async function read(address) {
    const isSlow = slowest > shortest && Date.now() - slowAt >= slowest * 1000;
    if (isSlow) slowAt = Date.now();
    const kind = isSlow ? "all" : "quick";
    const answer = await fetch(address, { headers: { accept: "text/html", "x-corridor-refresh": kind }, redirect: "manual" });
    isSignedOut = answer.status === 401;
    if (!answer.ok) throw new Error(String(answer.status));
    return completed(new DOMParser().parseFromString(await answer.text(), "text/html"));
  }
  // A form carries the state that the page showed. It never takes a later one by itself: the evidence beside it may be
  // the earlier one still.
  const seen = (region) => Array.from(region.querySelectorAll("input[name=seen]"), (field) => field.value).join();
  function swap(region, fresh) {
    if (fresh && seen(fresh) !== seen(region)) {
      if (changed) changed.hidden = false;
      return;
    }
    if (fresh && !busy(region) && fresh.innerHTML !== region.innerHTML) region.replaceChildren(...fresh.childNodes);
  }
  async function refresh() {
    if (waiting || document.hidden) return;
    waiting = true;
    try {
      // A page without live regions takes only the navigation's counts, from the page of all tasks.
      const page = await read(regions().length > 0 ? location.href : counts.dataset.counts);
      for (const region of regions()) swap(region, region.id && page.getElementById(region.id));
      if (counts) {
        // The bar at the bottom and the navigation link to the same pages with the same counts.
        for (const place of ["[data-counts] a", ".tabbar a"]) {
          const fresh = new Map(Array.from(page.querySelectorAll(place), (link) => [link.getAttribute("href"), link]));
          for (const link of document.querySelectorAll(place)) swap(link, fresh.get(link.getAttribute("href")));
        }
        const waits = /^\(\d+\) /.exec(page.title)?.[0] ?? "";
        document.title = waits + document.title.replace(/^\(\d+\) /, "");
      }
      failedSince = 0;
    } catch {
      // The page stays unchanged, with what the user wrote in its forms.
      failedSince ||= Date.now();
    } finally {
      waiting = false;
      if (lost) lost.hidden = isSignedOut || failedSince === 0 || Date.now() - failedSince < 10_000;
      if (signedOut) signedOut.hidden = !isSignedOut;
    }
  }
  setInterval(refresh, Math.max(2, shortest) * 1000);
  document.addEventListener("visibilitychange", refresh);
})();
