import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { server } from "./server.ts";

const app = new Hono();
app.use(compress()); // leaves event streams alone
app.all("/agents/*", ({ req }) => server.fetch(req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
