import { habitOf, titleOf, type GraphPart, type PipelineGraph, type StagePart } from './facts.js';

const lineHeight = 18;
const gap = 22;
const left = 24;
const characterWidth = 7.4;
const arcStep = 26;

interface Box {
  readonly top: number;
  readonly height: number;
  readonly lines: readonly string[];
}

/** A graph as a standalone SVG image: stages from top to bottom, slots as arcs on the right; readable on light and dark pages. */
export function graphSvg({ file, stages, endpoints, services }: PipelineGraph): string {
  const boxes: Box[] = [];
  let top = 56;
  const add = (lines: readonly string[]): Box => {
    const box = { top, height: lines.length * lineHeight + 14, lines };
    boxes.push(box);
    top += box.height + gap;
    return box;
  };
  add(['requests', ...endpoints.map(titleOf)]);
  const chain = stages.map((stage) => ({ stage, box: add(stageLines(stage)) }));
  const longest = Math.max(...boxes.flatMap(({ lines }) => lines.map((line) => line.length)), 24);
  const width = Math.ceil(longest * characterWidth) + 24;
  const arcs = arcsOf(chain, left + width);
  services.forEach((service) => add(partLines(service, 'service')));
  const between = chain.map(({ box }) => arrow(left + width / 2, box.top - gap, box.top));
  const body = [
    `<text x="${left}" y="34" class="file">${escaped(file)}</text>`,
    ...boxes.map((box) => drawn(box, width)),
    ...between,
    ...arcs.drawn,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + arcs.width + 24}" height="${top}" role="img" aria-label="pipeline ${escaped(file)}">
<style>
  svg { background: #fff; color: #1c2733; }
  text { font: 12px ui-monospace, monospace; fill: currentColor; }
  .file, .title { font-weight: 600; }
  .option { opacity: 0.75; }
  rect { fill: #f3f6f9; stroke: #7c8ba1; }
  path { fill: none; stroke: #7c8ba1; }
  .slot { stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) { svg { background: #161b22; color: #e4e9ef; } rect { fill: #222b36; } }
</style>
${body.join('\n')}
</svg>
`;
}

function stageLines(stage: StagePart): readonly string[] {
  return partLines(stage, habitOf(stage), `${stage.number}. `);
}

function partLines(part: GraphPart, habit: string, before = ''): readonly string[] {
  return [
    `${before}${titleOf(part)}${habit === '' ? '' : ` · ${habit}`}`,
    ...part.changed.map(({ key, value }) => shortened(`${key}: ${value}`)),
  ];
}

const longestLine = 72;

function shortened(text: string): string {
  return text.length <= longestLine ? text : `${text.slice(0, longestLine - 1)}…`;
}

function drawn({ top, height, lines }: Box, width: number): string {
  const texts = lines.map((line, index) => {
    const y = top + 20 + index * lineHeight;
    return `<text x="${left + 12}" y="${y}" class="${index === 0 ? 'title' : 'option'}">${escaped(line)}</text>`;
  });
  return `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="5"/>\n${texts.join('\n')}`;
}

function arrow(x: number, from: number, to: number): string {
  return `<path d="M${x} ${from}V${to}m-4 -6l4 6l4 -6"/>`;
}

/** One arc for each slot that a stage provides, from it to the last stage that needs it, each in a separate lane. */
function arcsOf(
  chain: readonly { readonly stage: StagePart; readonly box: Box }[],
  right: number,
): { readonly drawn: readonly string[]; readonly width: number } {
  const lines: string[] = [];
  let lane = 0;
  for (const { stage, box } of chain) {
    for (const slot of stage.gives) {
      const takers = chain.filter((other) =>
        other.stage.needs.some((need) => need.slot === slot && need.from === stage.number),
      );
      const last = takers.at(-1);
      if (last === undefined) continue;
      lane += 1;
      const x = right + lane * arcStep;
      const start = box.top + box.height / 2;
      const end = last.box.top + last.box.height / 2;
      lines.push(`<path class="slot" d="M${right} ${start}H${x}V${end}H${right}"/>`);
      for (const taker of takers) {
        const y = taker.box.top + taker.box.height / 2;
        lines.push(`<path d="M${x} ${y}H${right}m6 -4l-6 4l6 4"/>`);
      }
      lines.push(`<text x="${x + 4}" y="${start - 4}">${escaped(slot)}</text>`);
    }
  }
  return { drawn: lines, width: (lane + 3) * arcStep };
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, '\ufffd');
}
