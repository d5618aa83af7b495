import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeSuite } from "../../testing/store-suite.ts";
import { sqlite } from "./sqlite.ts";

let folder = "";
storeSuite(
  "sqlite",
  () => {
    folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
    return sqlite(join(folder, "store.db"));
  },
  {
    second: () => sqlite(join(folder, "store.db"), { pollMs: 20 }),
    close: () => rmSync(folder, { recursive: true }),
  },
);
