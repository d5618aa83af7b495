import { memory } from "../stores/memory.ts";
import { engineSuite } from "../testing/engine-suite.ts";
import { adaptEngine } from "../testing/engine-under-test.ts";
import { local } from "./local.ts";

engineSuite("local", () => adaptEngine(memory(), (options) => local(options)), {
  isRemote: true,
  share: 0.2,
});
