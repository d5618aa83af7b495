#!/usr/bin/env node
// Imports nothing before checking the Node version: an older Node would fail to load the program with an obscure error.
const minNodeVersion = "22.19.0";

// Not `localeCompare`, which loads the collation data of all languages first.
function isOlder(version: string, minimum: string): boolean {
  const [[major = 0, minor = 0], [minMajor = 0, minMinor = 0]] = [version, minimum].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  return major < minMajor || (major === minMajor && minor < minMinor);
}

/** Hides Node's warning that SQLite is experimental: users can do nothing about it. */
function hideSqliteWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
}

if (isOlder(process.versions.node, minNodeVersion)) {
  process.stderr.write(
    `capstan requires Node ${minNodeVersion} or later; this is ${process.versions.node}. Get it at https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  hideSqliteWarning();
  const { runMain } = await import("./main.ts");
  await runMain();
}

export {};
