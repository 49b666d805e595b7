import { habitOf, titleOf, type GraphPart, type PipelineGraph } from './facts.js';

/** A graph in Mermaid, which GitHub and many wikis render: the path of a request as lines, slots as dotted arrows. */
export function graphMermaid({ stages, endpoints, services }: PipelineGraph): string {
  const lines = ['flowchart TD', `  requests(["${escaped(endpoints.map(titleOf).join(', '))}"])`];
  for (const stage of stages) lines.push(`  s${stage.number}["${label(stage, habitOf(stage))}"]`);
  services.forEach((service, index) => lines.push(`  v${index + 1}[/"${label(service, 'service')}"/]`));
  const way = ['requests', ...stages.map(({ number }) => `s${number}`)];
  way.slice(1).forEach((to, index) => lines.push(`  ${way[index] ?? ''} --> ${to}`));
  for (const { number, needs } of stages)
    for (const { slot, from } of needs)
      if (from !== undefined) lines.push(`  s${from} -. "${escaped(slot)}" .-> s${number}`);
  return `${lines.join('\n')}\n`;
}

function label(part: GraphPart, habit: string): string {
  const options = part.changed.map(({ key, value }) => `${key}: ${value}`);
  return [titleOf(part), ...(habit === '' ? [] : [`<i>${habit}</i>`]), ...options.map(escaped)]
    .map((line, index) => (index === 0 ? `<b>${escaped(line)}</b>` : line))
    .join('<br>');
}

/** Escapes a label: Mermaid interprets entities, and ends a label at a quote. */
function escaped(text: string): string {
  return text
    .replaceAll('#', '#35;')
    .replaceAll('&', '#amp;')
    .replaceAll('"', '#quot;')
    .replaceAll('<', '#lt;')
    .replaceAll('>', '#gt;')
    .replaceAll(/\s+/g, ' ');
}
