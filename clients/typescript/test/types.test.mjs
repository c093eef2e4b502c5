// The types, as a project that imports or requires the package sees them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

const forms = {
  "an ES module": ["mts", "NodeNext", "NodeNext"],
  "a CommonJS module": ["cts", "NodeNext", "NodeNext"],
  "a bundler": ["ts", "ESNext", "Bundler"],
};
for (const [form, [ending, module, resolution]] of Object.entries(forms)) {
  test(`types hold in ${form}`, (t) => {
    const folder = mkdtempSync(`${here}types-`);
    t.after(() => rmSync(folder, { recursive: true }));
    copyFileSync(`${here}types.ts`, `${folder}/types.${ending}`);
    const compilerOptions = { target: "ES2022", lib: ["ES2022", "DOM"], types: [], strict: true, noEmit: true, module, moduleResolution: resolution };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files: [`types.${ending}`] }));
    const tsc = `${here}../node_modules/typescript/bin/tsc`;
    const done = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    assert.equal(done.stdout + done.stderr, "");
  });
}
