import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Plugin } from "vite";

const compressedTypes = /\.(?:html|js|css|svg)$/;

const compressors = [
  { extension: ".br", compress: promisify(brotliCompress) },
  { extension: ".gz", compress: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }) },
];

/** Writes `x.js.br` and `x.js.gz` beside each file of a minified build that becomes smaller, for the server to choose from. */
export function compressAssets(): Plugin {
  return {
    name: "compress-assets",
    apply: ({ build }, { command }) => command === "build" && build?.minify !== false,
    async writeBundle({ dir = "" }) {
      const paths = await readdir(dir, { recursive: true });
      await Promise.all(
        paths.filter((path) => compressedTypes.test(path)).map((path) => compressFile(join(dir, path))),
      );
    },
  };
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  await Promise.all(
    compressors.map(async ({ extension, compress }) => {
      const compressed = await compress(bytes);
      if (compressed.length < bytes.length) await writeFile(path + extension, compressed);
    }),
  );
}
