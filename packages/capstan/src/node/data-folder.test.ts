import { expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";

it.each([
  ["what CAPSTAN_HOME says", { CAPSTAN_HOME: "/data", HOME: "/home/ada" }, "linux", "/data"],
  ["the usual one of Linux", { HOME: "/home/ada" }, "linux", "/home/ada/.local/share/capstan"],
  ["another one, if XDG says so", { HOME: "/home/ada", XDG_DATA_HOME: "/xdg" }, "linux", "/xdg/capstan"],
  ["that of macOS", { HOME: "/Users/ada" }, "darwin", "/Users/ada/Library/Application Support/capstan"],
  ["that of Windows", { USERPROFILE: "/ada" }, "win32", "/ada/AppData/Local/capstan"],
] as const)("the folder for data is %s", (_, env, platform, folder) => {
  expect(dataFolder(env, platform)).toBe(folder);
});
