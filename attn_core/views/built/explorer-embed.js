(require=>{
var t=require("core/parts.js"),e=require("ui/dom.js");t.parts.embed=(a,m)=>{document.documentElement.classList.add("ax-embed"),a.classList.add("ax-embedded");let o=(0,e.make)("a",{href:`${location.pathname}#x-${m}`,target:"_blank",rel:"noopener"},document.title);a.append((0,e.make)("p",{class:"ax-from"},o))};
})(name=>attentionExplorer[name]);
