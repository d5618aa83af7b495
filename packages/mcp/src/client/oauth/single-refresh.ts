import type { Answer } from "./bounded-answer.ts";

const keptMs = 5000;

/**
 * Makes requests that use the same refresh token one request. Calls that run side by side all find their token
 * expired; an authorization server that rotates refresh tokens would take the second use of one for a theft.
 */
export function singleRefresh(): (key: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const answers = new Map<string, Promise<Answer>>();
  return (key, ask) => {
    const known = answers.get(key);
    if (known) return known;
    const answer = ask();
    answers.set(key, answer);
    const forget = () => answers.delete(key);
    // Kept for a moment: who read the old token before the new one was saved asks a little later.
    answer.then(
      ({ status }) => (status === 200 ? void setTimeout(forget, keptMs).unref() : forget()),
      forget,
    );
    return answer;
  };
}
