import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type UserConfig } from "vite";

const config: UserConfig = defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { conditions: ["capstan-source", "module", "browser", "development|production"] },
  build: { outDir: "dist/app", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "/api": "http://127.0.0.1:4680" } },
});

export default config;
