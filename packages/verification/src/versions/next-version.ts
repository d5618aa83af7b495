// Imported before a program (`--import`): turns the runtime that it loads into an imaginary next version, whose facts have
// the next number and whose databases have one more table.
import { registerHooks } from "node:module";

type Change = { readonly pattern: RegExp; readonly replace: (match: string, group: string) => string };

const changes: Readonly<Record<string, Change>> = {
  "/capstan/src/kernel/event.ts": {
    pattern: /(?<=export const factVersion = )(\d+)/,
    replace: (number) => String(Number(number) + 1),
  },
  "/capstan/src/stores/sqlite/migrations.ts": {
    pattern: /const additions: .* = \{/,
    replace: (start) => `${start} next_version: "CREATE TABLE next_version (number INTEGER) STRICT",`,
  },
  "/capstan/src/stores/postgres/migrations.ts": {
    pattern: /const additions: .* = \{/,
    replace: (start) => `${start} next_version: (schema) => "CREATE TABLE " + schema + ".next_version ()",`,
  },
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const change = Object.entries(changes).find(([file]) => url.endsWith(file))?.[1];
    if (!change || !loaded.source) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    if (!change.pattern.test(source)) throw new Error(`${url} has changed: adapt next-version.ts.`);
    return { ...loaded, source: source.replace(change.pattern, change.replace) };
  },
});
