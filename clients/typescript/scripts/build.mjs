// Builds dist/esm and dist/cjs from src, each with its types.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const compile = (...more) => {
  const { status } = spawnSync(process.execPath, [tsc, "-p", root, ...more], { stdio: "inherit", cwd: root });
  if (status !== 0) process.exit(1);
};

rmSync(`${root}/dist`, { recursive: true, force: true });
compile("--outDir", "dist/esm");
compile("--outDir", "dist/cjs", "--module", "CommonJS", "--moduleResolution", "Bundler");
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
