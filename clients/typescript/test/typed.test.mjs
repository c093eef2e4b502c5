// Every parameter and every answer has a type: what is misspelt does not compile, and the error names it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const TSC = `${here}../node_modules/typescript/bin/tsc`;

/** Compiles one file as a project with strict types does; answers what the compiler complains about, a line each. */
function complaints(t, text) {
  const folder = mkdtempSync(`${here}typed-`);
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/typed.mts`, text);
  const compilerOptions = {
    target: "ES2022", lib: ["ES2022", "DOM"], types: [], strict: true, noEmit: true,
    module: "NodeNext", moduleResolution: "NodeNext",
  };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files: ["typed.mts"] }));
  const done = spawnSync(process.execPath, [TSC, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
  return (done.stdout + done.stderr).split("\n").filter((line) => line.includes("error TS"));
}

test("parameters and answers compile as they are meant", (t) => {
  assert.deepEqual(complaints(t, readFileSync(`${here}typed.ts`, "utf8")), []);
});

test("an error names the field or the parameter that is wrong", (t) => {
  const wrong = [
    ["(await client.storeContent({ project_id: 'p', content: 'c' })).content_idd;", "content_idd"],
    ["(await client.createEntities({ entities: [] })).nope;", "nope"],
    ["(await client.memoryStore({ operation: 'store_content', project_id: 'p', content: 'c' })).nope;", "nope"],
    ["await client.memoryStore({ operation: 'store_content', project_id: 'p', contnt: 'c' });", "contnt"],
    ["await client.memoryStore({ operation: 'store_contnt', project_id: 'p', content: 'c' });", "store_contnt"],
    ["await client.memoryStore({ operation: 'none', content: 'c' });", "undefined"],
    ["await client.memoryStore({ content: 'c', scop: 's' });", "scop"],
    ["await client.searchContent({ project_id: 'p', query: 'q', options: { limits: 5 } });", "limits"],
    ["await client.createEntities({ entities: [{ name: 'n', entityTyp: 't', observations: [] }] });", "entityTyp"],
  ];
  const head = 'import { MCPMemoryClient } from "@polymnia/client";\nconst client = new MCPMemoryClient();\n';
  const found = complaints(t, head + wrong.map(([line]) => line).join("\n"));
  for (const [at, [line, word]] of wrong.entries()) {
    const told = found.filter((one) => one.includes(`(${at + 3},`));
    assert.equal(told.length, 1, `${line}: ${told.join("; ") || "no error"}`);
    assert.ok(told[0].includes(word), told[0]);
  }
  assert.equal(found.length, wrong.length);
});
