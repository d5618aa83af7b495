// The command line as it is published. In this repository, `capstan` starts the sources.
import { runMain } from "../packages/cli/dist/main.js";

await runMain();
