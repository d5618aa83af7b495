#!/usr/bin/env node
// Nothing is imported before the version is known: an older Node could not load it, and would not say why.
const needed = "22.19.0";

// Not with `localeCompare`: it loads the rules of all languages first.
function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [version, than].map((text) =>
    text.split(".").map(Number),
  ) as [number[], number[]];
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** SQLite works, and its users can do nothing about its warning. */
function withoutSqliteWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
}

if (isOlder(process.versions.node, needed)) {
  process.stderr.write(
    `capstan needs Node ${needed} or later; this is ${process.versions.node}. Get it at https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  withoutSqliteWarning();
  const { runMain } = await import("./main.ts");
  await runMain();
}

export {};
