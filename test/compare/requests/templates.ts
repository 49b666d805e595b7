import { aLabel, type Context } from './context.js';

/** `N` and `M` are placeholders for labels; piped values are text unless a conversion comes first. */
const actions = [
  '.N',
  '.N | upper',
  '.N | lower',
  'ToUpper .N',
  'ToLower .N',
  '.N | title',
  '.N | trim',
  'trimAll "\\"[]" .N',
  'trimPrefix "a" .N',
  'trimSuffix "s" .N',
  'Trim .N "."',
  'TrimLeft .N "[1"',
  'TrimRight .N "m0"',
  'TrimSpace .N',
  'Replace .N "e" "E" 2',
  'replace "o" "0" .N',
  'trunc 4 .N',
  'trunc -3 .N',
  'substr 1 3 .N',
  'alignLeft 8 .N',
  'alignRight 8 .N',
  'regexReplaceAll "(\\\\w)o" .N "${1}0"',
  'regexReplaceAllLiteral "[0-9]+" .N "$1"',
  'indent 2 .N',
  'nindent 2 .N',
  'repeat 2 .N',
  'contains "e" .N',
  'hasPrefix "p" .N',
  'hasSuffix "d" .N',
  'len .N',
  'eq .N .M',
  'ne .N "x"',
  'default "none" .N',
  'printf "%s-%5s|%-4s" .N .M "z"',
  'printf "%q" .N',
  'printf "%v %d" .N 3',
  'print .N 1 2 "x" .M',
  'urlencode .N',
  'urldecode .N',
  'b64enc .N',
  'b64dec .N',
  'html .N',
  'js .N',
  'urlquery .N',
  'count "e" .N',
  'count "[0-9]+" __line__',
  '__line__ | trunc 20',
  '__line__ | lower | trunc 12',
  '__timestamp__ | date "2006-01-02T15:04:05.000Z07:00"',
  '__timestamp__ | unixEpoch',
  'unixEpochNanos __timestamp__',
  'date "15:04" __timestamp__',
  'int .N',
  'float64 .N',
  'add 1 (int .N)',
  'sub (int .N) 3 1',
  'mul (int .N) 2',
  'div (int .N) 3',
  'mod (int .N) 7',
  'addf 1.5 .N',
  'mulf (float64 .N) 1.5',
  'divf (float64 .N) 3',
  'subf (float64 .N) 0.1',
  'max (int .N) 5',
  'minf (float64 .N) 2.5',
  'round (float64 .N) 1',
  'ceil .N',
  'floor (float64 .N)',
  'bytes .N',
  'duration .N',
  'duration_seconds .N',
  'unixToTime .N',
  'fromJson __line__',
  'index (fromJson __line__) "msg"',
  'not .N',
  'and .N .M',
  'or .N .M',
  'if .N',
  'if eq .N "info"',
  'if and .N (gt (len .N) 3)',
  'with .N',
  'range $i, $c := fromJson "[1,\\"a\\"]"',
  '$v := .N',
] as const;

/** A template: a sequence of texts and actions. */
export function template(context: Context): string {
  const { random } = context;
  const parts = random.several(
    3,
    () => (random.chance(0.3) ? random.pick([' ', 'x=', 'é ', '<', '%', ': ']) : action(context)),
    1,
  );
  return parts.join(random.pick(['', ' ']));
}

function action(context: Context): string {
  const { random } = context;
  const chosen = random.chance(0.3) ? '.N' : random.pick(actions);
  const text = chosen.replaceAll(/\.N\b/g, () => field(context)).replaceAll(/\.M\b/g, () => field(context));
  const trim = random.chance(0.05);
  const [open, close] = trim
    ? ['{{- ', ' -}}']
    : random.pick([
        ['{{', '}}'],
        ['{{ ', ' }}'],
      ]);
  if (text.startsWith('if ')) return `${open}${text}${close}Y{{else}}N{{end}}`;
  if (text.startsWith('with ')) return `${open}${text}${close}[{{.}}]{{end}}`;
  if (text.startsWith('range ')) return `${open}${text}${close}{{$i}}:{{$c}};{{end}}`;
  if (text.startsWith('$v ')) return `${open}${text}${close}{{$v}}{{$v}}`;
  return `${open}${text}${close}`;
}

function field(context: Context): string {
  return `.${aLabel(context)}`;
}
