// A server that speaks enough of Neo4j's protocol (Bolt 4.4) for the official driver to read canned nodes.

import { createServer, type Socket } from "node:net";

export type BoltValue =
  | string
  | number
  | readonly BoltValue[]
  | { readonly [key: string]: BoltValue }
  | BoltStruct;
type BoltStruct = { readonly tag: number; readonly fields: readonly BoltValue[] };

export const createNode = (id: number, label: string, properties: BoltValue): BoltStruct => ({
  tag: 0x4e,
  fields: [id, [label], properties],
});
export const createRelationship = (
  id: number,
  [from, type, to]: readonly [from: number, type: string, to: number],
): BoltStruct => ({ tag: 0x52, fields: [id, from, to, type, {}] });

export type BoltServerOptions = {
  readonly password: string;
  readonly nodes: readonly BoltValue[];
  readonly relationships: readonly BoltValue[];
};

export type BoltServer = {
  readonly port: number;
  /** The messages of the client, as raw text. */
  readonly messages: readonly string[];
  close(): void;
};

export async function startBoltServer(options: BoltServerOptions): Promise<BoltServer> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serve(socket, options, messages);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    messages,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function serve(socket: Socket, options: BoltServerOptions, messages: string[]): void {
  let buffer = Buffer.alloc(0);
  let hasVersion = false;
  let isEdgeQuery = false;
  const send = (tag: number, ...fields: BoltValue[]): void => {
    const body = encode({ tag, fields });
    socket.write(
      Buffer.concat([Buffer.from([body.length >> 8, body.length & 255]), body, Buffer.from([0, 0])]),
    );
  };
  const succeed = (metadata: BoltValue = {}) => send(0x70, metadata);
  const answer = (message: Buffer): void => {
    const text = message.toString("latin1");
    messages.push(text);
    const tag = message[1];
    if (tag === 0x01) {
      const isKnown = text.includes(options.password);
      const code = "Neo.ClientError.Security.Unauthorized";
      if (isKnown) succeed({ server: "Neo4j/4.4.0", connection_id: "bolt-1" });
      else send(0x7f, { code, message: "The client is unauthorized." });
    } else if (tag === 0x10) {
      isEdgeQuery = text.includes("RETURN r");
      succeed({ fields: [isEdgeQuery ? "r" : "n"] });
    } else if (tag === 0x3f) {
      for (const value of isEdgeQuery ? options.relationships : options.nodes) send(0x71, [value]);
      succeed({ type: "r" });
    } else if (tag === 0x02) socket.end();
    else succeed();
  };
  socket.on("error", () => undefined); // the driver may close it at any time
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    if (!hasVersion) {
      if (buffer.length < 20) return;
      buffer = buffer.subarray(20);
      hasVersion = true;
      socket.write(Buffer.from([0, 0, 4, 4]));
    }
    for (
      let size = buffer.length > 1 ? buffer.readUInt16BE() : -1;
      size >= 0 && buffer.length >= size + 4;
    ) {
      answer(buffer.subarray(2, size + 2));
      buffer = buffer.subarray(size + 4);
      size = buffer.length > 1 ? buffer.readUInt16BE() : -1;
    }
  });
}

const isStruct = (value: object): value is BoltStruct => "tag" in value;
const isList = (value: object): value is readonly BoltValue[] => Array.isArray(value);

/** PackStream, for small values. */
function encode(value: BoltValue): Buffer {
  if (typeof value === "number") return Buffer.from([0xc9, (value >> 8) & 255, value & 255]);
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([Buffer.from([0xd0, text.length]), text]);
  }
  if (isList(value)) return Buffer.concat([Buffer.from([0xd4, value.length]), ...value.map(encode)]);
  if (isStruct(value))
    return Buffer.concat([Buffer.from([0xb0 | value.fields.length, value.tag]), ...value.fields.map(encode)]);
  const entries = Object.entries(value).flatMap(([key, inner]) => [encode(key), encode(inner)]);
  return Buffer.concat([Buffer.from([0xd8, entries.length / 2]), ...entries]);
}
