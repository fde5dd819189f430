// The theme watches the links of an element that its pages do not have, and so all links of a page;
// one to an explorer's state is no selector, and stops it. Here it gets the page's contents to watch.
addEventListener("DOMContentLoaded", () => {
  const { body } = document;
  if (!body.dataset.bsSpy) return;
  if (document.querySelector("#pst-page-toc-nav")) body.dataset.bsTarget = "#pst-page-toc-nav";
  else delete body.dataset.bsSpy;
  // A section of eight screens never shows a tenth of itself, which is the theme's lowest threshold.
  body.dataset.bsThreshold = "0.05,0.1,0.5,1";

  // Where the machine has no Chinese font, text laid out before the book's own came keeps its boxes
  // until it is shaped again. (Kerning is on anyway.) That takes long: not before all else is there.
  addEventListener("load", () => {
    document.fonts.ready.then(() => {
      body.style.fontFeatureSettings = '"kern"';
    });
  });
});

// What a reader is at stays in sight in both lists: the theme gives that of the pages the place that it had on the page
// before, and lets that of the sections be.
(() => {
  const LISTS = {
    "pst-primary-sidebar": "nav.bd-links .current > a",
    "pst-secondary-sidebar": "#pst-page-toc-nav a.active",
  };
  const EDGE = 48; // px, about a line and a half, that stay in sight around it

  /** By itself: scrollIntoView may move the page, too. */
  function show(list, entries) {
    const entry = [...list.querySelectorAll(entries)].findLast((one) => one.getClientRects().length);
    if (!entry) return;
    const [around, box] = [list, entry].map((one) => one.getBoundingClientRect());
    if (box.top >= around.top + EDGE && box.bottom <= around.bottom - EDGE) return;
    list.scrollTop += (box.top + box.bottom - around.top - around.bottom) / 2;
  }

  // On a narrow screen the theme moves a list into a window of its own.
  const showIn = (id) => {
    for (const list of document.querySelectorAll(`#${id}, #${id}-modal[open]`)) show(list, LISTS[id]);
  };

  // When the theme's scripts have run.
  addEventListener("load", () => {
    for (const id of Object.keys(LISTS)) {
      showIn(id);
      const list = document.querySelector(`#${id}-modal`);
      if (list) new MutationObserver(() => showIn(id)).observe(list, { attributeFilter: ["open"] });
    }
  });
  addEventListener("activate.bs.scrollspy", () => showIn("pst-secondary-sidebar"));
})();
