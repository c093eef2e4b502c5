// The types, as a project that imports or requires the package sees them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const TSC = `${here}../node_modules/typescript/bin/tsc`;

/** Compiles one file in a project of its own; answers what the compiler complains about. */
function compiled(t, name, text, module, moduleResolution, more = {}) {
  const folder = mkdtempSync(`${here}types-`);
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/${name}`, text);
  const lib = ["ES2022", "DOM"];
  const compilerOptions = { target: "ES2022", lib, types: [], strict: true, noEmit: true, module, moduleResolution };
  Object.assign(compilerOptions, more);
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files: [name] }));
  const done = spawnSync(process.execPath, [TSC, "-p", folder], { encoding: "utf8" });
  return done.stdout + done.stderr;
}

const forms = {
  "an ES module": ["types.mts", "NodeNext", "NodeNext"],
  "a CommonJS module": ["types.cts", "NodeNext", "NodeNext"],
  "a bundler": ["types.ts", "ESNext", "Bundler"],
};
for (const [form, [name, ...options]] of Object.entries(forms)) {
  test(`types hold in ${form}`, (t) => {
    assert.equal(compiled(t, name, readFileSync(`${here}types.ts`, "utf8"), ...options), "");
  });
}

test("types hold with those of Node in place of DOM", (t) => {
  const options = { lib: ["ES2022"], types: ["node"] };
  assert.equal(compiled(t, "types.mts", readFileSync(`${here}types.ts`, "utf8"), "NodeNext", "NodeNext", options), "");
});
