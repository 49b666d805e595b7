import type { ValueSchema } from '../../kernel/options/index.js';

/** A text, or a number or boolean in place of its text. */
const text: ValueSchema = { type: ['string', 'number', 'boolean'] };

function texts(description: string): ValueSchema {
  return { type: 'object', additionalProperties: text, description };
}

function params(description: string): ValueSchema {
  const value: ValueSchema = { type: ['string', 'number', 'boolean', 'array'], items: text };
  return { type: 'object', additionalProperties: value, description };
}

const anything = ['object', 'array', 'string', 'number', 'boolean', 'null'];

const request: ValueSchema = {
  type: 'object',
  properties: {
    method: {
      type: 'string',
      pattern: '^[A-Z]+$',
      'x-expected': 'a method in capitals',
      description: 'GET unless given; POST where there is a form.',
    },
    path: {
      type: 'string',
      pattern: '^/',
      'x-expected': 'a path that begins with /',
      description: 'Path of the request.',
    },
    params: params('Parameters of the URL; a list gives one several times.'),
    form: params('Parameters sent as a form body.'),
    headers: texts('Headers of the request.'),
    body: { type: 'string', description: 'Body of the request.' },
    listener: {
      type: 'string',
      enum: ['main', 'admin'],
      description: 'Which listener is asked; main unless given.',
    },
  },
  required: ['path'],
  additionalProperties: false,
  description: 'What a client sends.',
};

const answer: ValueSchema = {
  type: 'object',
  properties: {
    path: {
      type: 'string',
      pattern: '^/',
      'x-expected': 'a path that begins with /',
      description: 'Path below the URL of the backend: /select/logsql/query.',
    },
    args: texts('Arguments that the call must have; others may be there too.'),
    times: { type: 'integer', minimum: 1, description: 'How often it is given; any number unless given.' },
    status: { type: 'integer', minimum: 100, maximum: 599, description: 'Status; 200 unless given.' },
    headers: texts('Headers of the answer.'),
    rows: {
      type: 'array',
      items: { type: 'object', additionalProperties: text },
      description: 'Rows of logs: _time, _msg, _stream and other fields.',
    },
    values: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Names or values with their counts, for listings.',
    },
    json: { type: anything, description: 'A body of JSON.' },
    body: { type: 'string', description: 'A body as it is.' },
  },
  required: ['path'],
  additionalProperties: false,
};

const line: ValueSchema = {
  type: 'object',
  properties: {
    time: {
      type: 'string',
      pattern: String.raw`^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|-[\d.]+(?:ms|s|m|h))$`,
      'x-expected': 'a time such as 2026-11-01T12:00:00Z, or a duration before now such as -5m',
      description: 'RFC 3339, or a duration before now such as -5m; -1s unless given.',
    },
    labels: texts('Labels of the stream.'),
    line: { type: 'string', description: 'The line.' },
    fields: texts('Structured metadata.'),
    accountId: { type: 'integer', minimum: 0, description: 'Account of the backend; 0 unless given.' },
    projectId: { type: 'integer', minimum: 0, description: 'Project of the backend; 0 unless given.' },
  },
  required: ['labels', 'line'],
  additionalProperties: false,
};

const call: ValueSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Path of the call.' },
    logsql: { type: 'string', description: 'The LogsQL that is sent, the argument query.' },
    args: texts('Other arguments; those that are not named may be anything.'),
    headers: texts('Headers of the call; those that are not named may be anything.'),
  },
  additionalProperties: false,
};

const expected: ValueSchema = {
  type: 'object',
  properties: {
    status: { type: 'integer', description: 'Status of the answer.' },
    headers: {
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'null'] },
      description: 'Headers of the answer; null for one that must not be there.',
    },
    answer: { type: anything, description: 'The whole answer, as JSON.' },
    answerAt: {
      type: 'object',
      additionalProperties: { type: anything },
      description: 'Parts of the answer by their path: data.result[0].stream.app',
    },
    body: { type: 'string', description: 'The whole answer, as text.' },
    bodyContains: { type: 'string', description: 'A text that the answer holds.' },
    stages: {
      type: 'array',
      items: { type: 'string' },
      description: 'Ids of the stages that the request passes, all of them in order.',
    },
    calls: { type: 'array', items: call, description: 'Every call that the backend gets, in any order.' },
    someCalls: { type: 'array', items: call, description: 'Calls that the backend gets, among others.' },
    log: {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: anything } },
      description: 'Records that are logged, with the fields that matter, among others.',
    },
  },
  additionalProperties: false,
  description: 'What must come of it.',
};

const run: Readonly<Record<string, ValueSchema>> = {
  flags: texts('Flags by name, without dashes.'),
  env: texts('Environment variables; those of this machine do not count.'),
  now: {
    type: 'string',
    pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$`,
    'x-expected': 'a time such as 2026-11-01T12:00:00Z',
    description: 'The time, which stands still; 2026-11-01T12:00:00Z unless given.',
  },
  tenant: { type: 'string', description: 'X-Scope-OrgID of the requests.' },
  backend: {
    type: 'array',
    items: answer,
    description: 'What the backend answers; the first that fits a call.',
  },
  lines: {
    type: 'array',
    items: line,
    description: 'What an embedded backend holds. It answers where `backend` does not.',
  },
};

const step: ValueSchema = {
  type: 'object',
  properties: {
    after: { type: 'string', format: 'duration', description: 'Time that passes before the request.' },
    request,
    expect: expected,
  },
  required: ['request', 'expect'],
  additionalProperties: false,
};

const oneTest: ValueSchema = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'What is expected, in a sentence. Stands once in a file.',
    },
    ...run,
    request,
    expect: expected,
    steps: {
      type: 'array',
      items: step,
      description: 'Several requests, one after the other, to the same proxy.',
    },
  },
  required: ['name'],
  additionalProperties: false,
};

/** The schema of a file with tests of a pipeline. */
export const testFileSchema: ValueSchema = {
  type: 'object',
  properties: {
    pipeline: {
      type: 'string',
      minLength: 1,
      description: 'The pipeline file, from the folder of this one.',
    },
    ...run,
    tests: { type: 'array', items: oneTest, description: 'The tests.' },
  },
  required: ['pipeline', 'tests'],
  additionalProperties: false,
};

/** The schema of test files for editors. */
export function generateTestSchema(): string {
  const { properties, ...frame } = testFileSchema;
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Pipeline tests',
    description: 'Tests of a pipeline file, run by ref-proxy test. docs/pipeline-tests.md explains them.',
    ...frame,
    properties: { ...properties },
  };
  // Formats of durations and extensions are this project's own.
  const text = JSON.stringify(
    schema,
    (key, value: unknown) => (key === 'format' || key === 'x-expected' ? undefined : value),
    2,
  );
  return `${text}\n`;
}
