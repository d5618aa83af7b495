import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  type BoltServer,
  type BoltServerOptions,
  createNode,
  createRelationship,
  startBoltServer,
} from "../testing/bolt-server.ts";
import { isNeo4jUrl, readNeo4j } from "./neo4j.ts";

let server: BoltServer | undefined;
afterEach(() => server?.close());

const content: BoltServerOptions = {
  password: "CANARY-8114",
  nodes: [
    createNode(1, "Person", { name: "Ida", age: 34 }),
    createNode(2, "Person", { name: "Jon" }),
    createNode(3, "Boat", { title: "Gull" }),
  ],
  relationships: [
    createRelationship(7, [1, "KNOWS", 2]),
    createRelationship(8, [1, "SAILS", 3]),
    createRelationship(9, [1, "SAILS", 99]),
  ],
};

async function start(): Promise<number> {
  server = await startBoltServer(content);
  return server.port;
}

// There is no Neo4j here: these tests run the official driver against a small server that speaks its protocol.
describe("a Neo4j database", () => {
  it("has labels as types and relationships as edges, and is read in a session that cannot write", async () => {
    const port = await start();
    const { network, problems } = await readNeo4j(`bolt://ida:CANARY-8114@127.0.0.1:${port}/harbor`);
    expect(network).toMatchObject({ title: "harbor", isDirected: true });
    expect(network.nodes.map(({ data }) => data)).toEqual([
      { name: "Ida", age: 34, type: "Person" },
      { name: "Jon", type: "Person" },
      { title: "Gull", type: "Boat", name: "Gull" },
    ]);
    expect(network.edges.map(({ from, to, data }) => [from, data.type, to])).toEqual([
      ["1", "KNOWS", "2"],
      ["1", "SAILS", "3"],
    ]);
    expect(problems).toEqual(['1 edge with an end that is not a node; the first: "99".']);
    const queries = server?.messages.filter((message) => message.includes("MATCH")) ?? [];
    expect(queries).toHaveLength(2);
    // In PackStream: the entry "mode" with the value "r" (read), and the database.
    for (const query of queries) expect(query).toMatch(/\x84mode\x81r/);
    for (const query of queries) expect(query).toContain("harbor");
  });

  it("is bounded: the report says that there is more", async () => {
    const port = await start();
    const options = { environment: { NEO4J_PASSWORD: "CANARY-8114" }, limits: { nodes: 2, edges: 10 } };
    const { network, problems } = await readNeo4j(`bolt://127.0.0.1:${port}`, options);
    expect(network.nodes).toHaveLength(2);
    expect(problems[0]).toBe("Only the first 2 nodes were read; the database has more.");
  });

  it("with a wrong password is named without the password", async () => {
    const port = await start();
    await expect(readNeo4j(`bolt://ida:WRONG-5561@127.0.0.1:${port}`)).rejects.toSatisfy((error) => {
      expect(error).toMatchObject({
        code: "unauthorized",
        message: `Neo4j at 127.0.0.1:${port} did not accept the user or the password.`,
      });
      return !String(error.stack).includes("WRONG-5561");
    });
  });

  it("that is not there, or is another server, is named", async () => {
    const other = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const read = () => readNeo4j(`bolt://ida:SECRET-3390@127.0.0.1:${port}`);
    await expect(read()).rejects.toMatchObject({ code: "server_unreachable" });
    other.close();
    await expect(read()).rejects.toSatisfy((error) => {
      expect(error).toMatchObject({ code: "server_unreachable" });
      return !`${error.stack} ${JSON.stringify(error)}`.includes("SECRET-3390");
    });
  });

  it("is known by the scheme of its address", () => {
    expect(["bolt://x", "neo4j+s://x.example/db", "/home/a.csv", "https://x"].map(isNeo4jUrl)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
