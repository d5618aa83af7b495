import { existsSync } from "node:fs";
import { createServer, drainOnSignals, listen } from "@capstan/server";
import { sqlite } from "capstan/stores/sqlite";

// Keep keys out of the code and the repository: see .env.example.
if (existsSync(".env")) process.loadEnvFile(".env");
const { support } = await import("./agent.ts");

const store = await sqlite("sessions.db");
const { CAPSTAN_API_KEY: apiKey, PORT = "4680", HOST: host = "127.0.0.1" } = process.env;
const server = createServer({ agents: [support], store, ...(apiKey && { apiKey }) });
const listening = await listen(server, { port: Number(PORT), host });
// SIGTERM: refuse new work, let active runs finish or hand them over, then exit.
drainOnSignals(listening, { afterwards: () => store.close() });
console.log(`The server listens on ${listening.url}`);
