// Builds the page with the widgets for other MCP hosts: one file that loads nothing.
import { join } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type UserConfig } from "vite";

/** Puts the script and the styles into the page. */
function inlineAssets(): Plugin {
  return {
    name: "inline-assets",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find(({ fileName }) => fileName.endsWith(".html"));
      if (page?.type !== "asset") throw new Error("The build has no page.");
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file === page) continue;
        // Vite puts the list of files to preload there, which a single file does not have.
        const content =
          file.type === "chunk" ? file.code.replaceAll("__VITE_PRELOAD__", "void 0") : String(file.source);
        const isScript = file.type === "chunk";
        // A function, because `$` has a meaning in a replacement.
        const tag = () =>
          isScript
            ? `<script type="module">${content.replaceAll("</script", "<\\/script")}</script>`
            : `<style>${content}</style>`;
        const reference = isScript
          ? new RegExp(`<script[^>]*${file.fileName}"></script>`)
          : new RegExp(`<link[^>]*${file.fileName}">`);
        html = html.replace(reference, tag);
        delete bundle[name];
      }
      page.source = html;
      page.fileName = "widgets.html";
    },
  };
}

/** Leaves out diagrams, formulas and the colors of code, which are most of the size: a widget shows their source. */
function omitLibraries(): Plugin {
  const omitted = /\/node_modules\/(?:mermaid|temml|highlight\.js)\//;
  return {
    name: "omit-libraries",
    enforce: "pre",
    load: (id) => (omitted.test(id) ? 'throw new Error("Not included.");\nexport default {};' : undefined),
  };
}

const root = join(import.meta.dirname, "src/widget-page");

const config: UserConfig = defineConfig({
  root,
  base: "./",
  plugins: [omitLibraries(), react(), tailwindcss(), inlineAssets()],
  resolve: {
    conditions: ["capstan-source", "module", "browser", "development|production"],
    // The host has its own font.
    alias: { "@fontsource-variable/inter/index.css": join(root, "no-font.css") },
  },
  build: {
    outDir: join(import.meta.dirname, "dist/widget-page"),
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { input: join(root, "widgets.html"), output: { codeSplitting: false } },
  },
});

export default config;
