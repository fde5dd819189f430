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
