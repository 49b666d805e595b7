import { Component, h, type Attributes, type ComponentChildren, type ComponentType } from 'preact';

/**
 * A component that is only rendered again if one of its properties has changed; `isEqual` can say of a property that its new value means the
 * same as before.
 */
export function memo<Properties extends object>(
  part: ComponentType<Properties>,
  isEqual: (name: string, before: unknown, after: unknown) => boolean = () => false,
): ComponentType<Properties> {
  return class Memo extends Component<Properties> {
    override shouldComponentUpdate(next: Readonly<Properties>): boolean {
      const [before, after] = [new Map(Object.entries(this.props)), new Map(Object.entries(next))];
      return (
        before.size !== after.size ||
        [...after].some(([name, value]) => {
          const old: unknown = before.get(name);
          return !Object.is(value, old) && !isEqual(name, old, value);
        })
      );
    }

    override render(): ComponentChildren {
      return h(part, this.props as Attributes & Properties);
    }
  };
}
