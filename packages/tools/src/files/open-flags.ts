import { constants } from "node:fs";

// Windows has neither flag; opened files are verified afterwards. On macOS, O_NOFOLLOW_ANY refuses links anywhere in the
// path; Node has no constant for it.
const { O_NOFOLLOW = 0, O_DIRECTORY = 0 } = constants;

/** Fails if the path is a link. */
export const noFollow: number = process.platform === "darwin" ? 0x20000000 : O_NOFOLLOW;

/** Fails if the path is not a directory. */
export const directoryOnly: number = O_DIRECTORY;
