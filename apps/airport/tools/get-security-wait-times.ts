import type { ChartProps } from "@capstan/studio";
import { type Clock, defineTool, type Tool } from "capstan";
import { formatMinutes } from "../venue/distances.ts";
import { formatLocation } from "../venue/venue.ts";
import { simulateWaitTimes } from "../venue/wait-times.ts";
import type { VenueContext } from "./venue-context.ts";

/** Simulated from the clock: the same time gives the same minutes. */
export function getSecurityWaitTimes({ venue }: VenueContext, clock: Pick<Clock, "now">): Tool {
  const checkpoints = venue.places.filter(({ category }) => category === "checkpoint");
  const buildings = [...new Set(checkpoints.map(({ building }) => building))];
  return defineTool({
    name: "getSecurityWaitTimes",
    description:
      "Returns the wait time at each security checkpoint, shortest first. The times are simulated: say so.",
    input: {
      type: "object",
      properties: {
        buildingId: {
          type: "string",
          ...(buildings.length > 0 && { enum: buildings }),
          description: "Only the checkpoints in this terminal",
        },
      },
      additionalProperties: false,
    },
    examples: [
      { phrase: "how long is the wait at {buildingId}" },
      { phrase: "how long is the wait in {buildingId}" },
      { phrase: "how long is the queue at {buildingId}" },
      { phrase: "how long is the wait at security in {buildingId}" },
      { phrase: "wait time at {buildingId}" },
      { phrase: "what is the wait at the {buildingId} checkpoint" },
      { phrase: "how long is the wait at security" },
      { phrase: "security wait times" },
      { phrase: "which checkpoint is the fastest" },
      { phrase: "how long is the queue at the checkpoint" },
    ],
    effects: "none",
    reads: ["public"],
    execute({ buildingId }) {
      const waits = simulateWaitTimes(venue, clock.now()).filter(
        ({ checkpoint }) => buildingId === undefined || checkpoint.building === buildingId,
      );
      const [first] = waits;
      if (!first)
        return { message: `No checkpoints are recorded for ${venue.name}.`, data: { checkpoints: [] } };
      const chart: ChartProps = {
        title: `Security wait times (simulated), ${venue.name}`,
        type: "bar",
        unit: "min",
        x: { label: "Checkpoint", values: waits.map(({ checkpoint }) => checkpoint.name) },
        series: [{ label: "Minutes (simulated)", values: waits.map(({ minutes }) => minutes) }],
      };
      return {
        message: `Simulated times: the ${waits.length > 1 ? "shortest wait" : "wait"} is ${formatMinutes(first.minutes)} at ${first.checkpoint.name}.`,
        data: {
          note: "These times are simulated.",
          checkpoints: waits.map(({ checkpoint, minutes }) => ({
            poiId: checkpoint.poiId,
            name: checkpoint.name,
            wait: `${formatMinutes(minutes)} (simulated)`,
            location: formatLocation(checkpoint),
            minutes,
          })),
        },
        ui: { kind: "chart", props: chart },
      };
    },
  });
}
