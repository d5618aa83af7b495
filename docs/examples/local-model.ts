import { llama } from "@capstan/local";
import { defineAgent, run } from "capstan";

const model = llama({ file: process.env.GGUF ?? "qwen3-4b-q4_k_m.gguf" });
const agent = defineAgent({ name: "helper", model, settings: { temperature: 0.6 } });

const { text, error } = await run(agent, "Say hello.");
console.log(error ? `${error.code}: ${error.message}` : text);
await model.close();
