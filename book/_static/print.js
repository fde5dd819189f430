// On paper nothing can be unfolded: before printing all folds open, but hidden code stays hidden.
// And paper is white: a dark page is printed with the light colours.
// WebKit prints without waiting for pictures that are not there: it loads them after all else.

(() => {
  "use strict";
  const root = document.documentElement;
  let opened = [];
  let theme = null;
  if (navigator.vendor.startsWith("Apple")) {
    addEventListener("load", () => {
      for (const picture of document.querySelectorAll("img[loading]")) picture.loading = "eager";
    });
  }
  addEventListener("beforeprint", () => {
    if (theme !== null) return;
    opened = [...document.querySelectorAll(".bd-article details:not([open], .above-input, .ax-root *)")];
    for (const fold of opened) fold.open = true;
    theme = root.dataset.theme || "";
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (theme === null) return;
    for (const fold of opened) fold.open = false;
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    theme = null;
  });
})();
