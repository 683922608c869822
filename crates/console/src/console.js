// Live regions: parts of a page that are read again while somebody looks at them. Everything works without this. The header
// says that nobody has done anything: an idle session ends in front of a page that refreshes itself, too.
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
      // Signed out, or the network is away: the page stays as it is.
    } finally {
      waiting = false;
    }
  }
  setInterval(refresh, Math.max(2, shortest) * 1000);
  document.addEventListener("visibilitychange", refresh);
})();
