// Every example of the README compiles, and runs by itself as it stands but for the address of the server.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Server, command, finished } from "./server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const TSC = `${here}../node_modules/typescript/bin/tsc`;
const readme = readFileSync(`${here}../README.md`, "utf8");
const blocks = (language) =>
  Array.from(readme.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g")), ([, text]) => text);

test("the examples of the README compile and run", async (t) => {
  const folder = mkdtempSync(`${here}types-`); // where the package can be imported
  t.after(() => rmSync(folder, { recursive: true }));
  const server = await Server.start(t);
  const examples = blocks("typescript");
  assert.equal(examples.length, 5);
  const files = examples.map((example, n) => {
    writeFileSync(`${folder}/${n}.mts`, example.replaceAll("ws://localhost:9080/ws", server.ws));
    return `${n}.mts`;
  });
  const compilerOptions = { target: "ES2022", lib: ["ES2022", "DOM"], types: [], strict: true, module: "NodeNext" };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files }));
  const compiled = spawnSync(process.execPath, [TSC, "-p", folder], { encoding: "utf8" });
  assert.equal(compiled.stdout + compiled.stderr, "");
  const path = [dirname(command()[0]), process.env.PATH].join(delimiter); // `polymnia` is beside its Python
  const env = { ...server.environment, PATH: path, POLYMNIA_EMBEDDER: "none" };
  for (const [n, example] of examples.entries()) {
    if (example.includes("wss://")) continue; // run by tls.test.mjs
    const done = await finished(spawn(process.execPath, [`${folder}/${n}.mjs`], { cwd: folder, env }));
    assert.equal(done.status, 0, `${example}\n${done.stdout}${done.stderr}`);
    assert.equal(done.stderr, "");
    if (example.includes("getContent")) assert.match(done.stdout, /^nothing there: /);
    if (example.includes("stdio:")) assert.match(done.stdout, /Ann likes tea/);
  }
});

test("the client installs from a checkout as the README says", async (t) => {
  if (spawnSync("npm", ["--version"]).status !== 0) return t.skip("there is no npm");
  const folder = mkdtempSync(join(tmpdir(), "polymnia-client-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [said] = blocks("sh").filter((text) => text.includes("npm pack --pack-destination"));
  // What is installed and built stays as it is: other tests use it. Nothing is fetched.
  const script = said.replace("npm ci && ", "").replaceAll("/tmp", folder);
  const config = { npm_config_ignore_scripts: "true", npm_config_offline: "true", npm_config_omit: "optional" };
  const env = { ...process.env, ...config };
  const done = await finished(spawn("sh", ["-ec", script], { cwd: `${here}../../..`, env }));
  assert.equal(done.status, 0, done.stderr);
  const use = 'import { MCPMemoryClient } from "@polymnia/client"; console.log(typeof MCPMemoryClient)';
  const used = spawn(process.execPath, ["--input-type=module", "-e", use], { cwd: `${folder}/my-project` });
  assert.equal((await finished(used)).stdout, "function\n");
});
