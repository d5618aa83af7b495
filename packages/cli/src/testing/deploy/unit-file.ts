import { readKitFile } from "./kit-files.ts";

/** Returns the values of a setting in the systemd unit, in order. */
export function readUnitSetting(name: string): string[] {
  return readKitFile("capstan.service")
    .split("\n")
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

/** Returns the command of the unit. It needs no quotes. */
export function readUnitCommand(): string[] {
  return readUnitSetting("ExecStart").flatMap((line) => line.split(" "));
}

/** Returns the variables that the unit sets. */
export function readUnitVariables(): Record<string, string> {
  const pairs = readUnitSetting("Environment").flatMap((line) => line.split(" "));
  return Object.fromEntries(pairs.map((pair) => pair.split("=", 2)));
}
