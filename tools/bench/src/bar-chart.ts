/** From the palette of Okabe and Ito, which colour-blind readers can tell apart. */
const COLORS = { vermillion: '#d55e00', blue: '#0072b2', green: '#009e73', purple: '#cc79a7', orange: '#e69f00' };

export interface Bar {
  readonly label: string;
  readonly color: keyof typeof COLORS;
  /** NaN if it was not measured. */
  readonly value: number;
  /** The lowest and the highest value: the ends of a whisker. */
  readonly range?: readonly [number, number];
  readonly text: string;
}

export interface BarChart {
  readonly title: string;
  readonly note: string;
  readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[];
  readonly columns?: number;
  /** Width of the labels on the left of the bars. */
  readonly labelWidth: number;
  /** Width of the longest text on the right of the bars. */
  readonly textWidth: number;
  /** The value at which each group has a dashed line. */
  readonly limit?: number;
}

const WIDTH = 560;
const MARGIN = 16;
const TOP = 66;
const GROUP_TITLE = 24;
const ROW = 21;
const BAR = 14;
const GAP = 12;
const CAP = 4;

const STYLE = `
svg { font: 14.5px system-ui, sans-serif; background: #fff; color: #1f2328 }
text { fill: currentColor }
.title { font-size: 18px; font-weight: 600 }
.group { font-weight: 600 }
.line { stroke: currentColor; stroke-width: 1.5; fill: none }
.limit { stroke: currentColor; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) { svg { background: #0d1117; color: #f0f6fc } }
`;

/** Returns an SVG of horizontal bars, for light and dark pages. Bars that were not measured say so. */
export function barChart({ title, note, groups, columns = 1, labelWidth, textWidth, limit = 0 }: BarChart): string {
  const columnWidth = (WIDTH - MARGIN) / columns;
  const most = Math.max(...groups.map(({ bars }) => bars.length));
  const height = GROUP_TITLE + most * ROW + GAP;
  const bars = groups.flatMap((group) => group.bars);
  const maximum = Math.max(limit, ...bars.flatMap(({ value, range = [value, value] }) => [value, range[1]]).filter(Number.isFinite));
  const scale = (columnWidth - labelWidth - textWidth - MARGIN) / maximum;
  const px = (value: number) => String(Math.round(value * 10) / 10);
  const text = (x: number, y: number, content: string, kind = '') => `<text x="${px(x)}" y="${px(y)}"${kind}>${escape(content)}</text>`;

  const barAt = (x: number, y: number, { label, color, value, range, text: shown }: Bar): string[] => {
    const middle = y - ROW / 4;
    const named = text(x - 6, y, label, ' text-anchor="end"');
    if (!Number.isFinite(value)) return [named, text(x + 6, y, 'not measured', ' font-style="italic"')];
    const rect = `<rect x="${px(x)}" y="${px(middle - BAR / 2)}" width="${px(value * scale)}" height="${BAR}" fill="${COLORS[color]}"/>`;
    const [low, high] = (range ?? [value, value]).map((end) => x + end * scale) as [number, number];
    const cap = `v-${CAP}v${2 * CAP}v-${CAP}`;
    const whisker = `<path class="line" d="M${px(low)} ${px(middle)}${cap}H${px(high)}${cap}"/>`;
    return [named, rect, ...(high > low ? [whisker] : []), text(Math.max(high, x + Math.max(value, limit) * scale) + 6, y, shown)];
  };

  const groupAt = (index: number): string[] => {
    const group = groups[index];
    if (!group) return [];
    const left = MARGIN + (index % columns) * columnWidth;
    const top = TOP + Math.floor(index / columns) * height;
    const x = left + labelWidth;
    const line = `<path class="limit" d="M${px(x + limit * scale)} ${top + GROUP_TITLE}v${group.bars.length * ROW}"/>`;
    return [
      text(left, top + 16, group.title, ' class="group"'),
      ...group.bars.flatMap((bar, row) => barAt(x, top + GROUP_TITLE + (row + 0.75) * ROW, bar)),
      ...(limit > 0 ? [line] : []),
    ];
  };

  const total = TOP + Math.ceil(groups.length / columns) * height;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${total}" viewBox="0 0 ${WIDTH} ${total}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}</style>`,
    text(MARGIN, 30, title, ' class="title"'),
    text(MARGIN, 52, note),
    ...groups.flatMap((_, index) => groupAt(index)),
    '</svg>',
  ].join('\n')}\n`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
