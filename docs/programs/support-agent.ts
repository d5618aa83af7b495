// A support agent behind Express, on Postgres: `DATABASE_URL=postgres://… node support-agent.ts`.
import { createServer, toNodeHandler } from "@capstan/server";
import { defineAgent, defineTool, type ToolContext } from "capstan";
import { defaultModel } from "capstan/models";
import { postgres } from "capstan/stores/postgres";
import express from "express";
import pg from "pg";
import { z } from "zod";

const { DATABASE_URL, SUPPORT_KEY, PORT } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL });
await pool.query("create table if not exists orders (number text primary key, customer text, item text)");

const listOrders = defineTool({
  name: "list_orders",
  description: "Lists the orders of the customer",
  input: z.object({}),
  examples: [{ phrase: "what did I order" }, { phrase: "show my orders" }],
  effects: "none",
  reads: ["private"],
  async execute(_, { context }: ToolContext<{ user: string }>) {
    const sql = "select number, item from orders where customer = $1 order by number";
    return (await pool.query(sql, [context.user])).rows;
  },
});

const cancelOrder = defineTool({
  name: "cancel_order",
  description: "Cancels an order of the customer",
  input: z.object({ number: z.string() }),
  examples: [{ phrase: "cancel order {number}" }],
  effects: "state",
  needsApproval: true, // the run waits for the customer, even if the server restarts
  async execute({ number }, { context }: ToolContext<{ user: string }>) {
    const sql = "delete from orders where number = $1 and customer = $2";
    const { rowCount } = await pool.query(sql, [number, context.user]);
    return rowCount === 1 ? `Order ${number} is cancelled.` : { error: `There is no order ${number}.` };
  },
});

const support = defineAgent({
  name: "support",
  model: await defaultModel(),
  instructions: "You help customers of a shop with their orders.",
  tools: [listOrders, cancelOrder],
});

const store = postgres(pool); // sessions and approvals, shared by all processes
const server = createServer({
  agents: [support],
  store,
  basePath: "/agents",
  ...(SUPPORT_KEY !== undefined && { apiKey: SUPPORT_KEY }),
});

const app = express();
app.get("/", (_request, response) => void response.send("The shop is open."));
app.use("/agents", toNodeHandler(server));
const port = Number(PORT ?? 3000);
const listener = app.listen(port, "127.0.0.1", () => console.log("listening", listener.address()));

process.once("SIGTERM", async () => {
  await server.close(); // other processes continue the active runs
  listener.close();
  await store.close();
  await pool.end();
});
