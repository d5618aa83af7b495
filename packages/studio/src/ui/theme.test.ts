import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const folders = ["ui", "chat/messages", "chat/composer", "widgets", "markdown", "shell", "inspector"];

test("text has the sizes of the theme", () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const odd = files
    .filter((file) => file.endsWith(".tsx"))
    .flatMap((file) => readFileSync(join(root, file), "utf8").match(/text-\[[\d.]+(?:rem|px)\]/g) ?? []);
  expect(odd).toEqual([]);
});
