import { expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";

it.each([
  ["CAPSTAN_HOME if set", { CAPSTAN_HOME: "/data", HOME: "/home/ada" }, "linux", "/data"],
  ["~/.local/share on Linux", { HOME: "/home/ada" }, "linux", "/home/ada/.local/share/capstan"],
  ["XDG_DATA_HOME if set", { HOME: "/home/ada", XDG_DATA_HOME: "/xdg" }, "linux", "/xdg/capstan"],
  [
    "Application Support on macOS",
    { HOME: "/Users/ada" },
    "darwin",
    "/Users/ada/Library/Application Support/capstan",
  ],
  ["AppData on Windows", { USERPROFILE: "/ada" }, "win32", "/ada/AppData/Local/capstan"],
] as const)("the data folder is %s", (_, env, platform, folder) => {
  expect(dataFolder(env, platform)).toBe(folder);
});
