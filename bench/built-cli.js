// The command line as it is published. In this repository, `capstan` starts the sources.
import module from "node:module";

module.enableCompileCache();
const { runMain } = await import("../packages/cli/dist/main.js");
await runMain();
