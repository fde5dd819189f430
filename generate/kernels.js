// Compiles attn_core/views/kernels/kernels.ts to WebAssembly: a part of make script.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const FOLDER = fileURLToPath(new URL("../attn_core/views/kernels", import.meta.url));
const OPTIONS = ["--optimizeLevel", "3", "--shrinkLevel", "0", "--converge", "--noAssert"];
const MEMORY = ["--runtime", "stub", "--importMemory", "--initialMemory", "1", "--noExportMemory"];
const FEATURES = ["--enable", "simd", "--use", "abort="];

/** The text of a module that exports the kernels, in base64. */
export async function kernels() {
  let binary = new Uint8Array();
  const { error, stderr } = await asc.main(
    ["kernels.ts", "--outFile", "kernels.wasm", ...OPTIONS, ...MEMORY, ...FEATURES],
    {
      readFile: (name) => {
        try {
          return readFileSync(join(FOLDER, name), "utf8");
        } catch {
          return null;
        }
      },
      writeFile: (_name, contents) => {
        binary = contents;
      },
      listFiles: () => [],
    },
  );
  if (error) throw new Error(`the kernels do not compile: ${stderr}`);
  return `export const KERNELS =\n  "${Buffer.from(binary).toString("base64")}";\n`;
}
