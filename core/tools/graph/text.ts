import {
  habitOf,
  titleOf,
  type ChangedOption,
  type GraphPart,
  type PipelineGraph,
  type StagePart,
} from './facts.js';

/** A graph for a terminal: the chain from top to bottom, with the options that differ from their defaults. */
export function graphText({ file, stages, endpoints, services, sections }: PipelineGraph): string {
  const width = Math.max(0, ...stages.map((stage) => titleOf(stage).length));
  const chain = stages.flatMap((stage) => [
    `${String(stage.number).padStart(4)}  ${titleOf(stage).padEnd(width)}  ${words(stage)}`.trimEnd(),
    ...optionLines(stage.changed, '   │    '),
  ]);
  return [
    file,
    '',
    `  requests: ${endpoints.map(titleOf).join(', ')}`,
    '   │',
    ...chain,
    ...group(
      'endpoints',
      endpoints.filter(({ changed }) => changed.length > 0),
    ),
    ...group('services', services),
    ...group('sections', sections),
    '',
  ].join('\n');
}

function words(stage: StagePart): string {
  const needs = stage.needs.map(({ slot, from }) => (from === undefined ? slot : `${slot} (${from})`));
  return [
    ...(needs.length === 0 ? [] : [`needs ${needs.join(', ')}`]),
    ...(stage.gives.length === 0 ? [] : [`gives ${stage.gives.join(', ')}`]),
    habitOf(stage),
  ]
    .filter((word) => word !== '')
    .join('; ');
}

function group(name: string, parts: readonly GraphPart[]): readonly string[] {
  if (parts.length === 0) return [];
  return [
    '',
    `${name}:`,
    ...parts.flatMap((part) => [`  ${titleOf(part)}`, ...optionLines(part.changed, '    ')]),
  ];
}

function optionLines(changed: readonly ChangedOption[], indent: string): readonly string[] {
  return changed.map(({ key, value }) => `${indent}${key}: ${value}`);
}
