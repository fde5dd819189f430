// One explorer alone, for a frame in another page, with a link to the page that it is from.

import { parts } from "../core/parts.js";
import { make } from "../ui/dom.js";

parts.embed = (element, name) => {
  document.documentElement.classList.add("ax-embed");
  element.classList.add("ax-embedded");
  const link = make("a", { href: `${location.pathname}#x-${name}`, target: "_blank", rel: "noopener" }, document.title);
  element.append(make("p", { class: "ax-from" }, link));
};
