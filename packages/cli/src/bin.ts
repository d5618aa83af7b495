#!/usr/bin/env node
// Nothing is imported before the version is known: an older Node could not load it, and would not say why.
const minNodeVersion = "22.19.0";

// Not with `localeCompare`: it loads the rules of all languages first.
function isOlder(version: string, minimum: string): boolean {
  const [[major = 0, minor = 0], [minMajor = 0, minMinor = 0]] = [version, minimum].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  return major < minMajor || (major === minMajor && minor < minMinor);
}

/** SQLite works, and its users can do nothing about its warning. */
function hideSqliteWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
}

if (isOlder(process.versions.node, minNodeVersion)) {
  process.stderr.write(
    `capstan needs Node ${minNodeVersion} or later; this is ${process.versions.node}. Get it at https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  hideSqliteWarning();
  const { runMain } = await import("./main.ts");
  await runMain();
}

export {};
