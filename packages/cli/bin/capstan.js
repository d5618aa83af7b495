#!/usr/bin/env node
// Checks the Node version before it loads the program: an older Node would fail with an obscure error.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const minNodeVersion = "22.19.0";
/** A checkout of the repository starts its sources, so that the command works without a build. */
const isCheckout = existsSync(new URL("../../../scripts/build.ts", import.meta.url));

if (isOlder(process.versions.node, minNodeVersion)) {
  process.stderr.write(
    `capstan requires Node ${minNodeVersion} or later; this is ${process.versions.node}. Get it at https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else {
  if (isCheckout) addCondition("capstan-source");
  // Compiling takes half of the time in which the sources start, and a tenth for the build. By default, Node keeps the
  // result in a temporary folder of the user.
  const cache = new URL("../../../node_modules/.cache/compile", import.meta.url);
  module.enableCompileCache(isCheckout ? fileURLToPath(cache) : undefined);
  const { runMain } = await import(isCheckout ? "../src/main.ts" : "../dist/main.js");
  await runMain();
}

// Not `localeCompare`, which loads the collation data of all languages first.
function isOlder(version, minimum) {
  const [[major, minor], [minMajor, minMinor]] = [version, minimum].map((text) =>
    text.split(".").map(Number),
  );
  return major < minMajor || (major === minMajor && minor < minMinor);
}

function addCondition(condition) {
  module.registerHooks({
    resolve: (specifier, context, resolveNext) =>
      resolveNext(specifier, { ...context, conditions: [condition, ...context.conditions] }),
  });
}
