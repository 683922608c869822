// Small help on every page: copying code, the language of samples, the current section, "/" for the search.
// Pages are complete without it.
"use strict";

const LANGUAGE = "corridor.docs.language";

// A browser may refuse to keep anything: then the choice holds for the page.
const kept = {
  get() { try { return localStorage.getItem(LANGUAGE); } catch { return null; } },
  set(value) { try { localStorage.setItem(LANGUAGE, value); } catch { /* not kept */ } },
};

function languages() {
  const choose = (value) => {
    for (const radio of document.querySelectorAll(".tabs input")) if (radio.value === value) radio.checked = true;
  };
  choose(kept.get());
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".tabs input")) return;
    choose(target.value);
    kept.set(target.value);
  });
}

function copying() {
  const notice = document.getElementById("notice");
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = [...button.closest(".sample").querySelectorAll("pre")].find((block) => block.checkVisibility());
      await navigator.clipboard.writeText(code.textContent);
      button.classList.add("done");
      notice.textContent = "Copied";
      setTimeout(() => { button.classList.remove("done"); notice.textContent = ""; }, 1500);
    });
  }
}

// Marks the section in view in the navigation, and keeps the current page's entry in sight.
function sections() {
  const current = document.querySelector(".side [aria-current=page]");
  const side = document.querySelector(".side");
  if (current && side) side.scrollTop = Math.max(0, current.offsetTop - side.clientHeight / 3);
  const links = [...document.querySelectorAll(".side ul ul a")];
  const targets = links.map((link) => document.getElementById(link.hash.slice(1))).filter(Boolean);
  if (!targets.length) return;
  const mark = () => {
    const passed = targets.filter((target) => target.getBoundingClientRect().top < 120).at(-1);
    for (const link of links) {
      const here = passed && link.hash === `#${passed.id}`;
      if (here) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  document.addEventListener("scroll", mark, { passive: true });
  mark();
}

function keys() {
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    const search = document.getElementById("q");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || typing || !search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

languages();
copying();
sections();
keys();
