(require=>{
var d=require("core/parts.js"),i=require("core/problem.js"),o=require("ui/loading.js"),t=()=>{let r=window;return r.AttentionExplorerPayloads??={},r.AttentionExplorerPayloads};function l(r,e,s){if(t()[r])return e(t()[r]);if(!o.ownAddress)return;let n=`payloads/${r}.js`,a=()=>{if(!t()[r])throw new i.Problem(`its data ${n} cannot be read`);e(t()[r])};return(0,o.readScript)(n,"data").then(a).catch(s)}d.parts.beside=l;
})(name=>attentionExplorer[name]);
