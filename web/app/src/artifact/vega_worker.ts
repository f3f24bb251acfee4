// Draws in a worker: a stranger's specification sees no page, no cookies, no storage, and can be ended when it does
// not end by itself.
import { measureWith, type VegaLook, vegaSvg } from "./vega_svg";

// A worker has no page to measure text in.
const canvas = new OffscreenCanvas(1, 1).getContext("2d");
if (canvas) measureWith(canvas);

// Nothing here needs them, whatever an expression should get hold of.
const TAKEN =
  "fetch XMLHttpRequest WebSocket EventSource WebTransport importScripts indexedDB caches Worker BroadcastChannel";
for (const name of TAKEN.split(" ")) {
  for (let scope: object | null = self; scope !== null; scope = Object.getPrototypeOf(scope))
    Reflect.deleteProperty(scope, name);
}

export interface Drawing {
  spec: Record<string, unknown>;
  look: VegaLook;
}

export type Drawn = { svg: string } | { error: string };

self.onmessage = ({ data }: MessageEvent<Drawing>) => {
  vegaSvg(data.spec, data.look).then(
    (svg) => self.postMessage({ svg } satisfies Drawn),
    (thrown: unknown) => self.postMessage({ error: String(thrown) } satisfies Drawn),
  );
};
