import { Maximize, Minus, Plus } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../look/button.tsx";
import { steadyText } from "../markdown/visible-text.ts";
import { MapDrawing } from "./map-drawing.tsx";
import { projectionOf } from "./map-projection.ts";
import { usePanZoom } from "./use-pan-zoom.ts";
import { Choice, TextAlternative, WidgetFrame } from "./widget-frame.tsx";
import type { MapPin, MapProps } from "./widget-props.ts";

const height = 360;

/** Floors drawn from their shapes, with pins and a way: nothing is loaded for it. */
export function MapWidget(props: MapProps): ReactNode {
  const { title, levels, pins = [], route } = props;
  const [levelId, setLevelId] = useState(() => firstLevel(props));
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const size = { width, height };
  const projection = useMemo(() => projectionOf(props, { width, height }), [props, width]);
  const { view, zoom, reset, centre, handlers } = usePanZoom(place, size);
  const level = levels.find(({ id }) => id === levelId) ?? levels[0];
  const show = (pin: MapPin): void => {
    setLevelId(pin.level);
    centre(...projection.project(pin.at));
  };
  return (
    <WidgetFrame
      label="Map"
      title={title}
      tools={
        levels.length > 1 && (
          <Choice
            label="Level"
            options={levels.map(({ id, name }) => ({ value: id, name: steadyText(name) }))}
            value={level?.id ?? ""}
            onChoose={setLevelId}
          />
        )
      }
    >
      <div className="relative">
        <div
          ref={place}
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves it
          tabIndex={0}
          aria-label={`Map of ${steadyText(level?.name ?? "")}. Arrow keys move it, plus and minus zoom, 0 shows all.`}
          className="cursor-grab touch-pan-y select-none overflow-hidden bg-sunken active:cursor-grabbing focus-visible:-outline-offset-2"
          style={{ height }}
          {...handlers}
        >
          {level && <MapDrawing map={props} level={level} projection={projection} view={view} size={size} />}
        </div>
        <div className="absolute right-2 bottom-2 flex flex-col rounded-md border bg-raised">
          <IconButton label="Zoom in" onClick={() => zoom(1.5)}>
            <Plus size={16} />
          </IconButton>
          <IconButton label="Zoom out" onClick={() => zoom(1 / 1.5)}>
            <Minus size={16} />
          </IconButton>
          <IconButton label="Show all" onClick={reset}>
            <Maximize size={14} />
          </IconButton>
        </div>
      </div>
      {(pins.length > 0 || route) && (
        <TextAlternative summary="Places and steps">
          <MapInWords map={props} onShow={show} />
        </TextAlternative>
      )}
    </WidgetFrame>
  );
}

function firstLevel({ levels, level, pins = [], route }: MapProps): string {
  const wanted = level ?? route?.points[0]?.level ?? pins[0]?.level;
  return levels.find(({ id }) => id === wanted)?.id ?? levels[0]?.id ?? "";
}

function useWidth(place: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(Math.round(element.clientWidth), 100)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return width;
}

type MapInWordsProps = { readonly map: MapProps; readonly onShow: (pin: MapPin) => void };

function MapInWords({ map, onShow }: MapInWordsProps): ReactNode {
  const { levels, pins = [], route } = map;
  const nameOf = (id: string): string => steadyText(levels.find((level) => level.id === id)?.name ?? id);
  return (
    <>
      {pins.length > 0 && (
        <ul>
          {pins.map((pin, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two pins may have one name
            <li key={index} className="py-0.5">
              <button
                type="button"
                onClick={() => onShow(pin)}
                className="text-left text-accent underline decoration-accent/40 underline-offset-2"
              >
                {steadyText(pin.label)}
              </button>
              <span className="text-quiet">
                {pin.look === "here" && ", you are here"}, {nameOf(pin.level)}
                {pin.note !== undefined && `. ${steadyText(pin.note)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {route?.steps && (
        <ol className="mt-2 list-decimal pl-5">
          {route.steps.map((text, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have the same words
            <li key={index} className="py-0.5">
              {steadyText(text)}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
