/// <reference lib="dom" />
/** Runs in the browser: line charts that follow the width of the page and its light or dark colours. */
import uPlot from "uplot";

/** Colours that differ also in grey and for the colour-blind (Okabe & Ito); the dark ones are the same, lighter. */
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07800", "#3a9bd0", "#666666", "#000000"];
const DARK = ["#56b4e9", "#ff8f3f", "#2fd3a5", "#e69ac4", "#f0c14a", "#8fb8ff", "#b4b4b4", "#ffffff"];

export interface ChartOptions {
  title: string;
  /** Names what the x values are, with their unit. */
  x_label: string;
  /** The same for y. */
  y_label: string;
  xs: number[];
  labels: string[];
  /** By label; null where there is nothing. */
  lines: (number | null)[][];
  /** Text of a value of x and of y. */
  showX?: (x: number) => string;
  showY?: (y: number) => string;
  /** Values of x that get a mark. */
  marks?: number[];
  log?: boolean;
  /** Ends of the y axis; by default those of the values. */
  y_range?: [number, number];
}

const HEIGHT = 260;

/** Latency and shares need no more digits than these. */
export const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

export const percentText = (share: number): string => `${threeDigits(100 * share)} %`;

const scheme = matchMedia("(prefers-color-scheme: dark)");

const drawn: (() => void)[] = [];

function axis(label: string, rest: uPlot.Axis): uPlot.Axis {
  const style = getComputedStyle(document.body);
  const line = { stroke: style.getPropertyValue("--line"), width: 1 };
  return { label, labelSize: 18, stroke: style.getPropertyValue("--quiet"), grid: line, ticks: line, ...rest };
}

function axesOf({
  x_label,
  y_label,
  showX = threeDigits,
  showY = threeDigits,
  marks,
  log,
}: ChartOptions): uPlot.Axis[] {
  const label = (show: (value: number) => string, value: number | null): string => (value === null ? "" : show(value));
  return [
    axis(x_label, {
      size: 32,
      values: (_, xs) => xs.map((x) => label(showX, x)),
      ...(marks && { splits: () => marks }),
    }),
    axis(y_label, {
      size: 58,
      values: (_, ys) => ys.map((y: number | null) => label(showY, y)),
      // Of a logarithmic scale only the powers of ten are named, or the labels would touch.
      ...(log === true && { filter: (_: uPlot, ys: number[]) => ys.map((y) => (isRound(y) ? y : null)) }),
    }),
  ];
}

/** 0.1, 0.2, 0.5, 1, 2, 5 …: as many labels as a logarithmic axis has room for. */
function isRound(value: number): boolean {
  const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((round) => Math.abs(lead - round) < 1e-6);
}

function build(place: HTMLElement, options: ChartOptions): uPlot {
  const { x_label, xs, labels, lines, showX = threeDigits, showY = threeDigits, log = false, y_range } = options;
  const palette = scheme.matches ? DARK : LIGHT;
  const show = (text: (value: number) => string) => (_: uPlot, value: number | null) =>
    value === null ? "–" : text(value);
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      // Room for half of the last label.
      padding: [8, 26, 0, 0],
      scales: { x: { time: false }, y: { ...(log && { distr: 3 }), ...(y_range && { range: () => y_range }) } },
      axes: axesOf(options),
      series: [
        { label: x_label, value: show(showX) },
        ...labels.map((label, k) => ({
          label,
          stroke: palette[k % palette.length],
          width: 1.75,
          dash: k >= palette.length ? [6, 4] : [],
          points: { show: xs.length < 2 },
          value: show(showY),
        })),
      ],
    },
    [xs, ...lines],
    place,
  );
}

/** Adds a chart at the end of `parent`. */
export function addChart(parent: HTMLElement, options: ChartOptions): void {
  const place = document.createElement("div");
  place.className = "chart";
  const title = document.createElement("h3");
  title.textContent = options.title;
  place.append(title);
  parent.append(place);
  let plot = build(place, options);
  drawn.push(() => {
    plot.destroy();
    plot = build(place, options);
  });
  new ResizeObserver(() => {
    if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: HEIGHT });
  }).observe(place);
}

scheme.addEventListener("change", () => {
  for (const again of drawn) again();
});
