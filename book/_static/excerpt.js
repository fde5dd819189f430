// Under each page that a search finds: the sentence with most of the words. Sphinx's own excerpt is cut from all
// that a page has, and so begins with its table of contents. Replaces a function of Sphinx's searchtools.js.
(() => {
  "use strict";

  const UNREAD = "script, style, svg, noscript, button, .headerlink, .chapter-links, h1";
  // A term of the glossary is followed by what it means.
  const BLOCKS = "p:not(dd > :first-child), li, dt, tr, summary, figcaption, h2, h3, h4, h5, h6";
  // Up to a full stop with a space behind it, a Chinese one, or the end of the paragraph.
  const SENTENCE = /.+?(?:[.!?]["'”’)]*(?= )|[。！？][”’」）]*|$)/gu;
  const SHORT = 160; // characters, up to which the next sentence is shown, too
  const LONG = 240; // above which a sentence is cut

  // A stem finds the words that begin with it; the stemmer writes the y of "query" as i.
  const pattern = (word) => {
    const text = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (!/^\w/.test(word)) return new RegExp(text, "iu");
    return new RegExp(word.length < 3 ? `\\b${text}\\b` : `\\b${text.replace(/i$/, "[iy]")}`, "iu");
  };

  const split = (text) =>
    text
      .split(/\n\s*\n/)
      .map((part) => part.replace(/\s+/g, " ").trim())
      .filter((part) => /\p{Letter}/u.test(part));

  // The code comes last, for where the words are in no sentence. A section is found by its heading, which its
  // sentences need not repeat.
  function paragraphs(root) {
    // The result's link says the heading.
    for (const element of root.querySelectorAll(`${UNREAD}, :scope > :is(h2, h3, h4)`)) element.remove();
    const code = [...root.querySelectorAll("pre")];
    for (const listing of code) listing.replaceWith("\n\n");
    for (const part of root.querySelectorAll(":is(dt, td, th, br)")) part.after(part.matches("dt") ? ": " : " ");
    for (const block of root.querySelectorAll(BLOCKS)) {
      block.before("\n\n");
      if (!block.matches("dt")) block.after("\n\n");
    }
    const prose = split(root.textContent);
    if (prose.length && root.matches("section")) return prose;
    return [...prose, ...code.flatMap((listing) => split(listing.textContent))];
  }

  function cut(text, patterns) {
    if (text.length <= LONG) return text;
    const first = Math.min(...patterns.map((one) => text.search(one)).filter((place) => place >= 0));
    const start = Number.isFinite(first) && first > LONG / 2 ? text.lastIndexOf(" ", first - LONG / 4) + 1 : 0;
    const end = start + LONG;
    return `${start ? "… " : ""}${text.slice(start, end).trim()}${end < text.length ? " …" : ""}`;
  }

  function excerpt(root, words) {
    const patterns = [...words].map(pattern);
    let best = { text: "", count: -1 };
    for (const paragraph of paragraphs(root)) {
      const sentences = paragraph.match(SENTENCE);
      sentences.forEach((sentence, place) => {
        const isWhole = /[.!?。！？]["'”’」）)]*$/.test(sentence);
        const count = patterns.filter((one) => one.test(sentence)).length + (isWhole ? 0.5 : 0);
        if (count <= best.count) return;
        let text = sentence;
        for (const next of sentences.slice(place + 1)) {
          if (text.length + next.length > SHORT) break;
          text += next;
        }
        best = { text: text.trim(), count };
      });
    }
    return cut(best.text, patterns);
  }

  Search.makeSearchSummary = (html, words, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const summary = document.createElement("p");
    summary.className = "context";
    const place = anchor ? page.getElementById(decodeURIComponent(anchor.slice(1))) : null;
    const root = place?.closest("dt")?.parentElement ?? place ?? page.querySelector("article");
    if (root) summary.textContent = excerpt(root, words);
    return summary;
  };
})();
