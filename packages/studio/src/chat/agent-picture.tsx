import type { AboutAgent } from "capstan/client";
import type { CSSProperties, ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";

export type PictureName = NonNullable<AboutAgent["picture"]>;

/** The color of each picture: one of the colors of series. */
const hues: { readonly [name in PictureName]: string } = {
  map: "var(--series-1)",
  files: "var(--series-2)",
  graph: "var(--series-3)",
  sources: "var(--series-6)",
  tools: "var(--series-7)",
  chat: "var(--series-8)",
};

type AgentPictureProps = { readonly name: PictureName | undefined; readonly className: string };

/** A small drawing of what an agent does. The middle square is enough to recognize it. */
export function AgentPicture({ name = "chat", className }: AgentPictureProps): ReactNode {
  const style = {
    "--hue": hues[name],
    "--wash": "color-mix(in oklab, var(--hue) 11%, var(--raised))",
    "--mild": "color-mix(in oklab, var(--hue) 32%, var(--raised))",
    background: "var(--wash)",
  } as CSSProperties;
  const Drawing = drawings[name];
  return (
    <svg
      viewBox="0 0 200 80"
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
      data-picture={name}
      style={style}
      className={classNames("block", className)}
    >
      <Drawing />
    </svg>
  );
}

const [hue, mild, sheet] = ["var(--hue)", "var(--mild)", "var(--raised)"] as const;

/** Rooms along a corridor, and a route to a pin. */
function MapDrawing(): ReactNode {
  const rooms = [16, 44, 72, 100, 128, 156];
  return (
    <>
      <path d="M10 10h180v60H10z" fill={sheet} stroke={mild} strokeWidth="1.5" />
      {rooms.map((x) => (
        <path key={x} d={`M${x} 16h22v16h-22zM${x} 48h22v16h-22z`} fill="var(--wash)" stroke={mild} />
      ))}
      <path
        d="M27 40h112"
        fill="none"
        stroke={hue}
        strokeWidth="3.5"
        strokeLinecap="round"
        strokeDasharray="0.1 7"
      />
      <circle cx="66" cy="40" r="5" fill={hue} stroke={sheet} strokeWidth="2" />
      <path d="M66 40h45" stroke={hue} strokeWidth="4" strokeLinecap="round" />
      <path
        d="M111 42c-3.5-7-10-10.5-10-18a10 10 0 0 1 20 0c0 7.5-6.5 11-10 18Z"
        fill={hue}
        stroke={sheet}
        strokeWidth="2"
      />
      <circle cx="111" cy="24" r="3.6" fill={sheet} />
    </>
  );
}

/** A file with a removed and an added line, approved. */
function FilesDrawing(): ReactNode {
  return (
    <>
      <path d="M22 14h26l6 7h22v48H22z" fill={mild} opacity="0.6" />
      <rect x="60" y="9" width="82" height="64" rx="5" fill={sheet} stroke={mild} strokeWidth="1.5" />
      <path d="M70 20h34M70 28h48" stroke={mild} strokeWidth="4" strokeLinecap="round" />
      <path d="M61 34h80v11H61z" fill="var(--bad-soft)" />
      <path d="M61 45h80v11H61z" fill="color-mix(in oklab, var(--good) 18%, var(--raised))" />
      <path d="M70 39.5h5M79 39.5h34" stroke="var(--bad)" strokeWidth="3" strokeLinecap="round" />
      <path d="M70 50.5h5m-2.5-2.5v5M79 50.5h46" stroke="var(--good)" strokeWidth="3" strokeLinecap="round" />
      <path d="M70 64h26" stroke={mild} strokeWidth="4" strokeLinecap="round" />
      <circle cx="142" cy="62" r="12" fill={hue} stroke="var(--wash)" strokeWidth="3" />
      <path
        d="m137 62 3.8 4 6.6-7.6"
        fill="none"
        stroke={sheet}
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  );
}

/** Nodes of two types. */
function GraphDrawing(): ReactNode {
  return (
    <>
      <path
        d="M100 40 66 22M100 40l36-20M100 40 72 62M100 40l34 22M66 22 28 34M136 20l36 14M72 62 34 58M134 62l36-4M136 20l-2 42"
        stroke={mild}
        strokeWidth="2"
        fill="none"
      />
      {(["28 34", "34 58", "172 34", "170 58"] as const).map((at) => (
        <circle key={at} cx={at.split(" ")[0]} cy={at.split(" ")[1]} r="5" fill={mild} />
      ))}
      <g stroke="var(--wash)" strokeWidth="2">
        <circle cx="66" cy="22" r="8" fill={hue} />
        <circle cx="134" cy="62" r="8" fill={hue} />
        <circle cx="136" cy="20" r="7" fill="var(--series-2)" />
        <circle cx="72" cy="62" r="7" fill="var(--series-2)" />
        <circle cx="100" cy="40" r="12" fill={hue} />
      </g>
      <circle cx="100" cy="40" r="17" fill="none" stroke={hue} strokeWidth="1.5" opacity="0.5" />
    </>
  );
}

/** A passage that an answer cites, under a magnifier. */
function SourcesDrawing(): ReactNode {
  return (
    <>
      <rect x="26" y="18" width="52" height="62" rx="4" fill={mild} opacity="0.55" />
      <rect x="122" y="18" width="52" height="62" rx="4" fill={mild} opacity="0.55" />
      <rect x="58" y="9" width="84" height="71" rx="5" fill={sheet} stroke={mild} strokeWidth="1.5" />
      <path d="M69 21h40M69 31h58M69 59h52M69 69h34" stroke={mild} strokeWidth="4" strokeLinecap="round" />
      <path d="M66 37h62v14H66z" fill="color-mix(in oklab, var(--hue) 22%, var(--raised))" />
      <path d="M70 44h40" stroke={hue} strokeWidth="4" strokeLinecap="round" />
      <circle cx="121" cy="45" r="14" fill="color-mix(in oklab, var(--raised) 55%, transparent)" />
      <circle cx="121" cy="45" r="14" fill="none" stroke={hue} strokeWidth="3.5" />
      <path d="m131.5 55.5 9 9" stroke={hue} strokeWidth="5" strokeLinecap="round" />
      <path
        d="M116.5 41.5 121 39v12"
        fill="none"
        stroke={hue}
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  );
}

/** Servers that plug into one agent. */
function ToolsDrawing(): ReactNode {
  return (
    <>
      <path
        d="M40 20h24c12 0 10 20 22 20M40 60h24c12 0 10-20 22-20M160 20h-24c-12 0-10 20-22 20M160 60h-24c-12 0-10-20-22-20"
        fill="none"
        stroke={mild}
        strokeWidth="3"
      />
      {([18, 150] as const).map((x) => (
        <g key={x}>
          {([8, 48] as const).map((y) => (
            <g key={y}>
              <rect x={x} y={y} width="32" height="24" rx="5" fill={sheet} stroke={mild} strokeWidth="1.5" />
              <circle cx={x + 9} cy={y + 12} r="2.6" fill={hue} />
              <path d={`M${x + 15} ${y + 12}h10`} stroke={mild} strokeWidth="3" strokeLinecap="round" />
            </g>
          ))}
        </g>
      ))}
      <circle cx="100" cy="40" r="22" fill={hue} />
      <path
        d="M93 27v9M107 27v9M89 36h22v4a11 11 0 0 1-22 0zM100 51v6"
        fill="none"
        stroke={sheet}
        strokeWidth="3.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  );
}

/** A question and an answer. */
function ChatDrawing(): ReactNode {
  return (
    <>
      <rect x="92" y="11" width="52" height="24" rx="7" fill={mild} />
      <path d="M102 23h32" stroke={sheet} strokeWidth="4" strokeLinecap="round" />
      <path
        d="M62 33h52a7 7 0 0 1 7 7v18a7 7 0 0 1-7 7H76l-10 8v-8h-4a7 7 0 0 1-7-7V40a7 7 0 0 1 7-7Z"
        fill={sheet}
        stroke={hue}
        strokeWidth="2"
      />
      <path d="M67 44h40M67 54h26" stroke={mild} strokeWidth="4" strokeLinecap="round" />
    </>
  );
}

const drawings: { readonly [name in PictureName]: () => ReactNode } = {
  map: MapDrawing,
  files: FilesDrawing,
  graph: GraphDrawing,
  sources: SourcesDrawing,
  tools: ToolsDrawing,
  chat: ChatDrawing,
};
