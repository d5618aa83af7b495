#!/usr/bin/env node
// `npm create capstan my-agent` is `capstan init my-agent`.
process.argv.splice(2, 0, "init");
await import("@capstan/cli/bin");
