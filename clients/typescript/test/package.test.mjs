// What would be published.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("..", import.meta.url);
const text = (path) => readFileSync(new URL(path, root), "utf8");
const { exports, files, main, module, browser, types } = JSON.parse(text("package.json"));

test("every path the package names is there, and packed", () => {
  const named = [main, module, browser, types];
  const collect = (one) => (typeof one === "string" ? named.push(one) : Object.values(one).forEach(collect));
  collect(exports);
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const [program, ...given] = [...npm, "pack", "--dry-run", "--json", "--ignore-scripts"];
  const said = execFileSync(program, given, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [{ files: packed }] = JSON.parse(said);
  const paths = packed.map((one) => one.path);
  for (const path of named) {
    assert.ok(existsSync(new URL(path, root)), path);
    assert.ok(paths.includes(path.slice(2)), path);
  }
  for (const path of ["LICENSE", "README.md"]) assert.ok(paths.includes(path), path);
  const rest = paths.filter((path) => !files.some((folder) => path.startsWith(`${folder}/`)));
  assert.deepEqual(rest.sort(), ["LICENSE", "README.md", "package.json"]);
});

test("the entry for browsers leads to nothing of Node", () => {
  const seen = new Set();
  const follow = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const source = text(`dist/esm/${name}`);
    for (const [, from] of source.matchAll(/(?<![\w.])(?:from|import)\s*\(?\s*"([^"\n]+)"/g)) {
      assert.ok(from.startsWith("."), `${name} imports ${from}`);
      const path = new URL(from, new URL(name, "file:///")).pathname.slice(1);
      follow(path);
    }
  };
  follow("index.js");
  assert.ok(seen.has("client.js") && seen.has("websocket.js") && !seen.has("stdio.js") && !seen.has("node.js"));
});
