import { createSocket } from "node:dgram";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";

/** A server on this machine that must not hear of anything. */
export interface Canary {
  /** Its TCP port on the loopback interface, and its UDP address on another one, if there is one. */
  readonly port: number;
  readonly udpHost: string;
  readonly udpPort: number;
  /** What arrived: connections, requests with their path, and datagrams. */
  readonly heard: string[];
  close(): Promise<void>;
}

export async function startCanary(): Promise<Canary> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    response.setHeader("access-control-allow-origin", "*");
    response.end("canary");
  });
  server.on("connection", () => heard.push("connection"));
  server.listen(0, "127.0.0.1");
  const socket = createSocket("udp4", () => heard.push("datagram"));
  // WebRTC does not use the loopback interface.
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const udpHost = interfaces.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  socket.bind(0, udpHost);
  await Promise.all(
    [server, socket].map((each) => new Promise((resolve) => each.once("listening", resolve))),
  );
  return {
    port: (server.address() as AddressInfo).port,
    udpHost: udpHost ?? "127.0.0.1",
    udpPort: socket.address().port,
    heard,
    async close() {
      socket.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
