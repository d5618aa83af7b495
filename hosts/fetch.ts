import type { Server } from "@capstan/server";
import { server } from "./server.ts";

const host: Pick<Server, "fetch"> & { readonly hostname: string } = {
  fetch: server.fetch,
  hostname: "127.0.0.1", // Bun; for Deno: deno serve --host 127.0.0.1
};
// biome-ignore lint/style/noDefaultExport: what `bun` and `deno serve` look for
export default host;
