export type TemplateTokenKind =
  | 'error'
  | 'eof'
  | 'text'
  | 'left'
  | 'right'
  | 'space'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'open'
  | 'close'
  | 'char'
  | 'string'
  | 'constant'
  | 'number'
  | 'complex'
  | 'bool'
  | 'identifier'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'keyword';

export interface TemplateToken {
  readonly kind: TemplateTokenKind;
  readonly text: string;
  readonly offset: number;
  readonly line: number;
}
