import { defineConfig } from "vite";

const server = process.env["POLYMNIA_URL"] ?? "http://127.0.0.1:9080";

export default defineConfig({
  // Addresses are relative: a server behind a prefix of a proxy serves the same files.
  base: "./",
  build: {
    outDir: process.env["EXPLORER_OUT"] ?? "../src/polymnia/explorer",
    emptyOutDir: true,
    target: ["chrome123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  worker: { format: "es" },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/api": { target: server, changeOrigin: true } } },
});
