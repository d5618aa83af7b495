import { type Agent, AgentError } from "capstan";

/** Forms of keys that are known to be some. */
const keyForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/, // OpenAI, Anthropic, Stripe
  /\bcap_[\da-f]{16}_[\w-]{43}/,
  /\b(?:AKIA|ASIA)[\dA-Z]{16}\b/, // AWS
  /\bAIza[\w-]{35}/, // Google
  /\b(?:gh[opusr]|glpat|hf|xai|gsk)[-_]\w{16,}/, // GitHub, GitLab, Hugging Face, xAI, Groq
  /\bxox[abprs]-[\w-]{10,}/, // Slack
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/, // a JSON web token
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:api[ _-]?key|password|passwd|secret|access[ _-]?token)\b["']?\s*(?:is|[:=])\s*["']?(?=\S*\d)[^\s"']{8,}/i,
  /:\/\/[^\s/:@]+:[^\s/@]{4,}@/, // an address with a password
];

/**
 * What a model is told it can be made to say again: so a key has no place in instructions. One warning for each agent that
 * has something like it there, among these and those they hand over to; it does not hold the key itself. Instructions
 * that a function makes are not known yet.
 */
export function instructionWarnings(agents: readonly Agent[]): readonly AgentError[] {
  const all = new Set<Agent>(agents);
  for (const agent of all) for (const other of agent.handoffs?.() ?? []) all.add(other); // a set also gives what is added
  return [...all]
    .filter(({ instructions }) => typeof instructions === "string" && holdsKey(instructions))
    .map(({ name }) => {
      const message = `The instructions of the agent "${name}" hold something like a key. Whoever talks to the agent can learn it: give it to the tool that needs it.`;
      return new AgentError("security", message);
    });
}

function holdsKey(text: string): boolean {
  return keyForms.some((form) => form.test(text));
}
