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
      description: 'HTTP method; the default is GET, or POST if there is a form.',
    },
    path: {
      type: 'string',
      pattern: '^/',
      'x-expected': 'a path that begins with /',
      description: 'Path of the request.',
    },
    params: params('Query parameters of the URL; a list repeats a parameter.'),
    form: params('Parameters sent as a form body.'),
    headers: texts('Headers of the request.'),
    body: { type: 'string', description: 'Body of the request.' },
    listener: {
      type: 'string',
      enum: ['main', 'admin'],
      description: 'Listener that receives the request; the default is main.',
    },
  },
  required: ['path'],
  additionalProperties: false,
  description: 'Request of a client.',
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
    args: texts('Arguments that the call must have; it may have others.'),
    times: {
      type: 'integer',
      minimum: 1,
      description: 'Number of times the answer is used; the default is unlimited.',
    },
    status: { type: 'integer', minimum: 100, maximum: 599, description: 'Status; the default is 200.' },
    headers: texts('Headers of the answer.'),
    rows: {
      type: 'array',
      items: { type: 'object', additionalProperties: text },
      description: 'Log rows: _time, _msg, _stream and other fields.',
    },
    values: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Names or values with their counts, for listings.',
    },
    json: { type: anything, description: 'JSON body.' },
    body: { type: 'string', description: 'Raw body.' },
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
      description: 'RFC 3339, or a duration before now such as -5m; the default is -1s.',
    },
    labels: texts('Labels of the stream.'),
    line: { type: 'string', description: 'The line.' },
    fields: texts('Structured metadata.'),
    accountId: { type: 'integer', minimum: 0, description: 'Account of the backend; the default is 0.' },
    projectId: { type: 'integer', minimum: 0, description: 'Project of the backend; the default is 0.' },
  },
  required: ['labels', 'line'],
  additionalProperties: false,
};

const call: ValueSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Path of the call.' },
    logsql: { type: 'string', description: 'LogsQL of the call (its argument query).' },
    args: texts('Other arguments; arguments that are not listed can have any value.'),
    headers: texts('Headers of the call; headers that are not listed can have any value.'),
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
      description: 'Headers of the answer; null means that the header must be absent.',
    },
    answer: { type: anything, description: 'The whole answer, as JSON.' },
    answerAt: {
      type: 'object',
      additionalProperties: { type: anything },
      description: 'Values in the answer by their path, such as data.result[0].stream.app',
    },
    body: { type: 'string', description: 'The whole answer, as text.' },
    bodyContains: { type: 'string', description: 'Text that the answer contains.' },
    stages: {
      type: 'array',
      items: { type: 'string' },
      description: 'Ids of all stages that the request passes, in order.',
    },
    calls: { type: 'array', items: call, description: 'All calls to the backend, in any order.' },
    someCalls: {
      type: 'array',
      items: call,
      description: 'Some of the calls to the backend; there may be others.',
    },
    log: {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: anything } },
      description: 'Some of the log records, with the fields to check; there may be others.',
    },
  },
  additionalProperties: false,
  description: 'Expected result.',
};

const run: Readonly<Record<string, ValueSchema>> = {
  flags: texts('Flags by name, without dashes.'),
  env: texts('Environment variables; the variables of this machine are ignored.'),
  now: {
    type: 'string',
    pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$`,
    'x-expected': 'a time such as 2026-11-01T12:00:00Z',
    description: 'Current time, which stands still; the default is 2026-11-01T12:00:00Z.',
  },
  tenant: { type: 'string', description: 'X-Scope-OrgID of the requests.' },
  backend: {
    type: 'array',
    items: answer,
    description: 'Answers of the backend; the first that matches a call is used.',
  },
  lines: {
    type: 'array',
    items: line,
    description: 'Lines stored in an embedded backend, which answers the calls that `backend` does not.',
  },
};

const step: ValueSchema = {
  type: 'object',
  properties: {
    after: {
      type: 'string',
      format: 'duration',
      description: 'Time to wait before the request, on the clock of the test.',
    },
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
      description: 'Title of the test: the expected behaviour in one sentence. It is unique in the file.',
    },
    ...run,
    request,
    expect: expected,
    steps: {
      type: 'array',
      items: step,
      description: 'Several requests to the same proxy, one after the other.',
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
      description: 'The pipeline file, relative to the directory of this file.',
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
