import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type UserConfig } from "vite";
import { compressAssets } from "./compress-assets.ts";
import { omitDiagrams } from "./omit-diagrams.ts";

/** What every page loads, in few files: each costs a request. */
const commonChunks = [
  {
    name: "react",
    test: /node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|wouter|zustand)\//,
  },
  {
    name: "shared",
    test: /capstan\/src\/client\/|lucide-react\/dist\/esm\/(?!icons\/)|studio\/src\/(?:data\/(?:about|agents|client)|ui\/[\w-]+)\.ts$/,
  },
];

const config: UserConfig = defineConfig({
  plugins: [react(), tailwindcss(), omitDiagrams(), compressAssets()],
  resolve: { conditions: ["capstan-source", "module", "browser", "development|production"] },
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: commonChunks } } },
  },
  server: { proxy: { "/api": "http://127.0.0.1:4680" } },
});

export default config;
