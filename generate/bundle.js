// Bundles the modules of the page's script into what a browser loads: make script.
//
// Browsers refuse modules from file://, so a page gets classic scripts: explorer.js, and for each line of parts.json,
// which few pages need, a script that explorer.js loads when it needs it. All share the modules of explorer.js, as
// window.attentionExplorer. What only parts need is in each of them, so it must not hold what they would have to share.
// Jupyter wants one ES module, with all parts in it.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { kernels } from "./kernels.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "attn_core/views/page");
const [INTO = ROOT] = process.argv.slice(2);
const PARTS = JSON.parse(readFileSync(join(PAGE, "parts.json"), "utf8"));

const imports = (modules) => modules.map((name) => `import "./${name}.js";`).join("\n");

/** The text of a bundle, and the modules in it. */
async function bundled(contents, how = {}) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: PAGE },
    absWorkingDir: PAGE,
    bundle: true,
    minify: true,
    charset: "utf8",
    target: "es2022",
    format: "iife",
    write: false,
    metafile: true,
    ...how,
  });
  return { text: outputFiles[0].text, modules: Object.keys(metafile.inputs) };
}

const core = new Set((await bundled(imports(["main"]))).modules);
/** Those that a part imports. */
const shared = new Set();

const fromCore = {
  name: "from the core",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\./ }, async ({ path, pluginData, ...how }) => {
      if (pluginData === "asked") return undefined;
      const found = await resolve(path, { ...how, pluginData: "asked" });
      const name = found.path.slice(PAGE.length + 1);
      if (!core.has(name)) return undefined;
      shared.add(name);
      return { path: name, external: true };
    });
  },
};

const files = {};
for (const [part, module] of Object.entries(PARTS)) {
  const { text } = await bundled(imports([module]), {
    format: "cjs",
    plugins: [fromCore],
    banner: { js: "(require=>{" },
    footer: { js: "})(name=>attentionExplorer[name]);" },
  });
  files[`explorer-${part}.js`] = text;
}
// A part that changed changes this script too, so that no cache gives one without the other.
const mark = createHash("sha256").update(Object.values(files).join("")).digest("hex").slice(0, 12);
const given = [...shared].sort();
files["explorer.js"] = (
  await bundled(
    [
      imports(["main"]),
      ...given.map((name, n) => `import * as m${n} from "./${name}";`),
      `window.attentionExplorer = { ${given.map((name, n) => `"${name}": m${n}`).join(", ")} };`,
    ].join("\n"),
    { footer: { js: `// ${mark}` } },
  )
).text;

// The worker of a training. Where a page can't start a script beside it, it hands over its own text instead.
const training = (await bundled(imports(["features/training_worker"]))).text;
const handOver = 'run=>{globalThis.document?globalThis.attentionTraining="("+run+")()":run()}';
files["explorer-training-worker.js"] = `(${handOver})(()=>{${training}});\n`;

// A language model needs files beside its page, which a notebook has not; a training has a widget of its own.
const ofModels = Object.values(PARTS).filter((module) => !/^features\/(language|training)/.test(module));
const ofNotebook = [...ofModels, "features/tiles"];
const ofAttention = ofNotebook.filter((module) => !module.startsWith("features/machine"));
for (const [name, modules] of Object.entries({ widget: ofAttention, model_widget: ofNotebook })) {
  const contents = `${imports(modules)}\nexport { default } from "./${name}.js";`;
  files[`${name}.js`] = (await bundled(contents, { format: "esm" })).text;
}
const ofTraining = imports([...ofAttention, "features/training", "features/training_chinese"]);
files["training_widget.js"] = (
  await bundled(`${ofTraining}\nexport { default } from "./training_widget.js";`, { format: "esm" })
).text.concat(files["explorer-training-worker.js"]);
files["diagnosis.js"] = (await bundled(imports(["box"]))).text;
files["diagnosis-zh.js"] = (await bundled(imports(["features/box_chinese", "box"]))).text;
files["kernels.js"] = await kernels();
// The worker of a language model, with the kernels in it.
const worker = `${files["kernels.js"].replace("export ", "")}\nserve(KERNELS);`;
files["explorer-language-worker.js"] = (
  await bundled(`import { serve } from "./features/language_worker.js";\n${worker}`)
).text;

/** Not minified: its words are exchanged for those of another language as they are in the source. */
const answer = await bundled(imports(["../../../publishing/site/answer"]), { minify: false });

const written = { "attn_core/views/built": files, "publishing/site/built": { "answer.js": answer.text } };
for (const [folder, texts] of Object.entries(written)) {
  rmSync(join(INTO, folder), { recursive: true, force: true });
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(INTO, folder, name)), { recursive: true });
    writeFileSync(join(INTO, folder, name), text);
  }
}
