import type { PipelineDraft } from '../../pipeline/draft.js';
import type { ShapeProblem } from '../../pipeline/shape.js';
import type { YamlProblemKind } from '../../pipeline/located.js';
import { meantBeside } from '../meant-option.js';
import { textRules, type Complaint } from '../rule.js';

export const yamlRules = textRules('structure', [
  {
    id: 'R001',
    title: 'the file is YAML',
    docs: 'The file cannot be read, is not UTF-8, or is not YAML 1.2. Nothing else is checked until this is fixed. Indent with spaces; quote a value that contains `: `, ` #` or brackets.',
    check: (draft) => yamlComplaints(draft, 'syntax'),
  },
  {
    id: 'R002',
    title: 'the file is one document',
    docs: 'A pipeline file has exactly one YAML document. An empty file has none, and a line `---` between values begins a second one.',
    check: (draft) => yamlComplaints(draft, 'documents'),
  },
  {
    id: 'R003',
    title: 'a key is unique',
    docs: 'A duplicate key in a mapping would silently lose one of its values. The finding points at the second key and names the line of the first.',
    check: (draft) => yamlComplaints(draft, 'duplicate-key'),
  },
  {
    id: 'R004',
    title: 'no tags, merge keys or endless aliases',
    docs: 'Not supported are custom tags (`!name`), merge keys (`<<`), keys that are not plain text, aliases without an anchor or that contain themselves, and files that exceed 20000 values through aliases. An alias for a whole value (`*name`) is fine.',
    check: (draft) => yamlComplaints(draft, 'feature'),
  },
  {
    id: 'R005',
    title: 'an environment reference is a whole value and resolves',
    docs: '`${NAME}` and `${NAME:-default}` replace a whole value, never a part of one, and a reference without a default requires the variable to be set. `$${` is a literal `${`.',
    check: (draft) => yamlComplaints(draft, 'reference'),
  },
  {
    id: 'R006',
    title: 'the structure of the file matches its schema',
    docs: 'The top level has `version` (1), the sections `server`, `names`, `limits`, `telemetry` and the lists `stages`, `endpoints`, `services`; an entry of a list has `use`, `id`, `enabled` and `with`. See schemas/pipeline.schema.json.',
    check: (draft) =>
      draft.shape
        // A fragment in Markdown shows part of a pipeline, so omitted parts are not missing.
        .filter(({ kind, path }) => !(draft.source.isFragment && kind === 'missing' && path?.length === 0))
        .map((problem) => {
          const { at, message, fix } = problem;
          return { at, message, fix: problem.kind === 'unknown' ? (meantPlace(draft, problem) ?? fix) : fix };
        }),
  },
  {
    id: 'R010',
    title: 'an included file is readable',
    docs: '`- include: ./file.yaml` inserts the entries of a file that is a list, and `- include: ./file.yaml#name` inserts a list under `fragments` of a file. `include` is the only key of its item. A file cannot include itself; includes are at most 8 levels deep, with at most 64 files in one pipeline.',
    check: (draft) => yamlComplaints(draft, 'include'),
  },
]);

/** Advice on where an option belongs: in a section, or under `with`. */
function meantPlace(draft: PipelineDraft, { path = [], at, meant }: ShapeProblem): string | undefined {
  const key = path.at(-1);
  if (meant !== undefined && meant === String(key).toLowerCase()) return undefined;
  if (typeof key !== 'string' || (path.length !== 1 && path.length !== 3)) return undefined;
  const entry = draft.entries.findLast((each) => path.length === 3 && each.at.line <= at.line);
  return meantBeside(draft, entry?.options, key);
}

/** The findings of YAML parsing that one rule reports. */
function yamlComplaints(draft: PipelineDraft, kind: YamlProblemKind): readonly Complaint[] {
  return draft.yaml
    .filter((problem) => problem.kind === kind)
    .map(({ at, message, fix }) => ({ at, message, fix }));
}
