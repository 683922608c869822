// Live regions: parts of an open page that refresh. Every page works without the script. The header marks the request as
// no user activity, so that an idle session ends even while its page refreshes.
"use strict";
(() => {
  const regions = () => document.querySelectorAll("[data-live]");
  const counts = document.querySelector("[data-counts]");
  const lost = document.getElementById("lost");
  if (regions().length === 0 && !counts) return;
  const shortest = Math.min(...Array.from(regions(), (region) => Number(region.dataset.live) || 10), 10);
  let waiting = false;
  let failedSince = 0;
  // What the user works in stays: the focus, a selection, an open disclosure, a changed form.
  const busy = (region) => {
    const selection = getSelection();
    return (region.contains(document.activeElement) && document.activeElement !== region)
      || (!selection.isCollapsed && selection.containsNode(region, true))
      || region.querySelector("details[open]") !== null
      || Array.from(region.querySelectorAll("input, textarea")).some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked)
      || Array.from(region.querySelectorAll("select")).some((field) => !field.options[field.selectedIndex]?.defaultSelected && field.selectedIndex > 0);
  };
  async function read(address) {
    const answer = await fetch(address, { headers: { accept: "text/html", "x-corridor-refresh": "1" }, redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }
  function swap(region, fresh) {
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
        const fresh = new Map(Array.from(page.querySelectorAll("[data-counts] a"), (link) => [link.getAttribute("href"), link]));
        for (const link of counts.querySelectorAll("a")) swap(link, fresh.get(link.getAttribute("href")));
        const waits = /^\(\d+\) /.exec(page.title)?.[0] ?? "";
        document.title = waits + document.title.replace(/^\(\d+\) /, "");
      }
      failedSince = 0;
    } catch {
      // Signed out, or the network is down: the page stays unchanged.
      failedSince ||= Date.now();
    } finally {
      waiting = false;
      if (lost) lost.hidden = failedSince === 0 || Date.now() - failedSince < 10_000;
    }
  }
  setInterval(refresh, Math.max(2, shortest) * 1000);
  document.addEventListener("visibilitychange", refresh);
})();

// "/" moves the focus to the search box.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("find");
  const typing = document.activeElement?.closest("input, textarea, select");
  if (event.key !== "/" || !box || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  box.select();
});
