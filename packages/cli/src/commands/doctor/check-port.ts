// Listens briefly; never connects.
import { createServer } from "node:net";
import type { Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import type { Finding } from "./findings.ts";

const defaultPort = 4680;

/** Checks whether the port of `dev` and `serve` is free. */
export async function checkPort({ config }: Project, io: Io): Promise<Finding> {
  const port = Number(io.env.PORT || config.server?.port || defaultPort);
  const what = `Port ${port}`;
  try {
    await new Promise<void>((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
    });
    return { what, state: "ok", says: "free for `capstan dev` and `capstan serve`" };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const says = error instanceof RangeError ? "not a valid port" : `in use (${code})`;
    return {
      what,
      state: "limited",
      says,
      advice: "`dev` uses the next free port; pass --port to `serve`.",
    };
  }
}
