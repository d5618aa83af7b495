import { type Agent, AgentError } from "capstan";

/** Formats of known API keys and passwords. */
const keyPatterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/, // OpenAI, Anthropic, Stripe
  /\bcap_[\da-f]{16}_[\w-]{43}/,
  /\b(?:AKIA|ASIA)[\dA-Z]{16}\b/, // AWS
  /\bAIza[\w-]{35}/, // Google
  /\b(?:gh[opusr]|glpat|hf|xai|gsk)[-_]\w{16,}/, // GitHub, GitLab, Hugging Face, xAI, Groq
  /\bxox[abprs]-[\w-]{10,}/, // Slack
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/, // JSON Web Token
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:api[ _-]?key|password|passwd|secret|access[ _-]?token)\b["']?\s*(?:is|[:=])\s*["']?(?=\S*\d)[^\s"']{8,}/i,
  /:\/\/[^\s/:@]+:[^\s/@]{4,}@/, // URL with a password
];

/**
 * Returns a warning for each agent whose instructions seem to contain a key, because a model can be made to repeat
 * them. Follows handoffs. The warning does not contain the key. Instructions computed by a function are not checked.
 */
export function checkInstructions(agents: readonly Agent[]): readonly AgentError[] {
  const team = new Set<Agent>(agents);
  for (const agent of team) for (const other of agent.handoffs?.() ?? []) team.add(other); // iterates over items added in the loop, too
  return [...team]
    .filter(({ instructions }) => typeof instructions === "string" && containsKey(instructions))
    .map(({ name }) => {
      const message = `The instructions of agent "${name}" seem to contain a key. Users of the agent can extract it. Pass the key to the tool that needs it instead.`;
      return new AgentError("security", message);
    });
}

function containsKey(text: string): boolean {
  return keyPatterns.some((form) => form.test(text));
}
