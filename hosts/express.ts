import { toNodeHandler } from "@capstan/server";
import express from "express";
import { server } from "./server.ts";

const app = express();
app.use(express.json()); // not needed here, and no problem
app.use("/agents", toNodeHandler(server));
app.listen(Number(process.env.PORT), "127.0.0.1");
