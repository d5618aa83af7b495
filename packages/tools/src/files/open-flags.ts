import { constants } from "node:fs";

// Windows knows neither; what is opened there is looked at afterwards. macOS can refuse links in the whole path, by a
// flag that Node has no name for (O_NOFOLLOW_ANY).
const { O_NOFOLLOW = 0, O_DIRECTORY = 0 } = constants;

/** Fail where there is a link. */
export const noFollow: number = process.platform === "darwin" ? 0x20000000 : O_NOFOLLOW;

/** Fail where there is no directory. */
export const directoryOnly: number = O_DIRECTORY;
