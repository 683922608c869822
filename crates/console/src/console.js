// Live regions: parts of an open page that refresh. Every page works without the script. The header marks the request as
// no user activity, so that an idle session ends even while its page refreshes.
"use strict";
(() => {
  const regions = () => document.querySelectorAll("[data-live]");
  if (regions().length === 0) return;
  const shortest = Math.min(...Array.from(regions(), (region) => Number(region.dataset.live) || 10));
  let waiting = false;
  const busy = (region) => region.contains(document.activeElement) && document.activeElement !== region;
  async function refresh() {
    if (waiting || document.hidden) return;
    waiting = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html", "x-corridor-refresh": "1" }, redirect: "error" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const region of regions()) {
        const fresh = region.id && page.getElementById(region.id);
        if (fresh && !busy(region) && fresh.innerHTML !== region.innerHTML) region.replaceChildren(...fresh.childNodes);
      }
    } catch {
      // Signed out, or the network is down: the page stays unchanged.
    } finally {
      waiting = false;
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
